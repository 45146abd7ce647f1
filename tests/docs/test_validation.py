"""The page on the rules of the C API matches the rules."""

from __future__ import annotations

import runpy
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_has_every_rule() -> None:
    rules_page = runpy.run_path(str(DOCS / "make_validation.py"))["rules_page"]
    assert rules_page() == (DOCS / "reference" / "validation.md").read_text("utf-8"), (
        "run `python docs/make_validation.py`"
    )
