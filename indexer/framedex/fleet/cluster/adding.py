"""Add captures with the workers of a cluster, which run `fleet/adding.py`. Workers may die at any time.

Dask repeats the task of a lost worker. That is safe, because adding is atomic and idempotent. Each capture that cannot
be added has an error of its own, and no wait is unlimited.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Protocol

from framedex.base import words
from framedex.base.errors import FramedexError
from framedex.base.plaintext import make_printable
from framedex.base.version import VERSION
from framedex.captures import read_metadata
from framedex.fleet.adding import AddedCapture
from framedex.fleet.cluster.libraries import distributed
from framedex.fleet.cluster.sizes import measure_capture
from framedex.fleet.cluster.worker import CaptureOutcome, RunAdder, add
from framedex.fleet.committed import CommittedCapture, read_rows_of_capture
from framedex.fleet.origin import Origin

if TYPE_CHECKING:
    from framedex.base.progress import Progress
    from framedex.fleet.store_root import StoreRoot

_CHECK_INTERVAL_S = 1.0  # seconds between two checks of the workers
_RESULT_TIMEOUT_S = 10.0  # seconds to fetch a result of some hundred bytes from a worker that may be dead
_RETRY_REMEDY = "Run the same command again when the cluster is back: it continues."


class Cluster(Protocol):
    """Workers that add captures. `client` is their Dask client."""

    client: Any

    def begin(self) -> None:
        """Wait for workers. Raises FramedexError if none appears, or one cannot add captures."""

    def check_workers(self) -> None:
        """Check the workers. Raises FramedexError if no more results will come."""

    def on_capture_done(self) -> None:
        """Record that a capture is done."""


def add_by_cluster(
    cluster: Cluster, store: StoreRoot, captures: Sequence[Path], progress: Progress
) -> Iterator[tuple[Path, AddedCapture | FramedexError]]:
    """Add captures with all workers. Yield each path when it is done, with the added capture or the error.

    Raises FramedexError if the store does not exist and cannot be created, or if no workers appear.
    """
    store.begin()
    cluster.begin()
    ids: dict[Path, str] = {}
    with progress.task("Adding captures", len(captures)) as advance:
        for path in captures:
            try:
                ids[path] = Origin.from_metadata(read_metadata(path)).capture
            except FramedexError as error:
                advance(1)
                yield path, error
        # Largest first, so that no worker starts a large capture when the others are idle.
        adding = _ClusterAdder(cluster, store, ids)
        suspects = []
        for path, done in adding.add_each(sorted(ids, key=measure_capture, reverse=True)):
            if isinstance(done, _FatalCaptureError):
                suspects.append(path)
                continue
            advance(1, calls=done.calls if isinstance(done, AddedCapture) else 0)
            yield path, done
        # Each capture of a dead worker is a suspect. Adding them one by one shows which of them kills workers.
        for suspect in suspects:
            for path, done in adding.add_each([suspect]):
                advance(1, calls=done.calls if isinstance(done, AddedCapture) else 0)
                yield path, done


class _FatalCaptureError(FramedexError):
    """A capture whose workers died one after the other."""


class _ClusterAdder:
    """Uses a Dask cluster to add captures to a store under the ids in `ids`."""

    def __init__(self, cluster: Cluster, store: StoreRoot, ids: Mapping[Path, str]) -> None:
        self._cluster = cluster
        self._root = store
        self._ids = ids
        self._adder = cluster.client.submit(RunAdder, store.address, VERSION, pure=False)
        self._verified_workers: set[str] = set()  # workers that write to this process's store
        self._rows_by_file: dict[str, list[CommittedCapture]] = {}
        self._end: FramedexError | None = None

    def add_each(self, captures: Sequence[Path]) -> Iterator[tuple[Path, AddedCapture | FramedexError]]:
        """Yield each capture when it is done. If the cluster fails, yield the rest with the error."""
        if (end := self._end_error()) is not None:
            yield from ((path, end) for path in captures)
            return
        ids = [self._ids[path] for path in captures]
        texts = list(map(str, captures))
        futures = self._cluster.client.map(add, texts, ids, adder=self._adder, pure=False)
        left = dict(zip(futures, captures, strict=True))
        finished: SimpleQueue[Any] = SimpleQueue()
        for future in futures:
            future.add_done_callback(finished.put)
        looked = time.monotonic()
        while left:
            try:
                future = finished.get(timeout=_CHECK_INTERVAL_S)
                done = self._check_outcome(_outcome(future))
            except Empty:
                pass
            except TimeoutError:
                finished.put(future)  # the result died with its worker, and Dask repeats the task
            else:
                self._cluster.on_capture_done()
                yield left.pop(future), done
            if time.monotonic() - looked < _CHECK_INTERVAL_S:
                continue
            if (end := self._end_error()) is not None:
                yield from ((path, end) for path in left.values())
                return
            looked = time.monotonic()

    def _end_error(self) -> FramedexError | None:
        """Return the error that ended the cluster; None while it works."""
        if self._end is None:
            try:
                self._cluster.check_workers()
            except FramedexError as error:
                self._end = error
        return self._end

    def _check_outcome(self, outcome: CaptureOutcome | FramedexError) -> AddedCapture | FramedexError:
        """Return the result of a capture, or an error if the worker writes to a different store than this process."""
        if not isinstance(outcome, CaptureOutcome):
            return outcome
        done, worker = outcome.done, outcome.worker
        if isinstance(done, AddedCapture) and worker not in self._verified_workers:
            try:
                if not read_rows_of_capture(self._root, done.origin.capture, done.origin.day, self._rows_by_file):
                    return _other_store_error(self._root, worker)
            except FramedexError as error:
                return error
            self._verified_workers.add(worker)
        return done


def _outcome(future: Any) -> CaptureOutcome | FramedexError:
    """Fetch the result of a capture. Raises TimeoutError if it does not arrive."""
    try:
        outcome: CaptureOutcome = future.result(timeout=_RESULT_TIMEOUT_S)
        return outcome
    except distributed.KilledWorker as error:
        lost = words.count(error.allowed_failures + 1, "worker")
        return _FatalCaptureError(
            f"{lost} died one after the other while adding it, the last one at {error.last_worker.address}.",
            "They may have run out of memory: add it with `--workers 0`, in one process.",
        )
    except distributed.CancelledError:
        return FramedexError("The connection to the cluster is lost.", _RETRY_REMEDY)
    except TimeoutError:
        raise
    except Exception as error:
        reason = make_printable(f"{type(error).__name__}: {error}")
        return FramedexError(f"A worker failed on it: {reason}", "Add it with `--workers 0`, in one process.")


def _other_store_error(store: StoreRoot, worker: str) -> FramedexError:
    return FramedexError(
        f"The worker {worker} added it to a different store, not to {store.address} of this machine.",
        "Name a store that all workers share: a folder of a shared file system, or a bucket.",
    )
