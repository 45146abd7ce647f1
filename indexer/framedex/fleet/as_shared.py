"""Convert a capture of a store, from its rows alone, into a shared file: definitions and batches of calls."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from framedex import words
from framedex.errors import FramedexError
from framedex.fleet.libraries import pa
from framedex.imports.columns import WITHOUT_OBJECTS, samples_of, spans_of
from framedex.index.file.values import duration_to_bucket
from framedex.index.write.records import FrameRecord, FunctionRecord
from framedex.model import (
    CallBatch,
    CallKind,
    FrameRole,
    Function,
    KindTotals,
    Language,
    Location,
    LocationEvidence,
    MergeOutcome,
    Metadata,
    Stack,
    StopReasons,
    Thread,
)
from framedex.releases import builds_at
from framedex.shared.archive import DEFINITIONS, ArchiveWriter
from framedex.shared.columns import encode_batch
from framedex.shared.contents import Definitions
from framedex.shared.packing import pack_value
from framedex.shared.tables import FrameTables
from framedex.sharing.metadata import shared_metadata

if TYPE_CHECKING:
    from framedex.fleet.store_queries import StoreConnection

Integers = npt.NDArray[np.int64]

PULLED_CAPTURE_PROBLEM = (
    "It was pulled from a store. Stores keep calls, stacks and lines, but not runtime objects, compiled programs, FFI"
    " sites or links between threads: `framedex memory` and `framedex waits` show little or nothing of it."
)
"""The problem that is shown with every pulled capture."""

_MAX_CALLS = 1 << 32  # the reader holds 4 bytes for each
_THREAD = re.compile(r"(?:(.*) \()?(\d{1,18})\)?", re.DOTALL)


def write_pulled(connection: StoreConnection, row: Mapping[str, Any], file: IO[bytes]) -> None:
    """Write a capture of a store into an open file, in the format of `framedex share`.

    `row` is the capture's row of `captures`. Raises FramedexError if the capture is incomplete in the store, and
    OSError if the file cannot be written.
    """
    pulled = _StoredCaptureReader(connection, row)
    with ArchiveWriter(file) as writing:
        for number, batch in enumerate(pulled.batches()):
            writing.add(f"calls/{number:06}", encode_batch(batch, _keep_text, _keep_text))
        definitions = json.dumps(pack_value(pulled.definitions, _keep_text), separators=(",", ":"))
        writing.add(DEFINITIONS, definitions.encode())
        writing.finish({"sources": "none", "redacted": None})


def _keep_text(text: str) -> str:
    return text


class _StoredCaptureReader:
    """Reads the definitions and calls of one capture from a store."""

    def __init__(self, connection: StoreConnection, row: Mapping[str, Any]) -> None:
        self._connection = connection
        self._row = row
        self._metadata = Metadata.parse(row["metadata"])
        if not 0 <= row["calls"] < _MAX_CALLS:
            raise ValueError("its number of calls is out of range")
        kinds = connection.rows(
            "SELECT boundary, function, thread, stack, error FROM call_kinds WHERE capture = ? ORDER BY first_call",
            [row["capture"]],
        )
        self._boundaries = _number_distinct((boundary, function) for boundary, function, *_ in kinds)
        self._threads = _number_distinct(thread for _, _, thread, _, _ in kinds)
        self._stacks = _number_distinct(stack for _, _, _, stack, _ in kinds)
        self._kinds: dict[tuple[str, str, str, str, int], int] = {}
        self._arguments: dict[str, int] = {}
        self._of_rows = np.zeros(row["calls"], np.uint32)  # kinds of the calls so far, for parents' own time
        self.definitions = self._read_definitions()

    def _incomplete_error(self, what: str) -> FramedexError:
        return FramedexError(
            f"Capture {self._row['capture']} is incomplete in the store: {what}.",
            self._connection.remedy(self._row["capture"]),
        )

    # Definitions

    def _read_definitions(self) -> Definitions:
        stacks = self._connection.rows(
            "SELECT id, frames, python, outcome, is_truncated FROM stacks WHERE id IN"
            " (SELECT stack FROM call_kinds WHERE capture = ?) ORDER BY id",
            [self._row["capture"]],
        )
        if len(stacks) != len(self._stacks):
            raise self._incomplete_error("stacks are missing")
        frames = _number_distinct(frame for _, frames, python, _, _ in stacks for frame in (*frames, *python))
        by_id = {
            key: Stack(
                tuple(frames[each] for each in reversed(chain)),
                tuple(frames[each] for each in reversed(python)),
                MergeOutcome(outcome),
                is_truncated,
            )
            for key, chain, python, outcome, is_truncated in stacks
        }
        tables = FrameTables()
        named = self._name_frames(frames, tables)
        return Definitions(
            metadata=shared_metadata(self._metadata, with_clock=True),
            paths=tables.paths,
            functions=tables.functions,
            frames=named,
            stacks=tuple(by_id[key] for key in self._stacks),
            boundaries=tuple(Function(boundary, name) for boundary, name in self._boundaries),
            threads=tuple(_thread(label, self._metadata.pid) for label in self._threads),
            calls=self._row["calls"],
            problems=(PULLED_CAPTURE_PROBLEM, *json.loads(self._row["problems"])),
            stops=StopReasons(),
            builds=tuple(builds_at(tables.paths, self._metadata)),
        )

    def _name_frames(self, frames: Mapping[str, int], tables: FrameTables) -> tuple[tuple[Any, ...], ...]:
        """Return the logical frames of each recorded frame, in the format of shared files."""
        of_id: dict[str, list[Any]] = {key: [] for key in frames}
        columns = 'id, language, role, function, symbol, path, line, how, module, "offset", first_line, is_returning'
        rows = self._connection.rows(
            f"SELECT {columns}, depth FROM frames WHERE id IN (SELECT unnest(frames || python) FROM stacks WHERE id IN"
            " (SELECT stack FROM call_kinds WHERE capture = ?)) ORDER BY id, depth",
            [self._row["capture"]],
        )
        for key, *row in rows:
            of_id[key].append(tables.frame(_record(*row)))
        if not all(of_id.values()):
            raise self._incomplete_error("frames are missing")
        return tuple(tuple(of_id[key]) for key in frames)

    # Calls

    def batches(self) -> Iterator[CallBatch]:
        """Yield the calls of the capture in batches. A capture without calls has one empty batch."""
        first = 0
        for table in self._connection.calls_of(self._row["capture"]):
            yield self._batch(first, table)
            first += len(table)
        if first != self._row["calls"]:
            raise self._incomplete_error(f"it has {first:,} of {words.count(self._row['calls'], 'call')}")
        if not first:
            yield self._batch(0, pa.table({name: [] for name in _COLUMNS}, _COLUMNS))

    def _batch(self, first: int, table: Any) -> CallBatch:
        row = np.arange(first, first + len(table))
        call, parent, start, duration = (
            table.column(name).fill_null(-1).to_numpy().astype(np.int64)
            for name in ("call", "parent", "start", "duration")
        )
        if not np.array_equal(call, row) or np.any(parent >= row) or first + len(table) > len(self._of_rows):
            raise self._incomplete_error("its calls are not consecutive")
        kind, new_kinds = self._numbers_of_kinds(table)
        argument, new_arguments = self._numbers_of_arguments(table)
        self._of_rows[first : first + len(table)] = kind
        function = np.array([self._boundaries[key[:2]] for key in self._kinds], np.int64)[kind]
        thread = np.array([self._threads[key[2]] for key in self._kinds], np.int64)[kind]
        return CallBatch(
            first=first,
            kinds=tuple(
                CallKind(self._boundaries[key[:2]], self._threads[key[2]], self._stacks[key[3]], key[4])
                for key in new_kinds
            ),
            arguments=new_arguments,
            kind=kind,
            inside=np.where(parent < 0, 0, row - parent),
            start=start - self._row["started"],
            duration=duration,
            argument=argument,
            totals=self._totals(first, kind, parent, duration),
            samples=samples_of(kind, argument),
            spans=spans_of(first, kind),
            durations=_durations(function, thread, duration),
            **WITHOUT_OBJECTS,
        )

    def _numbers_of_kinds(self, table: Any) -> tuple[Integers, Sequence[tuple[str, str, str, str, int]]]:
        """Return the kind number of each call, and the new kinds in order of appearance."""
        columns = [table.column(name).combine_chunks().dictionary_encode() for name in _KIND]
        codes = np.stack([column.indices.to_numpy(zero_copy_only=False) for column in columns], axis=1)
        met, at, of_call = np.unique(codes.astype(np.int64), axis=0, return_index=True, return_inverse=True)
        values = [column.dictionary.to_pylist() for column in columns]
        known = len(self._kinds)
        numbers = np.zeros(len(met), np.int64)
        for place in np.argsort(at).tolist():
            key = tuple(value[code] for value, code in zip(values, met[place].tolist(), strict=True))
            if key[3] not in self._stacks or key[:2] not in self._boundaries or key[2] not in self._threads:
                raise self._incomplete_error("kinds of its calls are missing")
            numbers[place] = self._kinds.setdefault(key, len(self._kinds))
        return numbers[of_call.reshape(-1)], list(self._kinds)[known:]

    def _numbers_of_arguments(self, table: Any) -> tuple[Integers, tuple[str, ...]]:
        """Return the number of each call's arguments, and the new texts in order of appearance."""
        column = table.column("arguments").combine_chunks().dictionary_encode()
        known = len(self._arguments)
        numbers = [self._arguments.setdefault(text, len(self._arguments)) for text in column.dictionary.to_pylist()]
        of_call = np.array(numbers, np.int64)[column.indices.to_numpy(zero_copy_only=False)]
        return of_call, tuple(list(self._arguments)[known:])

    def _totals(self, first: int, kind: Integers, parent: Integers, duration: Integers) -> KindTotals:
        """Return what the calls add to their kinds' totals. A nested call reduces the own time of its parent's kind."""
        took = np.maximum(duration, 0)
        inner = np.flatnonzero(parent >= 0)
        outer = self._of_rows[parent[inner]].astype(np.int64)
        kinds = np.unique(np.concatenate([kind, outer]))
        calls, total, own, longest, longest_call, first_call, latest = np.zeros((7, len(kinds)), np.int64)
        of_row = np.searchsorted(kinds, kind)
        np.add.at(calls, of_row, 1)
        np.add.at(total, of_row, took)
        own += total
        np.subtract.at(own, np.searchsorted(kinds, outer), took[inner])
        order = np.lexsort((np.arange(len(kind)), took, kind))
        longest_rows = order[np.append(kind[order][1:] != kind[order][:-1], True)[: len(order)]]
        at = of_row[longest_rows]
        longest[at], longest_call[at] = took[longest_rows], first + longest_rows
        rows = np.arange(len(kind))
        first_call[of_row[::-1]] = first + rows[::-1]
        latest[of_row] = first + rows
        return KindTotals(kinds, calls, total, own, longest, longest_call, first_call, latest)


