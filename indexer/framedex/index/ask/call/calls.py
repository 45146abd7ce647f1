"""Queries for calls: lists, the latest call of a name, and the stack of a call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import compress, islice
from typing import TYPE_CHECKING

from framedex import words
from framedex.errors import FramedexError
from framedex.index.ask.answers import answer_of_boundary
from framedex.index.ask.call.causal_links import dispatches
from framedex.index.ask.call.filters import boundaries_like, boundaries_that_work, call_ranges, passing, stacks_through
from framedex.index.ask.call.objects import name_objects, object_names
from framedex.index.ask.call.profile_totals import profile_totals
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
from framedex.index.read.spans import Ids, calls_in
from framedex.model import Role

if TYPE_CHECKING:
    from framedex.index.ask.call.filters import Passing
    from framedex.index.ask.call.objects import ObjectNames
    from framedex.model import AnswerOf, CallFilter, CallRow, FrameRow, FunctionTotals, PythonLine, Trace
    from framedex.model.profile_totals import ProfileTotals
    from framedex.model.profiled import ProfiledRun


_MOST_LISTED = 20  # limit of names listed as candidates


@dataclass(frozen=True, slots=True)
class Calls:
    """The calls of all captures."""

    reader: Reader

    def find(self, wanted: CallFilter, limit: int | None = None) -> list[CallRow]:
        """Return the calls that pass the filter, by start time; `limit` keeps the latest ones.

        Their objects have no names yet: `named` adds these to the calls that are shown.
        """
        found: list[Row] = []
        chosen = list(passing(self.reader, wanted))
        with self.reader.looking.through(sum(len(some.ids) for some in chosen)):
            for some in chosen:
                rows = some.rows(self.reader, CALL_COLUMNS, backwards=True)
                found.extend(islice(rows, None if limit is None else limit - len(found)))
                if limit is not None and len(found) >= limit:
                    break
        return [call_row(row) for row in reversed(found)]

    def each(self, wanted: CallFilter, limit: int | None = None) -> Iterator[CallRow]:
        """Yield the calls that pass the filter, by start time, without loading all of them into memory.

        `limit` keeps the latest ones. Their objects have no names yet.
        """
        chosen = list(passing(self.reader, wanted))
        if limit is not None:
            chosen = list(self._latest_passing(chosen, limit))
        with self.reader.looking.through(sum(len(some.ids) for some in chosen)):
            for some in reversed(chosen):
                yield from map(call_row, some.rows(self.reader, CALL_COLUMNS, backwards=False))

    def _latest_passing(self, chosen: Iterable[Passing], limit: int) -> Iterator[Passing]:
        """Restrict the calls of each capture to the latest ones, `limit` in all, by raising the first id."""
        for some in chosen:
            first = None
            for row in islice(some.rows(self.reader, "c.id", backwards=True), limit):
                first = row[0]
                limit -= 1
            if first is not None:
                yield replace(some, ids=replace(some.ids, first=first))
            if not limit:
                return

    def with_stacks(self, stacks: Iterable[int], limit: int, capture: int | None = None) -> list[CallRow]:
        """Return the latest `limit` calls with one of the stacks, latest first, in one capture or in all.

        Their objects have no names yet.
        """
        wanted = json_list(stacks)
        found: list[Row] = []
        for identifier, first, last in call_ranges(self.reader, capture):
            rows = self.reader.rows(
                # +capture makes SQLite start from the few stacks instead of all kinds of the capture.
                f"SELECT id FROM call_kinds WHERE stack {IN_JSON} AND +capture = ? AND calls > 0",
                wanted,
                identifier,
            )
            kinds = [kind for (kind,) in rows]
            if kinds:
                calls = calls_in(self.reader, CALL_COLUMNS, kinds, Ids(first, first, last), backwards=True)
                found.extend(islice(calls, limit - len(found)))
            if len(found) >= limit:
                break
        return [call_row(row) for row in found]

    def count(self, wanted: CallFilter) -> int:
        """Return the number of calls that pass the filter; for an imported profile, its number of samples."""
        chosen = list(passing(self.reader, wanted))
        weighed = {
            capture
            for (capture,) in self.reader.rows(
                "SELECT id FROM captures WHERE json_extract(metadata, '$.foreign') IS NOT NULL"
            )
        }
        summed = [some.is_of_kinds and (some.kinds is None or some.capture not in weighed) for some in chosen]
        count: int = sum(some.calls for some in compress(chosen, summed))
        looked_at = [some for some, is_summed in zip(chosen, summed, strict=True) if not is_summed]
        with self.reader.looking.through(sum(len(some.ids) for some in looked_at)):
            for some in looked_at:
                count += sum(passed for (passed,) in some.aggregated(self.reader, "count(*)"))
        return count

    def named(self, calls: Sequence[CallRow]) -> list[CallRow]:
        """Return the calls with the names of their argument objects."""
        return name_objects(self.reader, calls)

    def object_names(self, calls: Sequence[CallRow]) -> list[ObjectNames]:
        """Return the names of the argument objects of each call."""
        return object_names(self.reader, calls)

    def python_lines(self, calls: Iterable[CallRow]) -> dict[int, PythonLine]:
        """Return the Python line that led to each call, by call id: of the user's program if there is one.

        A call on a thread without Python gets the line that dispatched it, if there is only one candidate.
        """
        return python_lines(self.reader, {call.id: call.stack for call in calls})

    def profile_totals(self, wanted: CallFilter, *, by_thread: bool = False) -> list[ProfileTotals]:
        """Return the self and total weight of profile samples by function: one table per value (and thread)."""
        return profile_totals(self.reader, wanted, by_thread=by_thread)

    def totals(self, wanted: CallFilter, *, by_thread: bool = False) -> list[FunctionTotals]:
        """Return the totals of the calls that pass the filter by boundary function, most self time first."""
        from framedex.index.ask.call.totals import function_totals

        return function_totals(self.reader, wanted, by_thread=by_thread)

    def get(self, call_id: int) -> CallRow | None:
        """Return the call with this id, or None."""
        row = self.reader.row(f"SELECT {CALL_COLUMNS} FROM {CALL_TABLES} WHERE c.id = ?", call_id)
        return None if row is None else name_objects(self.reader, [call_row(row)])[0]

    def latest(self, name: str) -> CallRow | None:
        """Return the latest call of the boundary function of this name, or of the only one that ends with it; or None.

        Otherwise it is the latest call that passes a function of the user's own of this name. The next choices are the
        only boundary function that contains the name, then any function of this name. Raises FramedexError with a list
        of names if several match.
        """
        from framedex.index.ask.name.meant import meant_functions
        from framedex.index.file.installed import is_own

        fitting = boundaries_like(self.reader, name)
        last = [row for row in fitting if row[1].lower().endswith(f"_{name.lower()}")]
        if len(last) == 1 or any(row[1] == name for row in fitting):
            return self._latest_of(last if len(last) == 1 else fitting)
        meant = meant_functions(self.reader, name)
        named = [function for function in meant.functions if meant.is_name]
        if own := [each.id for each in named if is_own(each.module) and each.role is Role.CODE]:
            return self._latest_through(own)
        if not fitting:
            return self._latest_through([function.id for function in named])
        counts: dict[str, int] = {}
        for _, fitting_name, made in fitting:
            counts[fitting_name] = counts.get(fitting_name, 0) + made
        if len(counts) > 1:
            ranked = sorted(counts.items(), key=lambda item: -item[1])
            listed = [f"{made:>8,}  {each}" for each, made in ranked[:_MOST_LISTED]]
            if len(ranked) > _MOST_LISTED:
                listed.append(f"{'':8}  and {words.count(len(ranked) - _MOST_LISTED, 'more function')}")
            raise FramedexError(
                "\n".join([f"Several functions that were called match '{name}':", *listed]),
                "Give a longer part of the name.",
            )
        return self._latest_of(fitting)

    def is_called(self, name: str) -> bool:
        """Whether a recorded boundary function contains this name."""
        return bool(boundaries_like(self.reader, name))

    def likely(self, name: str) -> str | None:
        """Return the boundary function, or a word of one, most similar to this unknown name."""
        from framedex.index.ask.name.likely import likely_boundary

        return likely_boundary(self.reader, name)

    def _latest_of(self, boundaries: Sequence[Row]) -> CallRow | None:
        """Return the latest call of the boundary functions whose ids are in the first column."""
        return self._latest_where(f"boundary {IN_JSON}", json_list([row[0] for row in boundaries]))

    def _latest_through(self, functions: Sequence[int]) -> CallRow | None:
        """Return the latest call through these functions that does work, otherwise the latest call of any kind."""
        if not functions:
            return None
        stacks = json_list(stacks_through(self.reader, functions))
        works = json_list(boundaries_that_work(self.reader))
        return self._latest_where(f"stack {IN_JSON} AND +boundary {IN_JSON}", stacks, works) or self._latest_where(
            f"stack {IN_JSON}", stacks
        )

    def _latest_where(self, condition: str, *parameters: object) -> CallRow | None:
        """Return the latest call whose kind matches a condition."""
        query = f"SELECT max(latest_call) FROM call_kinds WHERE {condition} AND +capture = ?"
        for capture, _, _ in call_ranges(self.reader, None):
            row = self.reader.row(query, *parameters, capture)
            if row is not None and row[0] is not None:
                return self.get(row[0])
        return None

    def answer_of(self, call: CallRow) -> AnswerOf:
        """Return the capture that an answer about the latest call of a boundary function covers."""
        return answer_of_boundary(self.reader, call.capture, call.function)

    def trace(self, call_id: int) -> Trace | None:
        """Return the call with every frame of its stack, outermost first; None if there is no such call."""
        # Imported here because lists of calls need no traces.
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

    def profiled(self, call: CallRow) -> ProfiledRun | None:
        """Return an imported profile's ops for a call; None if there are none or the match is ambiguous."""
        from framedex.index.ask.call.profiled import profiled_run

        return profiled_run(self, call)

    def trace_of_stack(self, stack_id: int) -> Trace | None:
        """Return the trace of the latest call with this stack, or None."""
        row = self.reader.row(
            "SELECT c.id FROM stack_calls x JOIN calls c ON c.id = x.latest_call JOIN captures p ON p.id = c.capture"
            f" WHERE x.stack = ? ORDER BY {LATEST_FIRST} LIMIT 1",
            stack_id,
        )
        return None if row is None else self.trace(row[0])

    def chains_of_stack(self, stack_id: int) -> list[tuple[FrameRow, ...]]:
        """Return the frame chains of a stack, outermost first.

        These are the merged chain, the Python chain if it could not be merged, and the chain of the `ffi_call` behind
        the run.
        """
        row = self.reader.row("SELECT leaf, python_leaf, site_leaf FROM stacks WHERE id = ?", stack_id)
        chains = [chain(self.reader, leaf) for leaf in row or () if leaf]
        frames = frames_by_id(self.reader, {frame for each in chains for frame in each})
        return [tuple(frames[frame] for frame in each) for each in chains]
