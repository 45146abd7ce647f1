"""Include roots, inferred from include lines."""

from __future__ import annotations

from pathlib import Path

from framedex.export.projects import IncludeRoots, find_include_roots, find_tree
from tests.indexer.export.projects.trees import make_tree


def roots_of(root: Path, *given: Path) -> IncludeRoots:
    return find_include_roots(find_tree(root, root, [], False), given)


def test_a_folder_that_contains_included_headers_is_a_root(tmp_path: Path) -> None:
    """Of nested projects that include by their own paths, both have their root."""
    root = make_tree(
        tmp_path,
        {
            "xla/shape.cc": '#include "xla/shape.h"\n#include <vector>\n#  include "mhlo/IR/ops.h"\n',
            "xla/shape.h": "",
            "xla/mlir_hlo/mhlo/IR/ops.h": "",
        },
    )

    assert roots_of(root) == IncludeRoots(("", "xla/mlir_hlo"), (), 2, {})


def test_headers_beside_the_including_file_need_no_root(tmp_path: Path) -> None:
    root = make_tree(tmp_path, {"a/x.cc": '#include "x.h"\n#include "in/y.h"\n', "a/x.h": "", "a/in/y.h": ""})

    assert roots_of(root).own == ("",)


def test_the_root_for_the_most_lines_comes_first_and_makes_others_unnecessary(tmp_path: Path) -> None:
    """Of two folders with tsl/a.h, one of them also with tsl/b.h, that one is the only root."""
    root = make_tree(
        tmp_path,
        {
            "x/1.cc": '#include "tsl/a.h"\n#include "tsl/b.h"\n',
            "x/2.cc": '#include "tsl/a.h"\n',
            "third_party/tsl/tsl/a.h": "",
            "third_party/tsl/tsl/b.h": "",
            "x/y/tsl/a.h": "",
        },
    )

    assert roots_of(root).own == ("", "third_party/tsl")


def test_a_bare_name_defines_a_root_only_if_unique(tmp_path: Path) -> None:
    root = make_tree(
        tmp_path,
        {"x/1.cc": '#include "one.h"\n#include "two.h"\n', "a/one.h": "", "b/two.h": "", "c/two.h": ""},
    )

    assert roots_of(root) == IncludeRoots(("", "a"), (), 2, {"two.h": 1})


def test_no_root_shadows_the_standard_library(tmp_path: Path) -> None:
    root = make_tree(
        tmp_path,
        {"x/1.cc": '#include <string.h>\n#include <sys/stat.h>\n#include "port.h"\n', "a/string.h": "", "a/port.h": ""}
        | {"b/sys/stat.h": ""},
    )

    assert roots_of(root).own == ("",)


def test_unresolved_includes_are_counted_by_their_first_folder(tmp_path: Path) -> None:
    root = make_tree(
        tmp_path,
        {"1.cc": '#include "absl/a.h"\n#include "llvm/a.h"\n', "2.cc": '#include "absl/b.h"\n#include <memory>\n'},
    )

    assert list(roots_of(root).missing.items()) == [("absl", 2), ("llvm", 1)]


def test_given_folders_and_bazel_repositories_are_roots(tmp_path: Path) -> None:
    root = make_tree(tmp_path / "tree", {"1.cc": '#include "absl/a.h"\n#include "mlir/b.h"\n#include "re2/c.h"\n'})
    given = make_tree(
        tmp_path / "include",
        {
            "absl/a.h": "",
            "external/llvm/mlir/include/mlir/b.h": "",
            "external/re2/re2/c.h": "",
            "external/zlib/z.h": "",
        },
    )

    roots = roots_of(root, given)

    assert roots.foreign == tuple(map(str, (given, given / "external/re2", given / "external/llvm/mlir/include")))
    assert roots.missing == {}


def test_bazel_outputs_and_external_repositories_are_found(tmp_path: Path) -> None:
    """Headers are found through the links that a Bazel build leaves in a tree."""
    root = make_tree(
        tmp_path / "xla", {"xla/1.cc": '#include "xla/data.pb.h"\n#include "absl/a.h"\n#include "mlir/ops.h.inc"\n'}
    )
    made = make_tree(
        tmp_path / "output",
        {
            "bin/xla/data.pb.h": "",
            "bin/external/llvm-project/mlir/include/mlir/ops.h.inc": "",
            "execroot/external/abseil/absl/a.h": "",
            "execroot/xla/1.cc": "",
        },
    )
    (root / "bazel-bin").symlink_to(made / "bin")
    (root / "bazel-xla").symlink_to(made / "execroot")

    roots = roots_of(root)

    assert set(roots.foreign) == {
        str(made / path) for path in ("bin", "bin/external/llvm-project/mlir/include", "execroot/external/abseil")
    }
    assert (roots.own, roots.missing) == (("",), {})


def test_odd_lines_and_unreadable_files_are_skipped(tmp_path: Path) -> None:
    root = make_tree(
        tmp_path,
        {"1.cc": f'#include MACRO\n#include "unclosed\n#include "a\x00b.h"\n#include "{"x" * 5000}/y.h"\n'},
    )
    (root / "2.cc").write_bytes(b'#include "caf\xe9/x.h"\n')

    assert roots_of(root).includes == 3


def test_of_very_many_roots_the_most_useful_are_kept(tmp_path: Path) -> None:
    """Of 200 folders, the last ten of which are included from twice, a hundred are roots, those ten first."""
    numbers = range(200)
    lines = [f'#include "h{number}.h"\n' * (2 if number >= 190 else 1) for number in numbers]
    root = make_tree(tmp_path, {"x/1.cc": "".join(lines)} | {f"d{number}/h{number}.h": "" for number in numbers})

    roots = roots_of(root)

    assert roots.own[:11] == ("", *(f"d{number}" for number in range(190, 200)))
    assert len(roots.own) == 101 and sum(roots.missing.values()) == 100
