"""What the trials of robustness share: something to index, and how often what depends on chance is repeated."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.indexer.conftest import library, project
from tests.run.invoking import framedex_run, program

__all__ = ["library", "project"]


@pytest.fixture(scope="session")
def times() -> int:
    """By how much to multiply the repetitions: FRAMEDEX_TRIALS=20 makes a night of it."""
    return int(os.environ.get("FRAMEDEX_TRIALS", "1"))


@pytest.fixture(scope="session")
def captures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two real captures: of some thousand calls, and of some ten thousand."""
    folder = tmp_path_factory.mktemp("recorded")
    for puts in ("500", "5000"):
        ended = framedex_run("-o", "captures", program("many_puts.py"), puts, folder=folder)
        assert ended.status == 0, ended.stderr
    return folder / "captures"
