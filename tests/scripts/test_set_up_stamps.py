"""The Makefile's stamps of a set-up: when `make` repeats the set-up."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.pythons import ROOT
from tests.running import TIMEOUT


@pytest.mark.parametrize(("target", "stamp"), [("demo", "set-up"), ("docs-check", "set-up-dev")])
def test_an_uninstalled_framedex_is_set_up_again(target: str, stamp: str, tmp_path: Path) -> None:
    """If the stamp is newer than the sources, only a missing `framedex` command causes a set-up."""
    framedex = tmp_path / "bin" / "framedex"
    framedex.parent.mkdir()
    framedex.touch()
    (tmp_path / stamp).touch()

    installed = _planned_commands(target, tmp_path)
    framedex.unlink()
    uninstalled = _planned_commands(target, tmp_path)

    assert f"scripts/set-up {tmp_path}" not in installed
    assert f"scripts/set-up {tmp_path}" in uninstalled


def _planned_commands(target: str, venv: Path) -> str:
    command = ["make", "--dry-run", f"VENV={venv}", target]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True, timeout=TIMEOUT).stdout
