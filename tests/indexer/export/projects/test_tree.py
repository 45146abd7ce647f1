"""The files of a tree that belong to its project."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from framedex.export.projects import find_tree
from tests.indexer.export.projects.trees import make_tree


def test_sources_and_headers_are_found_in_a_stable_order(tmp_path: Path) -> None:
    root = make_tree(tmp_path, {"b/z.cc": "", "b.h": "", "a.cu.cc": "", "a.py": "", "c.proto": "", "b/A.hpp": ""})

    assert find_tree(root, root, [], False).files == ("a.cu.cc", "b.h", "b/A.hpp", "b/z.cc")


@pytest.mark.parametrize(
    "test", ["x/foo_test.cc", "foo_test.cu.cc", "foo_unittest.cpp", "foo_tests.h", "tests/foo.cc", "x/test/y/foo.h"]
)
def test_tests_are_omitted_by_default(tmp_path: Path, test: str) -> None:
    root = make_tree(tmp_path, {test: "", "x/testlib/test_util.cc": "", "x/latest.cc": ""})

    without, with_tests = find_tree(root, root, [], False), find_tree(root, root, [], True)

    assert (without.files, without.tests) == (("x/latest.cc", "x/testlib/test_util.cc"), 1)
    assert test in with_tests.files and with_tests.tests == 0


@pytest.mark.parametrize(
    ("pattern", "left"),
    [
        ("gpu", ("a/gpu/x.cc", "gpu.h")),
        ("*/gpu/", ("gpu.h", "gpu/x.cc")),
        ("*.cc", ("gpu.h",)),
        ("gpu.?", ("a/gpu/x.cc", "gpu/x.cc")),
    ],
)
def test_a_pattern_excludes_files_and_folders(tmp_path: Path, pattern: str, left: tuple[str, ...]) -> None:
    root = make_tree(tmp_path, {"gpu/x.cc": "", "a/gpu/x.cc": "", "gpu.h": ""})

    tree = find_tree(root, root, [pattern], False)

    assert tree.files == left
    assert tree.excluded == 3 - len(left)


def test_the_output_folder_is_not_part_of_the_tree(tmp_path: Path) -> None:
    """In an output folder inside the tree, CMake's compiled probes are not found."""
    root = make_tree(tmp_path, {"a.cc": "", "ide[1]/debug/probe.cc": "", "ide1/b.cc": ""})

    inside = find_tree(root, root / "ide[1]", [], False)

    assert (inside.files, inside.in_output, inside.excluded) == (("a.cc", "ide1/b.cc"), 1, 0)
    assert find_tree(root, root.parent, [], False).files == ("a.cc", "ide1/b.cc", "ide[1]/debug/probe.cc")


def test_links_inside_the_tree_list_a_file_once(tmp_path: Path) -> None:
    root = make_tree(tmp_path, {"a/x.cc": "", "a/x_test.cc": ""})
    (root / "a/loop").symlink_to("..")
    (root / "A").symlink_to("a")
    (root / "Same.cc").symlink_to("a/x.cc")
    (root / "Same_test.cc").symlink_to("a/x_test.cc")
    (root / "dangling.cc").symlink_to("nowhere.cc")
    (root / "itself.cc").symlink_to("itself.cc")

    tree = find_tree(root, root, [], False)

    assert (tree.files, tree.tests, tree.external_links) == (("a/x.cc",), 1, ())


def test_links_out_of_the_tree_are_omitted_and_listed(tmp_path: Path) -> None:
    """Links to the whole machine, a parent, and folders and files elsewhere are not followed."""
    make_tree(tmp_path, {"tree/a/x.cc": "", "tree-too/y.cc": "", "tree-too/y.py": ""})
    root = tmp_path / "tree"
    for link, target in (
        *(("machine", "/"), ("processes", "/proc"), ("a/parent", tmp_path), ("too", "../tree-too")),
        *(("y.cc", "../tree-too/y.cc"), ("y.py", "../tree-too/y.py"), ("bazel-tree", "../tree-too"), (".h", "/")),
        *(("unwanted", "/"), ("ide/generated", "/"), ("through", "too/../tree-too")),
    ):
        (root / link).parent.mkdir(exist_ok=True)
        (root / link).symlink_to(target)

    tree = find_tree(root, root / "ide", ["unwanted"], False)

    assert tree.files == ("a/x.cc",)
    assert tree.external_links == ("a/parent", "machine", "processes", "through", "too", "y.cc")


def test_a_name_that_is_not_utf8_is_only_counted(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9.cc")).touch()

    tree = find_tree(tmp_path, tmp_path, [], False)

    assert (tree.files, tree.unnamed) == ((), 1)
