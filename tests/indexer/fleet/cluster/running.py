"""Captures added by a cluster, while a test observes the store's requests."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from framedex.base.errors import FramedexError
from framedex.base.progress import SilentProgress
from framedex.fleet.adding import AddedCapture
from framedex.fleet.cluster.adding import Cluster, add_by_cluster
from framedex.fleet.cluster.existing import existing_cluster
from framedex.fleet.store_root import StoreRoot
from tests.indexer.fleet import servers

STORE = f"s3://{servers.BUCKET}/of/mine"
Done = dict[Path, AddedCapture | FramedexError]


def add_on_new_cluster(cluster: Cluster, store: str | Path, captures: tuple[Path, ...]) -> Done:
    """The outcomes of captures that a new cluster added."""
    return dict(add_by_cluster(cluster, StoreRoot(str(store)), captures, SilentProgress()))


def add_on_cluster(address: str, store: str | Path, *captures: Path) -> Done:
    """The same for an existing cluster."""
    with existing_cluster(address) as cluster:
        return add_on_new_cluster(cluster, store, captures)


def added_flags(done: Done) -> list[bool]:
    return [isinstance(each, AddedCapture) for each in done.values()]


@contextmanager
def s3(
    bucket: tuple[str, int], monkeypatch: pytest.MonkeyPatch, met: Callable[[str, str], int | None]
) -> Iterator[None]:
    """Within the block, S3 is a server whose requests a test sees, also those of workers started in it."""
    for name, value in servers.CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    with servers.before(bucket, met) as address:
        monkeypatch.setenv("AWS_ENDPOINT_URL", address)
        yield
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{bucket[0]}:{bucket[1]}")


def writes_calls(method: str, path: str) -> bool:
    """Whether a request happens during the adding of a capture: frames, stacks and kinds exist, but no calls."""
    return method in ("PUT", "POST") and "/calls/" in path


def kill_workers(client: Any) -> None:
    """Kill all worker processes."""
    for process in client.run(os.getpid).values():
        os.kill(process, signal.SIGKILL)


class RunsAtFirstCall:
    """A hook for `s3` that runs a function once before calls are written; that request gets no answer."""

    def __init__(self, act: Callable[[], object]) -> None:
        self._act = act
        self.acted = False

    def __call__(self, method: str, path: str) -> int | None:
        """The outcome of a request."""
        if self.acted or not writes_calls(method, path):
            return None
        self.acted = True
        self._act()
        return servers.DROPPED
