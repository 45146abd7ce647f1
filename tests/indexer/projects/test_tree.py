"""Which files of a tree belong to its project."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from framedex.projects import find_tree
from tests.indexer.projects.trees import make_tree


def test_sources_and_headers_of_the_tree_are_found_in_one_order(tmp_path: Path) -> None:
    root = make_tree(tmp_path, {"b/z.cc": "", "b.h": "", "a.cu.cc": "", "a.py": "", "c.proto": "", "b/A.hpp": ""})

    assert find_tree(root, root, [], False).files == ("a.cu.cc", "b.h", "b/A.hpp", "b/z.cc")


@pytest.mark.parametrize(
    "test", ["x/foo_test.cc", "foo_test.cu.cc", "foo_unittest.cpp", "foo_tests.h", "tests/foo.cc", "x/test/y/foo.h"]
)
def test_tests_are_left_out_unless_they_are_wanted(tmp_path: Path, test: str) -> None:
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
def test_a_pattern_leaves_out_files_and_whole_folders(tmp_path: Path, pattern: str, left: tuple[str, ...]) -> None:
    root = make_tree(tmp_path, {"gpu/x.cc": "", "a/gpu/x.cc": "", "gpu.h": ""})

    tree = find_tree(root, root, [pattern], False)

    assert tree.files == left
    assert tree.excluded == 3 - len(left)


def test_what_lies_in_the_output_folder_is_no_part_of_the_tree(tmp_path: Path) -> None:
    """Given an output folder inside the tree where CMake has compiled its probes, then they are not found."""
    root = make_tree(tmp_path, {"a.cc": "", "ide[1]/debug/probe.cc": "", "ide1/b.cc": ""})

    assert find_tree(root, root / "ide[1]", [], False).files == ("a.cc", "ide1/b.cc")
    assert find_tree(root, root.parent, [], False).files == ("a.cc", "ide1/b.cc", "ide[1]/debug/probe.cc")


def test_links_are_followed_once_and_may_leave_the_tree(tmp_path: Path) -> None:
    make_tree(tmp_path, {"tree/a/x.cc": "", "other/y.cc": ""})
    (tmp_path / "tree/a/loop").symlink_to("..")
    (tmp_path / "tree/same.cc").symlink_to("a/x.cc")
    (tmp_path / "tree/out").symlink_to(tmp_path / "other")
    (tmp_path / "tree/dangling.cc").symlink_to("nowhere.cc")

    assert find_tree(tmp_path / "tree", tmp_path, [], False).files == ("../other/y.cc", "a/x.cc")


def test_a_name_that_is_no_utf8_is_counted_only(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9.cc")).touch()

    tree = find_tree(tmp_path, tmp_path, [], False)

    assert (tree.files, tree.unnamed) == ((), 1)
