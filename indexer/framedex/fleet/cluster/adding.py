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

from framedex import words
from framedex.captures import read_metadata
from framedex.errors import FramedexError
from framedex.fleet.adding import Added
from framedex.fleet.cluster.libraries import distributed
from framedex.fleet.cluster.sizes import capture_size
from framedex.fleet.cluster.worker import Adder, Outcome, add
from framedex.fleet.committed import Committed, rows_of_capture
from framedex.fleet.origin import Origin
from framedex.plaintext import printable
from framedex.version import VERSION

if TYPE_CHECKING:
    from framedex.fleet.place import Place
    from framedex.progress import Progress

_LOOK = 1.0  # seconds between two checks of the workers
_ANSWER = 10.0  # seconds to fetch a result of some hundred bytes from a worker that may be dead
_AGAIN = "Run the same command again when the cluster is back: it continues."


class Cluster(Protocol):
    """Workers that add captures. `client` is their Dask client."""

    client: Any

    def begin(self) -> None:
        """Wait for workers. Raises FramedexError if none appears, or one cannot add captures."""

    def tend(self) -> None:
        """Check the workers. Raises FramedexError if no more results will come."""

    def came(self) -> None:
        """Record that a capture is done."""


def add_by_cluster(
    cluster: Cluster, place: Place, captures: Sequence[Path], progress: Progress
) -> Iterator[tuple[Path, Added | FramedexError]]:
    """Add captures with all workers. Yield each path when it is done, with the added capture or the error.

    Raises FramedexError if the store does not exist and cannot be created, or if no workers appear.
    """
    place.begin()
    cluster.begin()
    ids: dict[Path, str] = {}
    with progress.task("Adding captures", len(captures)) as advance:
        for path in captures:
            try:
                ids[path] = Origin.of(read_metadata(path)).capture
            except FramedexError as error:
                advance(1)
                yield path, error
        # Largest first, so that no worker starts a large capture when the others are idle.
        adding = _Adding(cluster, place, ids)
        suspects = []
        for path, done in adding.each(sorted(ids, key=capture_size, reverse=True)):
            if isinstance(done, _KillingError):
                suspects.append(path)
                continue
            advance(1, calls=done.calls if isinstance(done, Added) else 0)
            yield path, done
        # Each capture of a dead worker is a suspect. Adding them one by one shows which of them kills workers.
        for suspect in suspects:
            for path, done in adding.each([suspect]):
                advance(1, calls=done.calls if isinstance(done, Added) else 0)
                yield path, done


class _KillingError(FramedexError):
    """A capture whose workers died one after the other."""


class _Adding:
    """Adds captures, with their `ids`, to a store by a cluster."""

    def __init__(self, cluster: Cluster, place: Place, ids: Mapping[Path, str]) -> None:
        self._cluster = cluster
        self._place = place
        self._ids = ids
        self._adder = cluster.client.submit(Adder, place.address, VERSION, pure=False)
        self._seeing: set[str] = set()  # workers that write to this process's store
        self._together: dict[str, list[Committed]] = {}
        self._end: FramedexError | None = None

    def each(self, captures: Sequence[Path]) -> Iterator[tuple[Path, Added | FramedexError]]:
        """Yield each capture when it is done. If the cluster fails, yield the rest with the error."""
        if (end := self._ended()) is not None:
            yield from ((path, end) for path in captures)
            return
        ids = [self._ids[path] for path in captures]
        texts = list(map(str, captures))
        futures = self._cluster.client.map(add, texts, ids, adder=self._adder, pure=False)
        left = dict(zip(futures, captures, strict=True))
        came: SimpleQueue[Any] = SimpleQueue()
        for future in futures:
            future.add_done_callback(came.put)
        looked = time.monotonic()
        while left:
            try:
                future = came.get(timeout=_LOOK)
                done = self._checked(_outcome(future))
            except Empty:
                pass
            except TimeoutError:
                came.put(future)  # the result died with its worker, and Dask repeats the task
            else:
                self._cluster.came()
                yield left.pop(future), done
            if time.monotonic() - looked < _LOOK:
                continue
            if (end := self._ended()) is not None:
                yield from ((path, end) for path in left.values())
                return
            looked = time.monotonic()

    def _ended(self) -> FramedexError | None:
        """Return the error that ended the cluster; None while it works."""
        if self._end is None:
            try:
                self._cluster.tend()
            except FramedexError as error:
                self._end = error
        return self._end

    def _checked(self, outcome: Outcome | FramedexError) -> Added | FramedexError:
        """Return the result of a capture, or an error if the worker writes to another store than this process's."""
        if not isinstance(outcome, Outcome):
            return outcome
        done, worker = outcome.done, outcome.worker
        if isinstance(done, Added) and worker not in self._seeing:
            try:
                if not rows_of_capture(self._place, done.origin.capture, done.origin.day, self._together):
                    return _elsewhere(self._place, worker)
            except FramedexError as error:
                return error
            self._seeing.add(worker)
        return done


def _outcome(future: Any) -> Outcome | FramedexError:
    """Fetch the result of a capture. Raises TimeoutError if it does not arrive."""
    try:
        outcome: Outcome = future.result(timeout=_ANSWER)
        return outcome
    except distributed.KilledWorker as error:
        lost = words.count(error.allowed_failures + 1, "worker")
        return _KillingError(
            f"{lost} died one after the other while adding it, the last one at {error.last_worker.address}.",
            "They may have run out of memory: add it with `--workers 0`, in one process.",
        )
    except distributed.CancelledError:
        return FramedexError("The connection to the cluster is lost.", _AGAIN)
    except TimeoutError:
        raise
    except Exception as error:
        said = printable(f"{type(error).__name__}: {error}")
        return FramedexError(f"A worker failed on it: {said}", "Add it with `--workers 0`, in one process.")


def _elsewhere(place: Place, worker: str) -> FramedexError:
    return FramedexError(
        f"The worker {worker} added it to another store than {place.address} on this machine.",
        "Name a store that all workers share: a folder of a shared file system, or a bucket.",
    )
