"""Captures added whole: Python divides their calls into batches, as the stream does natively.

This is the oracle for the stream: nesting, objects and causal links by the rows of a decoded capture. Only the times of
callbacks come from the stream itself.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from framedex.captures import CaptureStream
from framedex.index import Store
from framedex.index.file.conventions import MAX_SAMPLES, SPAN_SIZE
from framedex.index.file.values import convert_duration_to_bucket, to_signed
from framedex.index.write.bulk_rows import Integers
from framedex.index.write.records import CaptureRecord
from framedex.ingest import CaptureFrameNamer
from framedex.ingest.captures import build_capture_record
from framedex.ingest.report import CaptureReport
from framedex.model import CallBatch, CallKind, Capture, KindTotals, LinkEvidence, ObjectColumns
from framedex.programs.objects import ViolationKind
from framedex.texts.captures import format_all_problems
from tests.oracle.causal_links import find_causal_links
from tests.oracle.lifetimes import Lifetimes, follow_objects
from tests.oracle.nesting import enclosing_calls

_HOW = list(LinkEvidence)
_VIOLATIONS = list(ViolationKind)


def add_capture(store: Store, capture: Capture, namer: CaptureFrameNamer, signature: str = "") -> CaptureReport:
    """Name a decoded capture's frames and add it, in one transaction."""
    record, naming_problems = build_capture_record(capture, namer, signature)
    known = store.known_capture(record.identity)
    add_whole(store, record, callbacks=_callbacks(capture))
    told = format_all_problems(capture.stops, (*capture.problems, *naming_problems))
    return CaptureReport(capture.path, len(capture.calls), len(capture.stacks), told, known is not None)


def _callbacks(capture: Capture) -> Integers | None:
    """The callbacks of a recorded capture; None if the capture has no files."""
    if not (capture.path / "capture.json").is_file():
        return None
    stream = CaptureStream(capture.path)
    while stream.row < stream.calls and len(stream.next(1 << 18)):
        pass
    return stream.callbacks()


def add_whole(
    store: Store, record: CaptureRecord, calls_at_once: int = 1 << 16, callbacks: Integers | None = None
) -> bool:
    """Add a decoded capture with its calls, in one transaction; False if it is already in the index."""
    with store.transaction():
        writer = store.begin_capture(record, len(record.capture.calls))
        if writer is None:
            return False
        for batch in capture_batches(record.capture, calls_at_once):
            writer.add(batch)
        writer.finish(callbacks=callbacks)
    return True


def capture_batches(capture: Capture, calls_at_once: int = 1 << 16) -> Iterator[CallBatch]:
    """The calls of a capture, this many at a time."""
    whole = _Whole(capture)
    for first in range(0, len(capture.calls), calls_at_once):
        yield whole.batch(first, min(first + calls_at_once, len(capture.calls)))


