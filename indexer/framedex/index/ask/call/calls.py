"""Questions about calls: lists, the call meant by a name, and the stack behind a call."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from framedex.errors import FramedexError
from framedex.index.ask.call.causal_links import dispatches
from framedex.index.ask.call.filters import boundaries_like, call_ranges, conditions
from framedex.index.ask.call.objects import name_objects
from framedex.index.ask.call.pythonlines import python_lines
from framedex.index.file.conventions import IN_JSON, LATEST_FIRST, Row, json_list
from framedex.index.read.rows import (
    CALL_COLUMNS,
    CALL_TABLES,
    CAPTURE_COLUMNS,
    Reader,
    call_row,
    capture_row,
    chain,
    frames_by_id,
)

if TYPE_CHECKING:
    from framedex.model import CallFilter, CallRow, FrameRow, FunctionTotals, PythonLine, Trace


@dataclass(frozen=True, slots=True)
class Calls:
    """The calls of all captures."""

    reader: Reader

    def find(self, wanted: CallFilter, limit: int | None = None) -> list[CallRow]:
        """The calls that pass the filter, by start time; with a limit the latest ones of them.

        Their objects have no names yet: `named` gives them to those that are shown.
        """
        restriction, parameters = conditions(self.reader, wanted)
        found: list[Row] = []
        for first, last in call_ranges(self.reader, wanted.capture):
            found.extend(
                self.reader.rows(
                    f"SELECT {CALL_COLUMNS} FROM {CALL_TABLES} WHERE c.id BETWEEN ? AND ?{restriction}"
                    " ORDER BY c.id DESC LIMIT ?",
                    first,
                    last,
                    *parameters,
                    -1 if limit is None else limit - len(found),
                )
            )
            if limit is not None and len(found) >= limit:
                break
        return [call_row(row) for row in reversed(found)]

    def with_stacks(self, stacks: Iterable[int], limit: int, capture: int | None = None) -> list[CallRow]:
        """The latest `limit` calls with one of the stacks, latest first, in a capture or in all.

        Their objects have no names yet.
        """
        ranges = list(call_ranges(self.reader, capture))
        found: dict[int, list[Row]] = {}
        for stack in stacks:
            left = limit
            for order, (first, last) in enumerate(ranges):
                rows = self.reader.rows(
                    f"SELECT {CALL_COLUMNS} FROM {CALL_TABLES} WHERE c.stack = ? AND c.id BETWEEN ? AND ?"
                    " ORDER BY c.id DESC LIMIT ?",
                    stack,
                    first,
                    last,
                    left,
                )
                found.setdefault(order, []).extend(rows)
                left -= len(rows)
                if left <= 0:
                    break
        latest = (row for order in sorted(found) for row in sorted(found[order], key=lambda row: -row[0]))
        return [call_row(row) for row in islice(latest, limit)]

    def count(self, wanted: CallFilter) -> int:
        """How many calls pass the filter."""
        restriction, parameters = conditions(self.reader, wanted)
        if not restriction:
            return sum(last - first + 1 for first, last in call_ranges(self.reader, wanted.capture))
        query = f"SELECT count(*) FROM calls c WHERE c.id BETWEEN ? AND ?{restriction}"
        return sum(
            self.reader.rows(query, first, last, *parameters)[0][0]
            for first, last in call_ranges(self.reader, wanted.capture)
        )

    def named(self, calls: Sequence[CallRow]) -> list[CallRow]:
        """The calls, with the names of the objects that are their arguments."""
        return name_objects(self.reader, calls)

    def python_lines(self, calls: Iterable[CallRow]) -> dict[int, PythonLine]:
        """The line of Python that led to each call, by its id: of the program itself where there is one.

        Of a call on a thread without Python, the line that had it made, if that is known to be one.
        """
        return python_lines(self.reader, {call.id: call.stack for call in calls})

    def totals(self, wanted: CallFilter, *, by_thread: bool = False) -> list[FunctionTotals]:
        """What the calls that pass the filter came to by boundary function, most time of their own first."""
        from framedex.index.ask.call.totals import function_totals  # with numpy, which other questions do without

        return function_totals(self.reader, wanted, by_thread=by_thread)

    def get(self, call_id: int) -> CallRow | None:
        """The call with this id."""
        row = self.reader.row(f"SELECT {CALL_COLUMNS} FROM {CALL_TABLES} WHERE c.id = ?", call_id)
        return None if row is None else name_objects(self.reader, [call_row(row)])[0]

    def latest(self, name: str) -> CallRow | None:
        """The latest call of the boundary function of this name, else of the only one whose name has it; or None.

        Raises FramedexError that lists the names where several fit.
        """
        fitting = boundaries_like(self.reader, name)
        counts: dict[str, int] = {}
        for _, fitting_name, made in fitting:
            counts[fitting_name] = counts.get(fitting_name, 0) + made
        if len(counts) > 1:
            listed = "\n".join(
                f"{made:>8,}  {each}" for each, made in sorted(counts.items(), key=lambda item: -item[1])
            )
            raise FramedexError(
                f"Several functions that were called match '{name}':\n{listed}", "Give more of the name you mean."
            )
        boundaries = json_list([row[0] for row in fitting])
        for first, last in call_ranges(self.reader, None):
            row = self.reader.row(
                f"SELECT max(id) FROM calls WHERE boundary {IN_JSON} AND id BETWEEN ? AND ?", boundaries, first, last
            )
            if row is not None and row[0] is not None:
                return self.get(row[0])
        return None

    def trace(self, call_id: int) -> Trace | None:
        """The call with every frame of its stack, outermost first; None where there is no such call."""
        # Those who list calls do without traces, and what is told with them.
        from framedex.index.ask.ffi_sites import origin
        from framedex.model import MergeOutcome, Trace

        found = self.get(call_id)
        if found is None:
            return None
        stack = self.reader.row("SELECT leaf, python_leaf, outcome, is_truncated FROM stacks WHERE id = ?", found.stack)
        capture = self.reader.row(f"SELECT {CAPTURE_COLUMNS} FROM captures p WHERE id = ?", found.capture)
        if stack is None or capture is None:
            return None
        leaf, python_leaf, outcome, is_truncated = stack
        native, python = chain(self.reader, leaf), chain(self.reader, python_leaf)
        frames = frames_by_id(self.reader, {*native, *python})
        return Trace(
            call=found,
            capture=capture_row(capture),
            frames=tuple(frames[frame] for frame in native),
            python=tuple(frames[frame] for frame in python),
            outcome=MergeOutcome(outcome),
            is_truncated=bool(is_truncated),
            origin=origin(self.reader, found.id),
            dispatched=dispatches(self.reader, found),
        )

    def trace_of_stack(self, stack_id: int) -> Trace | None:
        """The trace of the latest call with this stack."""
        row = self.reader.row(
            "SELECT c.id FROM stack_calls x JOIN calls c ON c.id = x.latest_call JOIN captures p ON p.id = c.capture"
            f" WHERE x.stack = ? ORDER BY {LATEST_FIRST} LIMIT 1",
            stack_id,
        )
        return None if row is None else self.trace(row[0])

    def chains_of_stack(self, stack_id: int) -> list[tuple[FrameRow, ...]]:
        """The chains of frames of a stack, outermost first.

        The merged one, that of Python where it stands apart, and that of the `ffi_call` which the stack was run for.
        """
        row = self.reader.row("SELECT leaf, python_leaf, site_leaf FROM stacks WHERE id = ?", stack_id)
        chains = [chain(self.reader, leaf) for leaf in row or () if leaf]
        frames = frames_by_id(self.reader, {frame for each in chains for frame in each})
        return [tuple(frames[frame] for frame in each) for each in chains]
