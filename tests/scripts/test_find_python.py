"""`scripts/find-python`: the interpreter that the set-up selects on a machine."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FIND_PYTHON = Path(__file__).resolve().parents[2] / "scripts" / "find-python"
OWN = "{}.{}".format(*sys.version_info[:2])
SYSTEM = "/usr/bin:/bin"


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """An empty folder for PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    return folder


def install(machine: Path, name: str, text: str = f'exec {sys.executable} "$@"') -> str:
    """A command in the folder; returns its path."""
    program = machine / name
    program.write_text(f"#!/bin/sh\n{text}\n")
    program.chmod(0o755)
    return name


def found(machine: Path, needs: str, *versions: str) -> str | None:
    environment = {"PATH": f"{machine}:{SYSTEM}", "PYENV_ROOT": str(machine / "pyenv"), "HOME": str(machine)}
    done = subprocess.run([FIND_PYTHON, needs, *versions], env=environment, capture_output=True, text=True)
    assert done.stderr == ""
    assert (done.returncode == 0) == bool(done.stdout)
    return done.stdout.strip() or None


def test_the_first_available_version_is_used(machine: Path) -> None:
    name = install(machine, f"python{OWN}")
    assert found(machine, "venv", "3.98", OWN, "3.99") == name


def test_python3_means_its_version(machine: Path) -> None:
    name = install(machine, "python3")
    install(machine, f"python{OWN}", "exit 1")
    assert found(machine, "venv", "3.98", OWN) == name


def test_a_command_that_does_not_run_is_skipped(machine: Path) -> None:
    install(machine, f"python{OWN}", "echo 'pyenv: command not found' >&2; exit 127")
    name = install(machine, "python3")
    assert found(machine, "venv headers", OWN) == name


def test_a_name_that_leads_to_another_version_is_skipped(machine: Path) -> None:
    install(machine, "python3.98")
    assert found(machine, "", "3.98") is None


def test_pyenv_versions_are_found(machine: Path) -> None:
    folder = machine / "pyenv" / "versions" / f"{OWN}.1" / "bin"
    folder.mkdir(parents=True)
    install(folder, "python")
    install(machine, "python3", "exit 1")
    install(machine, f"python{OWN}", "exit 1")
    assert found(machine, "venv", OWN) == str(folder / "python")


def test_nothing_is_found_on_an_empty_path(machine: Path) -> None:
    assert found(machine, "", "3.98", "3.99") is None