_KIND = ("boundary", "function", "thread", "stack", "error")
_COLUMNS = pa.schema(
    [
        (name, pa.int64() if name not in ("boundary", "function", "thread", "stack", "arguments") else pa.string())
        for name in ("call", "parent", "start", "duration", *_KIND, "arguments")
    ]
)


def _number_distinct(values: Any) -> dict[Any, int]:
    """Number the distinct values in order of appearance."""
    found: dict[Any, int] = {}
    for value in values:
        found.setdefault(value, len(found))
    return found


def _thread(label: str, main: int | None) -> Thread:
    """Parse a thread's label. `main` is the main thread, whose id is the process id `main`."""
    match = _THREAD.fullmatch(label)
    if label == "main" or match is None:
        return Thread(main or 0, "" if label == "main" else label)
    return Thread(int(match[2]), match[1] or "")


def _durations(function: Integers, thread: Integers, duration: Integers) -> Integers:
    """Return a histogram of durations: rows (function, thread, bucket, calls)."""
    has_returned = duration >= 0
    columns = np.stack([column[has_returned] for column in (function, thread, duration)], axis=1)
    pairs, count = np.unique(columns, axis=0, return_counts=True)
    counted: Counter[tuple[int, int, int]] = Counter()
    for (of_function, of_thread, each), calls in zip(pairs.tolist(), count.tolist(), strict=True):
        counted[of_function, of_thread, duration_to_bucket(each)] += calls
    return np.array([(*key, calls) for key, calls in counted.items()], np.int64).reshape(-1, 4)


def _record(
    language: str,
    role: str,
    function: str,
    symbol: str,
    path: str | None,
    line: int,
    how: str | None,
    module: str,
    offset: int,
    first_line: int,
    is_returning: bool,
    depth: int,
) -> FrameRecord:
    """Convert a row of `frames` into a record for the index."""
    place = None if path is None or how is None else Location(path, line, LocationEvidence(how))
    is_exact = place is not None and place.how is LocationEvidence.EXACT
    named = FunctionRecord(
        Language(language), FrameRole(role), function, "", symbol, "", module, "", first_line, location=None
    )
    is_python = named.language is Language.PYTHON
    return FrameRecord(
        named,
        None,
        offset,
        depth,
        location=place if is_exact else None,
        is_returning=is_returning,
        line=line if is_python else 0,
        stored_location=None if is_exact else place,
    )
