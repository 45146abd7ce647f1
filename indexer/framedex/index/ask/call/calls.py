"""Queries for calls: lists, the latest call of a name, and the stack of a call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import compress, islice
from typing import TYPE_CHECKING

from framedex.base import words
from framedex.base.errors import FramedexError
from framedex.index.ask.call.filters import (
    find_boundaries,
    find_passing_calls,
    find_stacks_through,
    find_working_boundaries,
)
from framedex.index.ask.call.objects import name_objects, read_object_names
from framedex.index.ask.call.python_lines import find_dispatches, read_python_lines
from framedex.index.ask.name.matching import suggest_boundary
from framedex.index.file.conventions import IN_JSON, LATEST_FIRST, Row, build_json_list
from framedex.index.file.paths import is_user_file
from framedex.index.read.rows import (
    CALL_COLUMNS,
    CALL_TABLES,
    CAPTURE_COLUMNS,
    Reader,
    build_call,
    build_capture,
    read_frame_chain,
    read_frames_by_id,
)
from framedex.index.read.spans import IdRange, iter_call_ranges, iter_calls
from framedex.index.read.subjects import scope_of_boundary
from framedex.model import FrameRole

if TYPE_CHECKING:
    from framedex.index.ask.call.filters import PassingCalls
    from framedex.index.ask.call.objects import ObjectNames
    from framedex.model import AnswerScope, CallFilter, CallRow, FrameRow, FunctionTotals, PythonLine, Trace
    from framedex.model.totals import ProfiledRun, ProfileTotals


_MAX_CANDIDATES = 20  # limit of names listed as candidates


@dataclass(frozen=True, slots=True)
class Calls:
    """The calls of all captures."""

    reader: Reader

    def find(self, call_filter: CallFilter, limit: int | None = None) -> list[CallRow]:
        """Return the calls that pass the filter, by start time; `limit` keeps the latest ones.

        Their objects have no names yet: call `with_object_names` for the calls that are shown.
        """
        found: list[Row] = []
        chosen = list(find_passing_calls(self.reader, call_filter))
        with self.reader.progress.expect_calls(sum(len(part.id_range) for part in chosen)):
            for part in chosen:
                rows = part.rows(self.reader, CALL_COLUMNS, backwards=True)
                found.extend(islice(rows, None if limit is None else limit - len(found)))
                if limit is not None and len(found) >= limit:
                    break
        return [build_call(row) for row in reversed(found)]

    def iterate(self, call_filter: CallFilter, limit: int | None = None) -> Iterator[CallRow]:
        """Yield the calls that pass the filter, by start time, without loading all of them into memory.

        `limit` keeps the latest ones. Their objects have no names yet.
        """
        chosen = list(find_passing_calls(self.reader, call_filter))
        if limit is not None:
            chosen = list(self._keep_latest(chosen, limit))
        with self.reader.progress.expect_calls(sum(len(part.id_range) for part in chosen)):
            for part in reversed(chosen):
                yield from map(build_call, part.rows(self.reader, CALL_COLUMNS, backwards=False))

    def _keep_latest(self, chosen: Iterable[PassingCalls], limit: int) -> Iterator[PassingCalls]:
        """Restrict the calls of each capture to the latest ones, `limit` in all, by raising the first id."""
        for part in chosen:
            first = None
            for row in islice(part.rows(self.reader, "c.id", backwards=True), limit):
                first = row[0]
                limit -= 1
            if first is not None:
                yield replace(part, id_range=replace(part.id_range, first=first))
            if not limit:
                return

    def find_by_stacks(self, stacks: Iterable[int], limit: int, capture: int | None = None) -> list[CallRow]:
        """Return the latest `limit` calls with one of the stacks, latest first, in one capture or in all.

        Their objects have no names yet.
        """
        wanted = build_json_list(stacks)
        found: list[Row] = []
        latest_run = f" AND p.run <= (SELECT max(run) FROM stack_calls WHERE stack {IN_JSON})"
        for identifier, first, last in iter_call_ranges(self.reader, capture, latest_run, wanted):
            rows = self.reader.rows(
                # CROSS JOIN makes SQLite start from the few stacks instead of all kinds of the capture.
                "SELECT k.id FROM json_each(?) s CROSS JOIN call_kinds k ON k.stack = s.value AND k.capture = ?"
                " WHERE k.calls > 0",
                wanted,
                identifier,
            )
            kinds = [kind for (kind,) in rows]
            if kinds:
                calls = iter_calls(self.reader, CALL_COLUMNS, kinds, IdRange(first, first, last), backwards=True)
                found.extend(islice(calls, limit - len(found)))
            if len(found) >= limit:
                break
        return [build_call(row) for row in found]

    def count(self, call_filter: CallFilter) -> int:
        """Return the number of calls that pass the filter; for an imported profile, its number of samples."""
        chosen = list(find_passing_calls(self.reader, call_filter))
        weighed = {
            capture
            for (capture,) in self.reader.rows(
                "SELECT id FROM captures WHERE json_extract(metadata, '$.foreign') IS NOT NULL"
            )
        }
        summed = [part.selects_whole_kinds and (part.kinds is None or part.capture not in weighed) for part in chosen]
        count: int = sum(part.calls for part in compress(chosen, summed))
        unsummed = [part for part, is_summed in zip(chosen, summed, strict=True) if not is_summed]
        with self.reader.progress.expect_calls(sum(len(part.id_range) for part in unsummed)):
            for part in unsummed:
                count += sum(passed for (passed,) in part.aggregate(self.reader, "count(*)"))
        return count

    def with_object_names(self, calls: Sequence[CallRow]) -> list[CallRow]:
        """Return the calls with the names of their argument objects."""
        return name_objects(self.reader, calls)

    def object_names(self, calls: Sequence[CallRow]) -> list[ObjectNames]:
        """Return the names of the argument objects of each call."""
        return read_object_names(self.reader, calls)

    def python_lines(self, calls: Iterable[CallRow]) -> dict[int, PythonLine]:
        """Return the Python line that led to each call, by call id: of the user's program if there is one.

        A call on a native thread gets the line that dispatched it, if there is only one candidate.
        """
        return read_python_lines(self.reader, {call.id: call.stack for call in calls})

    def profile_totals(self, call_filter: CallFilter, *, by_thread: bool = False) -> list[ProfileTotals]:
        """Return the self and total weight of profile samples by function: one table per value (and thread)."""
        from framedex.index.ask.call.profiles import read_profile_totals

        return read_profile_totals(self.reader, call_filter, by_thread=by_thread)

    def totals(self, call_filter: CallFilter, *, by_thread: bool = False) -> list[FunctionTotals]:
        """Return the totals of the calls that pass the filter by boundary function, most self time first."""
        from framedex.index.ask.call.totals import sum_functions

        return sum_functions(self.reader, call_filter, by_thread=by_thread)

    def get(self, call_id: int) -> CallRow | None:
        """Return the call with this id, or None."""
        row = self.reader.row(f"SELECT {CALL_COLUMNS} FROM {CALL_TABLES} WHERE c.id = ?", call_id)
        return None if row is None else name_objects(self.reader, [build_call(row)])[0]

    def latest(self, name: str) -> CallRow | None:
        """Return the latest call that a name selects; None if it selects none.

        A name first selects the boundary function of this name, or the only one whose name ends with it. Next are the
        user's own functions, then the only boundary function whose name contains it. Any other function is last. Raises
        FramedexError with a list of names if several boundary functions match.
        """
        from framedex.index.ask.name.functions import match_functions

        matching = find_boundaries(self.reader, name)
        last = [row for row in matching if row[1].lower().endswith(f"_{name.lower()}")]
        if len(last) == 1 or any(row[1] == name for row in matching):
            return self._find_latest_of_boundaries(last if len(last) == 1 else matching)
        matches = match_functions(self.reader, name)
        functions = [function for function in matches.functions if matches.is_name]
        if own := [each.id for each in functions if is_user_file(each.module) and each.role is FrameRole.CODE]:
            return self._find_latest_through(own)
        if not matching:
            return self._find_latest_through([function.id for function in functions])
        counts: dict[str, int] = {}
        for _, fitting_name, count in matching:
            counts[fitting_name] = counts.get(fitting_name, 0) + count
        if len(counts) > 1:
            ranked = sorted(counts.items(), key=lambda item: -item[1])
            listed = [f"{count:>8,}  {each}" for each, count in ranked[:_MAX_CANDIDATES]]
            if len(ranked) > _MAX_CANDIDATES:
                listed.append(f"{'':8}  and {words.count(len(ranked) - _MAX_CANDIDATES, 'more function')}")
            raise FramedexError(
                "\n".join([f"'{name}' matches several called functions:", *listed]),
                "Specify a longer part of the name.",
            )
        return self._find_latest_of_boundaries(matching)

    def is_called(self, name: str) -> bool:
        """Whether a recorded boundary function contains this name."""
        return bool(find_boundaries(self.reader, name))

    def suggest_name(self, name: str) -> str | None:
        """Return the boundary function, or a word of one, most similar to this unknown name."""
        return suggest_boundary(self.reader, name)

    def _find_latest_of_boundaries(self, boundaries: Sequence[Row]) -> CallRow | None:
        """Return the latest call of the boundary functions whose ids are in the first column."""
        return self._find_latest_where(f"boundary {IN_JSON}", build_json_list([row[0] for row in boundaries]))

    def _find_latest_through(self, functions: Sequence[int]) -> CallRow | None:
        """Return the latest working call through these functions, otherwise the latest call of any kind."""
        if not functions:
            return None
        stacks = build_json_list(find_stacks_through(self.reader, functions))
        works = build_json_list(find_working_boundaries(self.reader))
        return self._find_latest_where(
            f"stack {IN_JSON} AND +boundary {IN_JSON}", stacks, works
        ) or self._find_latest_where(f"stack {IN_JSON}", stacks)

    def _find_latest_where(self, condition: str, *parameters: object) -> CallRow | None:
        """Return the latest call whose kind matches a condition."""
        row = self.reader.row(
            f"SELECT max(k.latest_call) FROM call_kinds k JOIN captures p ON p.id = k.capture WHERE {condition}"
            " AND p.calls > 0 GROUP BY p.id HAVING max(k.latest_call) IS NOT NULL"
            " ORDER BY p.run DESC, p.started DESC, p.id DESC LIMIT 1",
            *parameters,
        )
        return None if row is None else self.get(row[0])

    def answer_of(self, call: CallRow) -> AnswerScope:
        """Return the scope of an answer about the latest call of a boundary function: the call's capture."""
        return scope_of_boundary(self.reader, call.capture, call.function)

    def trace(self, call_id: int) -> Trace | None:
        """Return the call with every frame of its stack, outermost first; None if there is no such call."""
        # Imported here, because queries for lists of calls need no traces.
        from framedex.index.ask.ffi_sites import find_origin
        from framedex.model import MergeOutcome, Trace

        found = self.get(call_id)
        if found is None:
            return None
        stack = self.reader.row("SELECT leaf, python_leaf, outcome, is_truncated FROM stacks WHERE id = ?", found.stack)
        capture = self.reader.row(f"SELECT {CAPTURE_COLUMNS} FROM captures p WHERE id = ?", found.capture)
        if stack is None or capture is None:
            return None
        leaf, python_leaf, outcome, is_truncated = stack
        native, python = read_frame_chain(self.reader, leaf), read_frame_chain(self.reader, python_leaf)
        frames = read_frames_by_id(self.reader, {*native, *python})
        return Trace(
            call=found,
            capture=build_capture(capture),
            frames=tuple(frames[frame] for frame in native),
            python=tuple(frames[frame] for frame in python),
            outcome=MergeOutcome(outcome),
            is_truncated=bool(is_truncated),
            origin=find_origin(self.reader, found.id),
            dispatched=find_dispatches(self.reader, found),
        )

    def find_profiled_run(self, call: CallRow) -> ProfiledRun | None:
        """Return an imported profile's ops for a call; None if there are none or the match is ambiguous."""
        from framedex.index.ask.call.profiles import find_profiled_run

        return find_profiled_run(self, call)

    def trace_of_stack(self, stack_id: int) -> Trace | None:
        """Return the trace of the latest call with this stack, or None."""
        row = self.reader.row(
            "SELECT c.id FROM stack_calls x JOIN calls c ON c.id = x.latest_call JOIN captures p ON p.id = c.capture"
            f" WHERE x.stack = ? ORDER BY {LATEST_FIRST} LIMIT 1",
            stack_id,
        )
        return None if row is None else self.trace(row[0])

    def call_chains_of_stack(self, stack_id: int) -> list[tuple[FrameRow, ...]]:
        """Return the frame chains of a stack, outermost first.

        These are the merged chain, the Python chain if it could not be merged, and the chain of the `ffi_call` that
        caused the run.
        """
        row = self.reader.row("SELECT leaf, python_leaf, site_leaf FROM stacks WHERE id = ?", stack_id)
        chains = [read_frame_chain(self.reader, leaf) for leaf in row or () if leaf]
        frames = read_frames_by_id(self.reader, {frame for each in chains for frame in each})
        return [tuple(frames[frame] for frame in each) for each in chains]
