"""Programs are searched only in absolute folders, whatever the PATH is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from framedex.base.folders import absolute_search_path, program_on_path


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
    assert program_on_path("mine") is None
    assert program_on_path("sh") in [f"{folder}/sh" for folder in os.defpath.split(":")]
    assert absolute_search_path() == os.defpath


def test_absolute_folders_count_in_order_and_others_are_ignored(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f".::{here}:/bin:bin")
    assert absolute_search_path() == f"{here}:/bin"
    assert program_on_path("sh") == str(here / "sh")
    assert program_on_path("sh", "/bin") == "/bin/sh"


def test_a_path_to_a_program_is_unchanged() -> None:
    assert program_on_path("./mine") == "./mine"