class _Whole:
    """All calls of a capture, with the same numbering of shared data as in a stream."""

    def __init__(self, capture: Capture) -> None:
        calls = capture.calls
        parents = [-1 if parent is None else parent for parent in enclosing_calls(calls)]
        self._parent = np.array(parents, np.int64)
        self._calls = calls
        self._duration = np.maximum(calls.duration, 0)
        own = self._duration.copy()
        nested = np.flatnonzero(self._parent >= 0)
        np.subtract.at(own, self._parent[nested], self._duration[nested])
        columns = (calls.function, calls.thread, calls.stack, calls.error)
        keys = list(zip(*(column.tolist() for column in columns), strict=True))
        kinds = {key: number for number, key in enumerate(dict.fromkeys(keys))}
        self._kinds = [CallKind(*key) for key in kinds]
        self._kind = np.array([kinds[key] for key in keys], np.int64)
        texts = {text: number for number, text in enumerate(dict.fromkeys(calls.arguments))}
        self._texts = list(texts)
        self._argument = np.array([texts[text] for text in calls.arguments], np.int64)
        self._lifetimes: Lifetimes = follow_objects(capture)
        links = find_causal_links(capture)
        chains = {chain: number for number, chain in enumerate(dict.fromkeys(link.frames for link in links))}
        self._chains = list(chains)
        rows = [(link.call, link.thread, chains[link.frames], _HOW.index(link.how)) for link in links]
        self._links = np.array(rows, np.int64).reshape(-1, 4)
        self._objects = self._columns()
        self._met = [0, 0, 0]  # kinds, arguments, chains

    def batch(self, first: int, end: int) -> CallBatch:
        """The calls from row `first` up to, excluding, `end`."""
        here = slice(first, end)
        kind, argument, calls = self._kind[here], self._argument[here], self._calls
        links = self._links[(self._links[:, 0] >= first) & (self._links[:, 0] < end)]
        kinds, arguments, chains = self._met
        self._met = [
            max(met, int(np.max(numbers, initial=-1)) + 1)
            for met, numbers in zip(self._met, (kind, argument, links[:, 2]), strict=True)
        ]
        parent = self._parent[here]
        row = np.arange(first, end)
        types, objects = self._objects_at(first, end)
        return CallBatch(
            first=first,
            kinds=tuple(self._kinds[kinds : self._met[0]]),
            arguments=tuple(self._texts[arguments : self._met[1]]),
            kind=kind,
            inside=np.where(parent < 0, 0, row - parent),
            start=calls.start[here].astype(np.int64),
            duration=calls.duration[here].astype(np.int64),
            argument=argument,
            totals=self._totals(first, end),
            samples=_samples(kind, argument, kinds),
            spans=_spans(kind, row),
            durations=self._durations(here),
            changed=np.zeros((0, 4), np.int64),
            types=types,
            objects=objects,
            numbers=np.zeros((0, 2), np.int64),
            violations=self._violations(first, end),
            chains=tuple(self._chains[chains : self._met[2]]),
            links=links,
        )

    def _totals(self, first: int, end: int) -> KindTotals:
        kind, duration, parent = self._kind[first:end], self._duration[first:end], self._parent[first:end]
        owners = np.concatenate([kind, self._kind[parent[parent >= 0]]])
        own = np.concatenate([duration, -duration[parent >= 0]])
        kinds, of_owner = np.unique(owners, return_inverse=True)
        totals = np.zeros((7, len(kinds)), np.int64)
        np.add.at(totals[2], of_owner, own)
        for place, each in enumerate(kinds.tolist()):
            rows = np.flatnonzero(kind == each)
            if not len(rows):
                continue
            longest = rows[len(rows) - 1 - int(np.argmax(duration[rows][::-1]))]
            totals[[0, 1, 3], place] = len(rows), duration[rows].sum(), duration[longest]
            totals[4:, place] = first + longest, first + rows[0], first + rows[-1]
        return KindTotals(kinds, *totals)

    def _durations(self, here: slice) -> Integers:
        calls = self._calls
        returned = calls.duration[here] >= 0
        columns = (calls.function[here], calls.thread[here], calls.duration[here])
        rows = zip(*(column[returned].tolist() for column in columns), strict=True)
        counted: dict[tuple[int, int, int], int] = {}
        for function, thread, duration in rows:
            key = function, thread, convert_duration_to_bucket(duration)
            counted[key] = counted.get(key, 0) + 1
        return np.array([(*key, count) for key, count in counted.items()], np.int64).reshape(-1, 4)

    def _violations(self, first: int, end: int) -> Integers:
        rows = [
            (
                _VIOLATIONS.index(found.kind),
                found.object,
                found.call,
                -1 if found.earlier_call is None else found.earlier_call,
            )
            for found in self._lifetimes.violations
            if first <= found.call < end
        ]
        return np.array(rows, np.int64).reshape(-1, 4)

    def _columns(self) -> dict[str, Integers]:
        objects = self._lifetimes.objects
        types = {name: number for number, name in enumerate(dict.fromkeys(found.type for found in objects))}
        self._types = tuple(types)
        rows = [
            (
                *(place, types[found.type], found.number, to_signed(found.address), found.born),
                *(_or_less(value) for value in (found.created_call, found.first_call, found.last_call)),
                *(_or_less(value) for value in (found.deleted_call, found.destroyed_call)),
                *(found.uses, _or_less(found.owner), _or_less(found.size)),
            )
            for place, found in enumerate(objects)
        ]
        names = list(ObjectColumns.__dataclass_fields__)[:-1]
        table = np.array(rows, np.int64).reshape(-1, len(names))
        return dict(zip(names, table.T, strict=True))

    def _objects_at(self, first: int, end: int) -> tuple[tuple[str, ...], ObjectColumns]:
        """The objects that a batch's calls mention first or last, as known by then."""
        whole = self._objects
        # An object's index follows its birth, which may be later than its first call's row: all earlier ones are added.
        begins = np.maximum.accumulate(whole["first_call"]) if len(whole["place"]) else whole["place"]
        rows = ("created_call", "first_call", "last_call", "deleted_call", "destroyed_call")
        told = np.zeros(len(begins), np.bool_)
        for column in (begins, *(whole[name] for name in rows)):
            told |= (column >= first) & (column < end)
        told &= begins < end
        chosen = {name: column[told] for name, column in whole.items()}
        is_new = begins[told] >= first
        for name in ("created_call", "deleted_call", "destroyed_call"):
            chosen[name] = np.where(chosen[name] < end, chosen[name], -1)
        chosen["last_call"] = np.where(chosen["last_call"] < end, chosen["last_call"], chosen["first_call"])
        created = chosen["created_call"]
        created_kind = np.where(is_new & (created >= 0), self._kind[np.maximum(created, 0)] if len(created) else -1, -1)
        return self._types, ObjectColumns(**chosen, created_kind=created_kind)


def _or_less(value: int | None) -> int:
    return -1 if value is None else value


def _samples(kind: Integers, argument: Integers, known: int) -> Integers:
    """The smallest few arguments of the kinds from the number `known` on."""
    is_new = kind >= known
    pairs = np.unique(np.stack([kind[is_new], argument[is_new]], axis=1), axis=0)
    begins = np.searchsorted(pairs[:, 0], pairs[:, 0])
    chosen: Integers = pairs[np.arange(len(pairs)) - begins < MAX_SAMPLES]
    return chosen


def _spans(kind: Integers, row: Integers) -> Integers:
    key = (kind << 40) | (row // SPAN_SIZE)
    keys, first = np.unique(key, return_index=True)
    _, last = np.unique(key[::-1], return_index=True)
    return np.stack([keys >> 40, row[first], row[::-1][last]], axis=1)
