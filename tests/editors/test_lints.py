"""Linter results for the files that editors load; Emacs' compiler is in test_emacs.py."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.editors.sessions import EDITORS

ROOT = EDITORS.parent


@pytest.mark.skipif(shutil.which("luacheck") is None, reason="needs luacheck (Debian: apt-get install lua-check)")
def test_luacheck_reports_nothing() -> None:
    folders = (ROOT / "lua", EDITORS / "neovim", EDITORS / "terminal", Path(__file__).parent)
    files = [file for folder in folders for file in folder.rglob("*.lua")]
    done = subprocess.run(["luacheck", "--no-color", *map(str, files)], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.skipif(shutil.which("emacs") is None, reason="needs Emacs (Debian: apt-get install emacs-nox)")
def test_checkdoc_reports_nothing() -> None:
    """Exceptions: it parses the noun `calls` as a verb, and the dot of M-. as the end of a sentence."""
    files = [str(file) for file in (EDITORS / "emacs").glob("framedex*.el")]
    check = """(progn (require 'checkdoc)
      (setq checkdoc-verb-check-experimental-flag nil sentence-end-double-space nil)
      (mapc #'checkdoc-file command-line-args-left))"""
    command = ["emacs", "-Q", "--batch", "--eval", check, *files]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
