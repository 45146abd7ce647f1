"""Captures into a store by the workers of a cluster: each does what `adding.py` does, and any may end at any time.

Dask has a capture added again whose worker is lost. That needs no care here, since adding is whole or nothing, and once
however often it is done. What cannot be added is told for each capture, and nobody is waited for in vain.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Protocol

from framedex import words
from framedex.captures import read_metadata
from framedex.errors import FramedexError
from framedex.fleet.adding import Added
from framedex.fleet.cluster_libraries import distributed
from framedex.fleet.committed import read_committed
from framedex.fleet.origin import Origin
from framedex.fleet.partitions import captures_in, owner_of
from framedex.fleet.sizes import capture_size
from framedex.fleet.worker import Adder, Outcome, add
from framedex.plaintext import printable
from framedex.version import VERSION

if TYPE_CHECKING:
    from framedex.fleet.place import Place
    from framedex.progress import Progress

_LOOK = 1.0  # seconds between two looks at whether there are workers, while nothing comes
_ANSWER = 10.0  # seconds for a worker's answer of some hundred bytes; it may have died with it
_AGAIN = "Run the same command again when it is back: it goes on."


class Cluster(Protocol):
    """Workers to add captures by: `client` is Dask's, which speaks to them."""

    client: Any

    def begin(self) -> None:
        """Wait for workers. Raises FramedexError where none comes, or one cannot add captures."""

    def tend(self) -> None:
        """Look after the workers while nothing comes. Raises FramedexError where nothing more will."""

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
    client = cluster.client
    ids: dict[Path, str] = {}
    with progress.task("Adding captures", len(captures)) as advance:
        for path in captures:
            try:
                ids[path] = Origin.of(read_metadata(path)).capture
            except FramedexError as error:
                advance(1)
                yield path, error
        adder = client.submit(Adder, place.address, VERSION, pure=False)
        # Each worker is to have one before it is chosen for a capture: Dask prefers those that have.
        client.replicate([adder])
        # The largest first, so that no worker begins it when all others are through.
        order = sorted(ids, key=capture_size, reverse=True)
        futures = client.map(add, list(map(str, order)), [ids[path] for path in order], adder=adder, pure=False)
        seeing: set[str] = set()  # workers that write where this process reads
        for path, outcome in _each_done(cluster, dict(zip(futures, order, strict=True))):
            done = outcome.done if isinstance(outcome, Outcome) else outcome
            if isinstance(outcome, Outcome) and isinstance(done, Added) and outcome.worker not in seeing:
                if _has(place, done.origin):
                    seeing.add(outcome.worker)
                else:
                    done = _elsewhere(place, outcome.worker)
            advance(1, calls=done.calls if isinstance(done, Added) else 0)
            yield path, done


def _each_done(cluster: Cluster, futures: dict[Any, Path]) -> Iterator[tuple[Path, Outcome | FramedexError]]:
    """Each capture when its future is done; all that are left with the reason when nothing more will come."""
    done: SimpleQueue[Any] = SimpleQueue()
    for future in futures:
        future.add_done_callback(done.put)
    left = dict(futures)
    while left:
        try:
            future = done.get(timeout=_LOOK)
            outcome = _outcome(future)
        except (Empty, TimeoutError) as nothing:
            if isinstance(nothing, TimeoutError):
                done.put(future)  # what came of it is lost with its worker, and being found again
            try:
                cluster.tend()
            except FramedexError as error:
                yield from ((path, error) for path in left.values())
                return
        else:
            cluster.came()
            yield left.pop(future), outcome


def _outcome(future: Any) -> Outcome | FramedexError:
    """What came of a capture. Raises TimeoutError where that does not come."""
    try:
        outcome: Outcome = future.result(timeout=_ANSWER)
        return outcome
    except distributed.KilledWorker as error:
        lost = words.count(error.allowed_failures + 1, "worker")
        return FramedexError(
            f"{lost} ended one after the other while they added it, the last one {error.last_worker.address}.",
            "They may have had too little memory: add it without --workers and --scheduler.",
        )
    except distributed.CancelledError:
        return FramedexError("The connection to the cluster is lost.", _AGAIN)
    except TimeoutError:
        raise
    except Exception as error:
        said = printable(f"{type(error).__name__}: {error}")
        return FramedexError(f"A worker failed on it: {said}", "Add it without --workers and --scheduler.")


def _has(place: Place, origin: Origin) -> bool:
    """Whether a capture is in the store, as this process sees it."""
    files = [file for file in place.names(captures_in(origin.day)) if owner_of(file) in (origin.capture, None)]
    return any(row.capture == origin.capture for file in files for row in read_committed(place, file))


def _elsewhere(place: Place, worker: str) -> FramedexError:
    return FramedexError(
        f"The worker {worker} has added it, but not to the store that is at {place.address} here.",
        "Name a store that is the same for all workers: a folder of a file system that they share, or a bucket.",
    )
