"""Dividing files into targets."""

from __future__ import annotations

from framedex.export.projects.project_files import partition_targets


def test_a_small_tree_is_one_target() -> None:
    (target,) = partition_targets(["a/x.cc", "b.cc"])

    assert (target.name, target.files) == ("root", ("a/x.cc", "b.cc"))


def test_a_large_folder_is_split_by_subfolder() -> None:
    files = sorted(["x/top.cc", *(f"x/{part}/{number}.cc" for part in "ab" for number in range(200))])

    parted = partition_targets(files)

    assert [(target.name, len(target.files)) for target in parted] == [("x", 1), ("x_a", 200), ("x_b", 200)]
    assert sorted(path for target in parted for path in target.files) == files


def test_target_names_are_valid_in_cmake_and_unique() -> None:
    folders = ["a-b", "a_b", "test", "all", "ü", "ö", "a b/c"]
    files = sorted(f"{folder}/{number}.cc" for folder in folders for number in range(60))

    names = [target.name for target in partition_targets(files)]

    assert len(set(names)) == len(names) == 7
    assert {"a_b", "a_b_2", "test_files", "all_files", "root", "root_2"} < set(names)
