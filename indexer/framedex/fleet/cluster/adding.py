"""Captures into a store by the workers of a cluster: each does what `fleet/adding.py` does, any may end.

Dask has a capture added again whose worker is lost. That needs no care here, since adding is whole or nothing, and once
however often it is done. What cannot be added is told for each capture, and nobody is waited for in vain.
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

_LOOK = 1.0  # seconds between two looks after the workers
_ANSWER = 10.0  # seconds for a worker's answer of some hundred bytes; it may have died with it
_AGAIN = "Run the same command again when it is back: it goes on."


class Cluster(Protocol):
    """Workers to add captures by: `client` is Dask's, which speaks to them."""

    client: Any

    def begin(self) -> None:
        """Wait for workers. Raises FramedexError where none comes, or one cannot add captures."""

    def tend(self) -> None:
        """Look after the workers. Raises FramedexError where nothing more will come."""

    def came(self) -> None:
        """Note that a capture is done."""


def add_by_cluster(
    cluster: Cluster, place: Place, captures: Sequence[Path], progress: Progress
) -> Iterator[tuple[Path, Added | FramedexError]]:
    """Add captures by all workers, in the order in which they are done; those that cannot be added with the reason.

    Raises FramedexError where there is no store and none can be made, and where there are no workers at first.
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
        # The largest first, so that no worker begins it when all others are through.
        adding = _Adding(cluster, place, ids)
        suspects = []
        for path, done in adding.each(sorted(ids, key=capture_size, reverse=True)):
            if isinstance(done, _KillingError):
                suspects.append(path)
                continue
            advance(1, calls=done.calls if isinstance(done, Added) else 0)
            yield path, done
        # Whatever a worker had before it as it ended is suspected. Alone, each shows whether it was the one.
        for suspect in suspects:
            for path, done in adding.each([suspect]):
                advance(1, calls=done.calls if isinstance(done, Added) else 0)
                yield path, done


class _KillingError(FramedexError):
    """A capture with which one worker after the other has ended."""


class _Adding:
    """Captures, by their `ids`, that a cluster adds to a store."""

    def __init__(self, cluster: Cluster, place: Place, ids: Mapping[Path, str]) -> None:
        self._cluster = cluster
        self._place = place
        self._ids = ids
        self._adder = cluster.client.submit(Adder, place.address, VERSION, pure=False)
        self._seeing: set[str] = set()  # workers that write where this process reads
        self._together: dict[str, list[Committed]] = {}
        self._end: FramedexError | None = None

    def each(self, captures: Sequence[Path]) -> Iterator[tuple[Path, Added | FramedexError]]:
        """What comes of captures, each when it is done; what is left with the reason when nothing more will come."""
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
                came.put(future)  # what came of it is lost with its worker, and being found again
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
        """Why nothing more will come; None while something may."""
        if self._end is None:
            try:
                self._cluster.tend()
            except FramedexError as error:
                self._end = error
        return self._end

    def _checked(self, outcome: Outcome | FramedexError) -> Added | FramedexError:
        """What came of a capture, if the worker writes into the store that this process means."""
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
    """What came of a capture. Raises TimeoutError where that does not come."""
    try:
        outcome: Outcome = future.result(timeout=_ANSWER)
        return outcome
    except distributed.KilledWorker as error:
        lost = words.count(error.allowed_failures + 1, "worker")
        return _KillingError(
            f"{lost} ended one after the other while they added it, the last one {error.last_worker.address}.",
            "They may have had too little memory: add it with `--workers 0`, in one process.",
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
        f"The worker {worker} has added it, but not to the store that is at {place.address} here.",
        "Name a store that is the same for all workers: a folder of a file system that they share, or a bucket.",
    )
