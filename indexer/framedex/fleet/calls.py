"""The calls of a capture as they come, into a Parquet file, and what they come to, kind by kind."""

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
from framedex.index.write.capture import thread_label
from framedex.objects import ViolationKind

if TYPE_CHECKING:
    from framedex.fleet.origin import Origin
    from framedex.model import CallBatch, Capture

Integers = npt.NDArray[np.int64]

CALLS_AT_ONCE = 1 << 17
"""Calls that are read at once, which are a group of rows in a file: some 40 MB."""

_DICTIONARY = ["capture", "boundary", "function", "thread", "stack", "error", "arguments"]
# Numbers that grow by little: what each is after the one before is kept.
_DELTAS = dict.fromkeys(("call", "parent", "start"), "DELTA_BINARY_PACKED")
_LARGEST_DICTIONARY = 1 << 28  # bytes: as texts of arguments in full, most calls would take ten times as much

AS_WRITTEN = pa.schema(
    [
        pa.field(each.name, pa.dictionary(pa.int32(), pa.string()) if each.type == pa.string() else each.type)
        for each in CALLS
    ]
)
"""The columns of calls as they are handed to be written: the file has texts, each once in a group of rows."""


class CallsFile:
    """A file of calls that is being written: a context manager. `kinds` and `misuse` are of the calls so far."""

    def __init__(self, path: Path, origin: Origin, capture: Capture, stacks: Sequence[str]) -> None:
        """`stacks` has the id of each stack of the capture."""
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

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._writer.close()

    def add(self, batch: CallBatch) -> None:
        """Write the next calls."""
        self._meet(batch)
        self._add_totals(batch)
        row = np.arange(batch.first, batch.first + len(batch))
        used, kind = np.unique(batch.kind, return_inverse=True)
        boundary, function, thread, stack, error = zip(*(self._kinds[each] for each in used.tolist()), strict=True)
        met, argument = np.unique(batch.argument, return_inverse=True)
        columns = {
            "capture": _repeated([self._origin.capture], np.zeros(len(batch), np.int64)),
            "call": pa.array(row),
            "parent": pa.array(row - batch.inside, mask=batch.inside == 0),
            "start": pa.array(batch.start + self._origin.began),
            "duration": pa.array(batch.duration, mask=batch.duration < 0),
            "boundary": _repeated(boundary, kind),
            "function": _repeated(function, kind),
            "thread": _repeated(thread, kind),
            "stack": _repeated(stack, kind),
            "error": pa.array(np.array(error, np.int64)[kind]),
            "arguments": _repeated([self._arguments[each] for each in met.tolist()], argument),
        }
        self._writer.write_table(pa.table(columns, AS_WRITTEN), row_group_size=max(len(batch), 1))

    def kinds(self) -> list[dict[str, Any]]:
        """What the calls come to: a row for each boundary function, thread, stack and error."""
        names = ("boundary", "function", "thread", "stack", "error")
        return [
            {"capture": self._origin.capture, **dict(zip(names, kind, strict=True)), **sums}
            for kind, sums in sorted(self._sums.items())
        ]

    def _meet(self, batch: CallBatch) -> None:
        capture = self._capture
        for kind in batch.kinds:
            function, thread = capture.functions[kind.function], capture.threads[kind.thread]
            label = thread_label(thread, capture.metadata.pid)
            names = (to_storable(function.boundary), to_storable(function.name), label)
            self._kinds.append((*names, self._stacks[kind.stack], kind.error))
        self._arguments += map(to_storable, batch.arguments)
        kinds = list(ViolationKind)
        for place in batch.violations[:, 0].tolist():
            name = kinds[place].value
            self.misuse[name] = self.misuse.get(name, 0) + 1

    def _add_totals(self, batch: CallBatch) -> None:
        told = batch.totals
        columns = (
            *(told.kind, told.calls, told.duration, told.own_duration),
            *(told.longest, told.longest_call, told.first_call, told.latest_call),
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
    """What writes calls into a new file, each of its columns as it takes least room."""
    return parquet.ParquetWriter(
        path,
        AS_WRITTEN,
        compression="zstd",
        use_dictionary=_DICTIONARY,
        column_encoding=_DELTAS,
        dictionary_pagesize_limit=_LARGEST_DICTIONARY,
        store_schema=False,
    )


def _repeated(texts: Sequence[str], places: Integers) -> Any:
    """The texts at these places as a column; each stands once beside it, without which it would be written in full."""
    met: dict[str, int] = {}
    numbers = np.array([met.setdefault(text, len(met)) for text in texts], np.int32)
    return pa.DictionaryArray.from_arrays(pa.array(numbers[places]), pa.array(list(met), pa.string()))
