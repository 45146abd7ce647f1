"""Recorded runs written by hand: captures are synthetic; the binary, the sources and the index are real."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.indexer.answering import Answering, Server, Started
from tests.indexer.recorded import Project, build_project


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A shared library with debug lines, inlining and a function with a missing source, built once."""
    from tests.indexer.recorded import build_library

    return build_library(tmp_path_factory.mktemp("library"))


@pytest.fixture
def project(tmp_path: Path, library: Path) -> Project:
    """A folder with a program and a capture of it that is not indexed yet."""
    return build_project(tmp_path, library)


@pytest.fixture
def started() -> Iterator[Started]:
    """Start servers that stop with the test."""
    servers = []

    def start(answer: Callable[[Answering], None]) -> Server:
        servers.append(Server(answer))
        threading.Thread(target=servers[-1].serve_forever, args=(0.01,), daemon=True).start()
        return servers[-1]

    yield start
    for server in servers:
        server.is_over.set()
        server.shutdown()
        server.server_close()
