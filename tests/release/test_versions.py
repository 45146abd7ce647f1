"""All version numbers agree: an installation has its build's version, editors have the coming release's."""

from __future__ import annotations

import importlib.metadata
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from framedex.base.version import VERSION

REPOSITORY = Path(__file__).parents[2]
EDITORS = REPOSITORY / "editors"


@pytest.fixture
def next_version() -> str:
    """The changelog's newest section: VS Code and Emacs accept only numbers, so they have no version in between."""
    found = re.search(r"^## ([\d.]+)$", (REPOSITORY / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert found is not None
    return found[1]


def test_an_installation_reports_the_version_of_its_metadata() -> None:
    assert importlib.metadata.version("framedex") == VERSION


def test_the_command_line_prints_the_version() -> None:
    command = Path(sys.executable).with_name("framedex")
    done = subprocess.run([command, "--version"], capture_output=True, text=True)
    assert done.stdout == f"framedex, version {VERSION}\n"


def test_uninstalled_sources_run_without_a_version() -> None:
    program = "import sys; sys.path[:0] = ['indexer']; from framedex.base.version import VERSION; print(VERSION)"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, cwd=REPOSITORY)
    assert done.stdout == "0+unknown\n", done.stderr


def test_the_vscode_extension_has_the_same_version(next_version: str) -> None:
    manifest = json.loads((EDITORS / "vscode" / "package.json").read_text())
    lock = json.loads((EDITORS / "vscode" / "package-lock.json").read_text())
    assert manifest["version"] == lock["version"] == lock["packages"][""]["version"] == next_version


def test_the_emacs_package_has_the_same_version(next_version: str) -> None:
    assert f"\n;; Version: {next_version}\n" in (EDITORS / "emacs" / "framedex.el").read_text()
