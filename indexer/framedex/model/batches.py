"""Calls as they come to the index: a few at a time, in columns, with what they add to the totals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class CallKind:
    """What calls of a capture have in common: places in its functions, threads and stacks, and the error code."""

    function: int
    thread: int
    stack: int
    error: int


@dataclass(frozen=True, slots=True)
class KindTotals:
    """What a batch adds to the totals of kinds, in columns of equal length.

    `kind` numbers the capture's kinds; durations are in nanoseconds, those of calls that have not returned count as 0.
    `longest_call`, `first_call` and `latest_call` are rows of the capture's calls.
    """

    kind: Integers
    calls: Integers
    duration: Integers
    own_duration: Integers
    longest: Integers
    longest_call: Integers
    first_call: Integers
    latest_call: Integers


@dataclass(frozen=True, slots=True)
class ObjectColumns:
    """Objects that are new, or have changed since an earlier batch, in the order of their birth.

    `place` numbers the capture's objects in that order, `type` the texts in `CallBatch.types`, calls are rows of the
    capture's calls and `client` is a place. `created_kind` is the kind of `created_call` of those that are new in this
    batch. `size` is in bytes. What there is not is the least of all integers, -2**63.
    """

    place: Integers
    type: Integers
    number: Integers
    address: Integers
    born: Integers
    created_call: Integers
    first_call: Integers
    last_call: Integers
    deleted_call: Integers
    destroyed_call: Integers
    uses: Integers
    client: Integers
    size: Integers
    created_kind: Integers


@dataclass(frozen=True, slots=True)
class CallBatch:
    """The next calls of a capture, in order of their start, after those of the batches before.

    `first` is the row of the first call. `kinds` and `arguments` are those that are met for the first time, numbered
    on from those of earlier batches; `kind` and `argument` are such numbers for each call. `inside` is how many rows
    before it the call is in which it was made, 0 outside all. `start` and `duration` are as in `Calls`.

    `samples` are pairs (kind, argument): the smallest few arguments of kinds that are new among them. `spans` are rows
    (kind, first, last): of each 256 rows, counted from row 0, the first and last of a kind in this batch. `durations`
    are rows (function, thread, bucket, calls) of the calls that returned. `changed` are rows (row, kind, duration,
    argument) of calls of earlier batches that have returned since: only their own time is counted in `totals`, neither
    `durations` nor `spans` count them. Of kinds of FFI runs totals, spans and samples are made anew, as one may become
    several.

    `types` are those that `objects` have. `numbers` are rows (object, number): the runtime's own ids, once they are
    known to tell all objects of a type apart. `violations` are rows (place in `ViolationKind`, place of the object,
    call, earlier call or less than 0); `links` rows (call, thread, chain, place in `LinkHow`), with `chains` those met
    for the first time, numbered on. Threads are places in the capture's threads.

    Of a capture that is continued, batches that end by `CaptureWriter.rows` need no more than `first`, `kind` (for its
    length), `kinds` and `chains`; one has to end there.
    """

    first: int
    kinds: tuple[CallKind, ...]
    arguments: tuple[str, ...]
    kind: Integers
    inside: Integers
    start: Integers
    duration: Integers
    argument: Integers
    totals: KindTotals
    samples: Integers
    spans: Integers
    durations: Integers
    changed: Integers
    types: tuple[str, ...]
    objects: ObjectColumns
    numbers: Integers
    violations: Integers
    chains: tuple[tuple[int, ...], ...]
    links: Integers

    def __len__(self) -> int:
        return len(self.kind)
