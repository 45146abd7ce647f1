"""The page on the command line says what the command line says."""

from __future__ import annotations

import runpy
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_page_is_what_the_commands_say_of_themselves() -> None:
    page = runpy.run_path(str(DOCS / "make_commands.py"))["document"]()
    assert (DOCS / "reference" / "commands.md").read_text() == page, "run: python docs/make_commands.py"
