"""Calls for exports: narrow rows of the calls that pass a filter, their weights, and their stacks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

from framedex.index.ask.call.filters import PassingCalls, find_passing_calls, slice_ids
from framedex.index.ask.call.objects import read_object_ranges
from framedex.index.ask.call.python_lines import read_lines_of_nodes
from framedex.index.file.conventions import IN_JSON, PYTHON_LEAF, Row, build_json_list
from framedex.index.file.values import to_unsigned
from framedex.index.read.rows import CALL_COLUMNS, Reader, build_call, read_frames_by_id
from framedex.index.read.spans import IdRange
from framedex.model.totals import CallWeights, KindRow, LinkRow, StackRow, ThreadRow

if TYPE_CHECKING:
    from framedex.model import BinaryId, CallFilter, CallRow, FrameRow, PythonLine

_NARROW_TABLES = "call_rows c CROSS JOIN call_kinds k ON k.id = c.kind"
_GROUPS_PER_QUERY = 5_000  # groups of calls per query

Label = tuple[str, ...]
Labelling = Callable[[int, str], Label]
"""Maps (capture, JSON of arguments) to the label by which calls are grouped."""


@dataclass(frozen=True)
class ExportedCalls:
    """The calls that pass a filter, the oldest capture first. Times are in ns since the start of a capture."""

    reader: Reader
    wanted: CallFilter

    @cached_property
    def _passing_calls(self) -> tuple[PassingCalls, ...]:
        return tuple(reversed(list(find_passing_calls(self.reader, self.wanted))))

    @cached_property
    def kinds(self) -> dict[int, KindRow]:
        """The kinds of calls that may pass the filter, by id; a filter on single calls may leave some of them empty."""
        found: dict[int, KindRow] = {}
        for part in self._passing_calls:
            chosen = f" AND k.id {IN_JSON}" if part.kinds is not None else ""
            rows = self.reader.rows(
                "SELECT k.id, k.capture, b.name, b.boundary, k.thread, k.stack, k.error FROM call_kinds k"
                f" JOIN boundaries b ON b.id = k.boundary WHERE k.capture = ? AND k.calls > 0{chosen} ORDER BY k.id",
                part.capture,
                *([] if part.kinds is None else [build_json_list(part.kinds)]),
            )
            found.update((row[0], KindRow(*row)) for row in rows)
        return found

    @property
    def selects_whole_kinds(self) -> bool:
        """Whether the filter selects whole kinds, so that no single call is read."""
        return all(part.selects_whole_kinds for part in self._passing_calls)

    @cached_property
    def has_durations(self) -> bool:
        """Whether the kinds have durations; samples from another recorder may only be counted."""
        query = f"SELECT EXISTS (SELECT 1 FROM call_kinds WHERE own_duration > 0 AND id {IN_JSON})"
        ((has_time,),) = self.reader.rows(query, build_json_list(self.kinds))
        return bool(has_time)

    @cached_property
    def threads(self) -> dict[int, ThreadRow]:
        """All threads of the captures, by id: a thread without calls may have dispatched calls to others."""
        wanted = build_json_list(part.capture for part in self._passing_calls)
        query = f"SELECT id, capture, tid, name, label FROM threads WHERE capture {IN_JSON} ORDER BY id"
        return {row[0]: ThreadRow(*row) for row in self.reader.rows(query, wanted)}

    @cached_property
    def stacks(self) -> dict[int, StackRow]:
        """The stacks of the kinds, by id."""
        rows = self.reader.rows(
            f"SELECT s.id, s.leaf, s.python_leaf, s.site_leaf, {PYTHON_LEAF}, s.is_truncated FROM stacks s"
            f" WHERE s.id {IN_JSON}",
            build_json_list({kind.stack for kind in self.kinds.values()}),
        )
        return {row[0]: StackRow(row[0], row[1], row[2], row[3], row[4], bool(row[5])) for row in rows}

    def nodes(self, leaves: Collection[int]) -> dict[int, tuple[int, int]]:
        """Return (parent or 0, frame) of these nodes and all their ancestors, by id."""
        rows = self.reader.rows(
            f"WITH RECURSIVE up(node) AS (SELECT id FROM nodes WHERE id {IN_JSON}"
            " UNION SELECT n.parent FROM up JOIN nodes n ON n.id = up.node)"
            " SELECT n.id, n.parent, n.frame FROM up JOIN nodes n ON n.id = up.node",
            build_json_list(leaves),
        )
        return {node: (parent, frame) for node, parent, frame in rows}

    def frames(self, frames: Iterable[int]) -> dict[int, FrameRow]:
        """Return frames by id."""
        return read_frames_by_id(self.reader, frames)

    def binaries(self, frames: Iterable[int]) -> dict[int, BinaryId]:
        """Return the binaries of native frames, by frame id."""
        from framedex.model import BinaryId

        rows = self.reader.rows(
            "SELECT fr.id, m.path, m.build_id, m.fingerprint FROM frames fr JOIN modules m ON m.id = fr.module"
            f" WHERE fr.id {IN_JSON}",
            build_json_list(sorted(set(frames))),
        )
        return {frame: BinaryId(*which) for frame, *which in rows}

    def lines(self, nodes: Iterable[int]) -> dict[int, PythonLine]:
        """Return the Python line of each tree path that has one, by its innermost node."""
        return read_lines_of_nodes(self.reader, nodes)

    def devices(self) -> dict[tuple[int, str], str]:
        """Return device names (`device#1`) by capture and hexadecimal address, if only one device had that address."""
        rows = self.reader.rows(
            "SELECT t.capture, o.address, min(o.number) FROM object_types t CROSS JOIN object_ranges r"
            " ON r.capture = t.capture CROSS JOIN object_rows o ON o.id BETWEEN r.first_object AND r.last_object"
            f" WHERE t.name = 'device' AND o.type = t.id AND t.capture {IN_JSON} GROUP BY 1, 2 HAVING count(*) = 1",
            build_json_list(part.capture for part in self._passing_calls),
        )
        return {(capture, f"{to_unsigned(address):#x}"): f"device#{number}" for capture, address, number in rows}

    def argument_texts(self, arguments: Iterable[int]) -> dict[int, str]:
        """Return the JSON of arguments, by id."""
        query = f"SELECT id, json FROM arguments WHERE id {IN_JSON}"
        return dict(self.reader.rows(query, build_json_list(sorted(set(arguments)))))

    def links(self) -> Iterator[LinkRow]:
        """Yield the links to dispatch sites, by call, for all calls of the captures, filtered or not."""
        for part in self._passing_calls:
            query = "SELECT call, thread, node, how FROM call_links WHERE call BETWEEN ? AND ? ORDER BY call, thread"
            yield from (LinkRow(*row) for row in self.reader.iter_rows(query, part.id_range.first, part.id_range.last))

    def iter_calls(self) -> Iterator[CallRow]:
        """Yield the calls with all columns, by capture and start; their objects have no names yet."""
        with self.reader.progress.expect_calls(sum(len(part.id_range) for part in self._passing_calls)):
            for part in self._passing_calls:
                yield from map(build_call, part.rows(self.reader, CALL_COLUMNS, backwards=False))

    def rows(self, thread: int | None = None) -> Iterator[Row]:
        """Yield (id, kind, enclosing call or None, start, duration, arguments id) per call, by start.

        The calls are of all threads, capture by capture, or of one thread. The duration is negative if the call had not
        returned.
        """
        chosen = [
            part for part in self._passing_calls if thread is None or part.capture == self.threads[thread].capture
        ]
        columns = "c.id, c.kind, c.id - c.inside, c.start, c.duration, c.arguments"
        with self.reader.progress.expect_calls(sum(len(part.id_range) for part in chosen)):
            for part in chosen:
                of_thread = part if thread is None else replace(part, kinds=self._kinds_of(thread))
                yield from of_thread.rows(self.reader, columns, backwards=False, tables=_NARROW_TABLES)

    def _kinds_of(self, thread: int) -> tuple[int, ...]:
        return tuple(kind.id for kind in self.kinds.values() if kind.thread == thread)

    def weights(self, label_of: Labelling | None = None) -> dict[tuple[int, Label], CallWeights]:
        """Return the weights of the calls of each kind; `label_of` splits them by the label of their arguments."""
        sums: dict[tuple[int, Label], CallWeights] = {}
        for kind, label, weights in self._iter_weights(label_of):
            sums[kind, label] = sums.get((kind, label), CallWeights()) + weights
        return sums

    def _iter_weights(self, label_of: Labelling | None) -> Iterator[tuple[int, Label, CallWeights]]:
        for part in self._passing_calls:
            if label_of is None and part.selects_whole_kinds:
                yield from self._read_stored_weights(part)
            else:
                yield from self._sum_call_weights(part, label_of)
            yield from self._sum_created_bytes(part, label_of)

    def _read_stored_weights(self, part: PassingCalls) -> Iterator[tuple[int, Label, CallWeights]]:
        """Yield the stored totals of kinds whose calls all pass the filter."""
        query = "SELECT id, calls, own_duration FROM call_kinds WHERE capture = ?"
        for kind, calls, own in self.reader.rows(query, part.capture):
            if kind in self.kinds:
                yield kind, (), CallWeights(calls, own)

    def _sum_call_weights(
        self, part: PassingCalls, label_of: Labelling | None
    ) -> Iterator[tuple[int, Label, CallWeights]]:
        with self.reader.progress.expect_calls(
            len(part.id_range), len(part.id_range) + len(part.ids_with_nested(self.reader))
        ):
            columns, grouping = _build_grouping("count(*), sum(max(c.duration, 0))", label_of)
            for kind, label, calls, duration in self._label_rows(
                part, part.aggregate(self.reader, columns, grouping), label_of
            ):
                yield kind, label, CallWeights(calls, duration)
            columns, grouping = _build_grouping("sum(max(n.duration, 0))", label_of)
            for kind, label, duration in self._label_rows(
                part, part.aggregate_nested(self.reader, columns, grouping), label_of
            ):
                yield kind, label, CallWeights(0, -duration)

    def _sum_created_bytes(
        self, part: PassingCalls, label_of: Labelling | None
    ) -> Iterator[tuple[int, Label, CallWeights]]:
        """Yield the bytes of the objects that the calls created."""
        columns, grouping = _build_grouping("sum(o.size)", label_of)
        query = (
            f"SELECT {columns} FROM object_rows o CROSS JOIN {_NARROW_TABLES}"
            f" WHERE o.id BETWEEN ? AND ? AND o.size > 0 AND c.id = o.created_call AND c.id BETWEEN ? AND ?"
            f"{part.condition}{grouping}"
        )
        for first, last in read_object_ranges(self.reader, part.capture):
            for portion in slice_ids(IdRange(first, first, last), backwards=False):
                rows = self.reader.rows(query, *portion, part.id_range.first, part.id_range.last, *part.parameters)
                for kind, label, size in self._label_rows(part, rows, label_of):
                    if kind in self.kinds:
                        yield kind, label, CallWeights(bytes=size)

    def _label_rows(self, part: PassingCalls, rows: Iterable[Row], label_of: Labelling | None) -> Iterator[Row]:
        """Replace the arguments id in rows by a label, in portions of `_GROUPS_PER_QUERY`."""
        if label_of is None:
            yield from ((kind, (), *values) for kind, _, *values in rows)
            return
        remaining = iter(rows)
        while portion := list(islice(remaining, _GROUPS_PER_QUERY)):
            texts = self.argument_texts(row[1] for row in portion)
            labels = {each: label_of(part.capture, text) for each, text in texts.items()}
            yield from ((kind, labels[arguments], *values) for kind, arguments, *values in portion)


def _build_grouping(sums: str, label_of: Labelling | None) -> tuple[str, str]:
    """Return the columns and the GROUP BY clause for sums by kind and, if calls are labelled, by arguments."""
    return f"c.kind, {'0' if label_of is None else 'c.arguments'}, {sums}", " GROUP BY 1, 2"
