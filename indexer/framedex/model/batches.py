"""Batches of calls in columns, with their contributions to the totals: the form in which the index receives calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class CallKind:
    """Attributes shared by calls of a capture: indices of the function, thread and stack, and the error code."""

    function: int
    thread: int
    stack: int
    error: int


@dataclass(frozen=True, slots=True)
class KindTotals:
    """The contribution of a batch to the totals of call kinds, in columns of equal length.

    `kind` indexes the capture's kinds. Durations are in nanoseconds; calls that have not returned count as 0.
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
    """Objects that are new or changed since an earlier batch, in order of creation.

    `place` is the index of an object in the capture, in that order. `type` indexes `CallBatch.types`, `client` is an
    object index, and calls are rows of the capture's calls. `created_kind` is the kind of `created_call` for objects
    new in this batch. `size` is in bytes. A missing value is the smallest integer, -2**63.
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
    """The next calls of a capture, ordered by start, after those of earlier batches.

    `first` is the row of the first call. `kinds` and `arguments` are new in this batch, with numbers that continue
    those of earlier batches; `kind` and `argument` have such a number for each call. `inside` is the number of rows
    back to the enclosing call, 0 if there is none. `start` and `duration` are as in `Calls`.

    `samples` are pairs (kind, argument): new entries among the few smallest arguments of each kind. `spans` are rows
    (kind, first, last): the first and last row of a kind within each block of 256 rows. `durations` are rows
    (function, thread, bucket, calls) of the calls that returned. `changed` are rows (row, kind, duration, argument) of
    earlier calls that have returned since. Only their own time counts in `totals`; `durations` and `spans` exclude
    them. For kinds of FFI runs, totals, spans and samples are rebuilt, because one kind may split into several.

    `types` are the types of `objects`. `numbers` are rows (object, number): the runtime's own ids, set if they are
    unique within a type. `violations` are rows (index in `ViolationKind`, object, call, earlier call). The earlier call
    is negative if there is none. `links` are rows (call, thread, chain, index in `LinkHow`). `chains` are new in this
    batch and numbered like `kinds`. Threads are indices into the capture's threads.

    If a capture is continued, batches that end at or before `CaptureWriter.rows` need only `first`, `kind` (for its
    length), `kinds` and `chains`. One batch has to end exactly there.
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
