"""Write the calls of a capture to a Parquet file, and sum them up by kind."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from framedex.fleet.libraries import pa, parquet
from framedex.fleet.schema import CALLS
from framedex.index.file.values import to_storable
from framedex.index.write.capture import build_thread_label
from framedex.programs.objects import ViolationKind

if TYPE_CHECKING:
    from framedex.fleet.origin import Origin
    from framedex.model import CallBatch, Capture

Integers = npt.NDArray[np.int64]

CALLS_AT_ONCE = 1 << 17
"""Calls per read, and per row group of a file: some 40 MB."""

_DICTIONARY = ["capture", "boundary", "function", "thread", "stack", "error", "arguments"]
# Slowly growing numbers are stored as differences.
_DELTAS = dict.fromkeys(("call", "parent", "start"), "DELTA_BINARY_PACKED")
_MAX_DICTIONARY_BYTES = 1 << 28  # bytes; without a dictionary, argument texts take ten times the room

WRITE_SCHEMA = pa.schema(
    [
        pa.field(each.name, pa.dictionary(pa.int32(), pa.string()) if each.type == pa.string() else each.type)
        for each in CALLS
    ]
)
"""The columns of calls in memory while a file is written, with texts as dictionaries. The file stores each text once
per row group."""


class CallsFile:
    """Writes a file of calls: a context manager. `kinds` and `misuse` cover the calls so far."""

    def __init__(self, path: Path, origin: Origin, capture: Capture, stacks: Sequence[str]) -> None:
        """Create the file. `stacks` has the id of each stack of the capture."""
        self._origin = origin
        self._capture = capture
        self._stacks = stacks
        self._kinds: list[tuple[str, str, str, str, int]] = []
        self._arguments: list[str] = []
        self._sums: dict[tuple[str, str, str, str, int], dict[str, int]] = {}
        self.misuse: dict[str, int] = {}
        self._writer = calls_writer(path)

    def __enter__(self) -> CallsFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._writer.close()

    def add(self, batch: CallBatch) -> None:
        """Write a batch of calls."""
        self._add_batch(batch)
        self._add_totals(batch)
        row = np.arange(batch.first, batch.first + len(batch))
        used, kind = np.unique(batch.kind, return_inverse=True)
        boundary, function, thread, stack, error = zip(*(self._kinds[each] for each in used.tolist()), strict=True)
        met, argument = np.unique(batch.argument, return_inverse=True)
        columns = {
            "capture": _encode_repeated_texts([self._origin.capture], np.zeros(len(batch), np.int64)),
            "call": pa.array(row),
            "parent": pa.array(row - batch.inside, mask=batch.inside == 0),
            "start": pa.array(batch.start + self._origin.started_ns),
            "duration": pa.array(batch.duration, mask=batch.duration < 0),
            "boundary": _encode_repeated_texts(boundary, kind),
            "function": _encode_repeated_texts(function, kind),
            "thread": _encode_repeated_texts(thread, kind),
            "stack": _encode_repeated_texts(stack, kind),
            "error": pa.array(np.array(error, np.int64)[kind]),
            "arguments": _encode_repeated_texts([self._arguments[each] for each in met.tolist()], argument),
        }
        self._writer.write_table(pa.table(columns, WRITE_SCHEMA), row_group_size=max(len(batch), 1))

    def kinds(self) -> list[dict[str, Any]]:
        """Return the totals of the calls: a row for each boundary function, thread, stack and error."""
        names = ("boundary", "function", "thread", "stack", "error")
        return [
            {"capture": self._origin.capture, **dict(zip(names, kind, strict=True)), **sums}
            for kind, sums in sorted(self._sums.items())
        ]

    def _add_batch(self, batch: CallBatch) -> None:
        capture = self._capture
        for kind in batch.kinds:
            function, thread = capture.functions[kind.function], capture.threads[kind.thread]
            label = build_thread_label(thread, capture.metadata.pid)
            names = (to_storable(function.boundary), to_storable(function.name), label)
            self._kinds.append((*names, self._stacks[kind.stack], kind.error))
        self._arguments += map(to_storable, batch.arguments)
        kinds = list(ViolationKind)
        for place in batch.violations[:, 0].tolist():
            name = kinds[place].value
            self.misuse[name] = self.misuse.get(name, 0) + 1

    def _add_totals(self, batch: CallBatch) -> None:
        totals = batch.totals
        columns = (
            *(totals.kind, totals.calls, totals.duration, totals.own_duration),
            *(totals.longest, totals.longest_call, totals.first_call, totals.latest_call),
        )
        for kind, calls, duration, own, longest, longest_call, first, latest in zip(
            *(column.tolist() for column in columns), strict=True
        ):
            sums = self._sums.setdefault(self._kinds[kind], {})
            if longest > sums.get("longest", -1):
                sums |= {"longest": longest, "longest_call": longest_call}
            sums["calls"] = sums.get("calls", 0) + calls
            sums["duration"] = sums.get("duration", 0) + duration
            sums["own_duration"] = sums.get("own_duration", 0) + own
            sums["first_call"] = min(sums.get("first_call", first), first)
            sums["latest_call"] = max(sums.get("latest_call", latest), latest)


def calls_writer(path: Path) -> Any:
    """Return a Parquet writer for calls, with the smallest encoding for each column."""
    return parquet.ParquetWriter(
        path,
        WRITE_SCHEMA,
        compression="zstd",
        use_dictionary=_DICTIONARY,
        column_encoding=_DELTAS,
        dictionary_pagesize_limit=_MAX_DICTIONARY_BYTES,
        store_schema=False,
    )


def _encode_repeated_texts(texts: Sequence[str], positions: Integers) -> Any:
    """Return the texts at these positions as a dictionary column, which stores each text once."""
    met: dict[str, int] = {}
    numbers = np.array([met.setdefault(text, len(met)) for text in texts], np.int32)
    return pa.DictionaryArray.from_arrays(pa.array(numbers[positions]), pa.array(list(met), pa.string()))
