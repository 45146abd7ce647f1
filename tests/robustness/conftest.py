"""What the trials of robustness share: something to index, and how often what depends on chance is repeated."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.indexer.conftest import library, project
from tests.once import made_once
from tests.run.invoking import framedex_run, program

__all__ = ["library", "project"]


@pytest.fixture(scope="session")
def times() -> int:
    """By how much to multiply the repetitions: FRAMEDEX_TRIALS=20 makes a night of it."""
    return int(os.environ.get("FRAMEDEX_TRIALS", "1"))


@pytest.fixture(scope="session")
def captures() -> Path:
    """A folder with two real captures: of some thousand calls, and of some ten thousand."""
    return made_once("many_puts", _record)


def _record(folder: Path) -> Path:
    for puts in ("500", "5000"):
        ended = framedex_run("-o", "captures", program("many_puts.py"), puts, folder=folder)
        assert ended.status == 0, ended.stderr
    return folder / "captures"
