"""Recordings of a moved folder are found at its new path, unless something contradicts it."""

from __future__ import annotations

from pathlib import Path

import pytest

from framedex.path_resolution.moved_files import FolderMove, FolderMoves, find_project

BEFORE, AFTER = ".framedex/captures/20260101-000000-1", ".framedex/captures/20260101-000000-1"


def written(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("")
    return str(path)


def moves(before: Path, after: Path) -> FolderMoves:
    return FolderMoves.of_capture(str(before / BEFORE), str(after / AFTER))


def test_the_new_project_precedes_the_old_folder_and_files_outside_stay(tmp_path: Path) -> None:
    ann, ben = tmp_path / "ann" / "proj", tmp_path / "ben" / "proj"
    for name in ("proj/both.py", "proj/left.py", "beside/both.py"):
        written(tmp_path / "ann" / name)
    for name in ("proj/both.py", "proj/moved.py", "beside/both.py", "beside/moved.py"):
        written(tmp_path / "ben" / name)
    found = moves(ann, ben)

    assert found.current_path(str(ann / "both.py")) == str(ben / "both.py")
    assert found.current_path(str(ann / "moved.py")) == str(ben / "moved.py")
    assert found.current_path(str(ann / "left.py")) == str(ann / "left.py")
    assert found.current_path(str(ann / "removed.py")) == str(ben / "removed.py")
    assert found.current_path(str(ann.parent / "beside/both.py")) == str(ann.parent / "beside/both.py")
    assert found.current_path(str(ann.parent / "beside/moved.py")) == str(ben.parent / "beside/moved.py")
    assert found.current_path(str(tmp_path / "annual/proj/moved.py")) == str(tmp_path / "annual/proj/moved.py")


def test_unmoved_paths_are_unchanged(tmp_path: Path) -> None:
    file = written(tmp_path / "proj" / "a.py")

    assert not moves(tmp_path / "proj", tmp_path / "proj")
    assert not FolderMoves.of_capture(None, str(tmp_path / AFTER))
    assert moves(tmp_path / "other", tmp_path / "proj").current_path(file) == file


@pytest.mark.parametrize("path", ["", "relative.py", "<string>", "/old/a\0b", "/old/\ud800x", "/oldest/a.py", "/"])
def test_odd_paths_are_unchanged(path: str, tmp_path: Path) -> None:
    assert FolderMove("/old", str(tmp_path), is_whole=True).current_path(path) in (path, f"{tmp_path}{path[4:]}")
    assert FolderMoves([FolderMove("/", str(tmp_path), is_whole=False)]).current_path(path) == path


def test_the_project_of_a_path_is_the_outermost() -> None:
    assert find_project("/a/b/.framedex/captures/x") == "/a/b"
    assert find_project("/a/.framedex/sub/.framedex/index.db") == "/a"
    assert find_project("/a/b/index.db") is None
