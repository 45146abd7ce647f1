"""Programs are searched only in absolute folders, whatever the PATH is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from framedex.base.folders import find_program, make_search_path_absolute


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a program of its own and one with the name of a system command."""
    for name in ("sh", "mine"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("path", [None, "", ":", ".:bin:"])
def test_a_path_variable_without_absolute_folders_uses_the_default(
    here: Path, path: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PATH")
    if path is not None:
        monkeypatch.setenv("PATH", path)
    assert find_program("mine") is None
    assert find_program("sh") in [f"{folder}/sh" for folder in os.defpath.split(":")]
    assert make_search_path_absolute() == os.defpath


def test_absolute_folders_count_in_order_and_others_are_ignored(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f".::{here}:/bin:bin")
    assert make_search_path_absolute() == f"{here}:/bin"
    assert find_program("sh") == str(here / "sh")
    assert find_program("sh", "/bin") == "/bin/sh"


def test_a_path_to_a_program_is_unchanged() -> None:
    assert find_program("./mine") == "./mine"
