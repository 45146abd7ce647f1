"""An indexed project that tests of many verbs read."""

from __future__ import annotations

import pytest

from tests.indexer.recorded import Project, build_library, build_project


@pytest.fixture(scope="session")
def indexed_once(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project, indexed with the sources of its own library. No test may change its files."""
    library = build_library(tmp_path_factory.mktemp("indexed-library"))
    project = build_project(tmp_path_factory.mktemp("indexed"), library)
    project.ingest(library.parent).close()
    return project
