"""Shared fixtures for tests of fetching."""

from __future__ import annotations

from pathlib import Path

import pytest

from framedex.sources.fetching.cache import SourceCache
from tests.indexer.sources.fetching.repositories import make_repository


@pytest.fixture
def cache(tmp_path: Path) -> SourceCache:
    return SourceCache(tmp_path / "cache")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A bare repository in a served folder."""
    folder = tmp_path / "served" / "xla.git"
    folder.parent.mkdir()
    make_repository(folder)
    return folder
