"""Clusters and an S3 server for the tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import dask
import pytest

from tests.indexer.fleet import clusters, servers
from tests.indexer.fleet.fleets import add_to_store, content, job


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[tuple[Any, ...]]]:
    """The contents of a store to which one process has added both ranks."""
    store = tmp_path_factory.mktemp("clean") / "store"
    add_to_store(store, *job())
    return content(store)


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The scheduler's address of a cluster with one worker of two threads."""
    folder = tmp_path_factory.mktemp("worker")
    with clusters.scheduler() as address, clusters.worker(address, folder, "--no-nanny", "--nthreads", "2"):
        yield address


@pytest.fixture
def patience(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Limits waits for schedulers and workers to a few seconds."""
    monkeypatch.setenv("DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT", "2s")
    monkeypatch.setenv("DASK_DISTRIBUTED__SCHEDULER__NO_WORKERS_TIMEOUT", "2s")
    with dask.config.set({"distributed.comm.timeouts.connect": "2s", "distributed.scheduler.no-workers-timeout": "2s"}):
        yield


@pytest.fixture(scope="module")
def bucket() -> Iterator[tuple[str, int]]:
    """An S3 server as host and port."""
    with servers.moto() as address:
        yield address
