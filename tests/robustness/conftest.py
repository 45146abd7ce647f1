"""Shared fixtures of the robustness tests: a capture to index, and the repetitions of random tests."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests import tiers
from tests.indexer.conftest import library, project
from tests.once import made_once
from tests.running import run

__all__ = ["library", "project"]


@pytest.fixture(scope="session")
def times() -> int:
    """The factor for repetitions: FRAMEDEX_TRIALS=20 runs for a night."""
    return int(os.environ.get("FRAMEDEX_TRIALS", "1"))


@pytest.fixture(scope="session")
def captures(request: pytest.FixtureRequest) -> Path:
    """A folder with a real capture of a few thousand calls; exhaustive tests also use one of tens of thousands."""
    puts = ("500",) if request.config.getoption(tiers.OPTION) else ("500", "5000")
    return made_once("many_puts", lambda folder: _record(folder, puts))


def _record(folder: Path, all_puts: Sequence[str]) -> Path:
    for puts in all_puts:
        ended = run("many_puts.py", puts, folder=folder)
        assert ended.status == 0, ended.stderr
    return folder / "captures"
