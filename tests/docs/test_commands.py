"""The command reference matches the command line."""

from __future__ import annotations

import runpy
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_page_equals_the_help_texts() -> None:
    page = runpy.run_path(str(DOCS / "make_commands.py"))["commands_page"]()
    assert (DOCS / "reference" / "commands.md").read_text() == page, "run: python docs/make_commands.py"
