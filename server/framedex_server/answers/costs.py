"""Costs of lines: the rows of each answer, cached per state of the index, and the thresholds for notable costs.

All queries run in `Session.contents`, so that line queries do not wait for them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from framedex.base.plaintext import make_printable
from framedex.model import Staleness
from framedex.texts import compilations, costs
from framedex.texts.places import format_stale_labels
from framedex_server.answers.provenance import format_counted_captures_label
from framedex_server.answers.session import Session
from framedex_server.markup import shorten
from framedex_server.settings import NOTABLE, EditorSettings

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.model import Compiles, PythonLine, Transfers, Waits
    from framedex.texts.costs import LineMemoryOnDevice


MIN_TRANSFERRED_BYTES = 1 << 20
"""Threshold for the total size of a line's implicit transfers, in bytes."""

MIN_TRANSFERS = 100
"""Threshold for the number of a line's implicit transfers of any size."""

MIN_HELD_BYTES = 1 << 20
"""Threshold in bytes for the memory that a line holds at the peak, or leaks in all iterations of its loop."""

MIN_PEAK_SHARE = 0.1
"""Threshold for the share of a device's peak that a line holds."""

MIN_WAITED_NS = 100_000_000
"""Threshold for a line's total waiting time, in nanoseconds."""


def notable_compiles(rows: Sequence[Compiles]) -> Sequence[Compiles]:
    """Return the functions that were recompiled or failed to compile."""
    return [row for row in rows if row.failed or (row.changes and row.compiles > 1)]


def notable_transfers(rows: Sequence[Transfers]) -> Sequence[Transfers]:
    """Return the implicit transfers if their number or total size reaches its threshold."""
    implicit = [row for row in rows if row.is_implicit]
    is_much = (
        sum(row.size for row in implicit) >= MIN_TRANSFERRED_BYTES
        or sum(row.count for row in implicit) >= MIN_TRANSFERS
    )
    return implicit if is_much else []


def notable_memory(rows: Sequence[LineMemoryOnDevice]) -> Sequence[LineMemoryOnDevice]:
    """Return the devices on which a line holds much memory, leaks, or ran out of memory."""
    return [row for row in rows if _is_much_memory(row)]


def notable_waits(rows: Sequence[Waits]) -> Sequence[Waits]:
    """Return all waits of a line whose total time reaches the threshold."""
    return rows if sum(row.total_duration for row in rows) >= MIN_WAITED_NS else []


def _is_much_memory(row: LineMemoryOnDevice) -> bool:
    held = row.memory
    least = max(MIN_HELD_BYTES, MIN_PEAK_SHARE * row.device.peak)
    if held is None:
        return bool(row.failures) or row.temporary_size >= least
    return held.at_peak >= least or held.growth * held.rounds >= MIN_HELD_BYTES


MAX_DETAILS = 8
"""Maximum number of sentences about one line."""

ByLine = Mapping[int, "list[Row]"]


class Row(Protocol):
    """A row of an answer."""

    @property
    def line(self) -> PythonLine | None:
        """The innermost line of the program."""

    @property
    def outward(self) -> tuple[PythonLine, ...]:
        """The calling lines, nearest first, if they were queried."""

    @property
    def latest_call(self) -> int:
        """The latest call that the row counts."""


@dataclass(frozen=True, slots=True)
class CostKind:
    """One kind of line cost: its rows, and the texts for them.

    `rows` queries an index, with or without all calling lines. `kind` is a text that distinguishes the rows of a line.
    `is_remarkable` selects rows that an editor should point out. `notable` returns the rows that an editor shows by
    default.
    """

    name: str
    rows: Callable[[Index, bool], Sequence[Any]]
    kind: Callable[[Any], str]
    text: Callable[[Sequence[Any]], str]
    details: Callable[[Sequence[Any]], list[str]]
    total: Callable[[Sequence[Any]], str]
    is_remarkable: Callable[[Any], bool]
    notable: Callable[[Sequence[Any]], Sequence[Any]]


COST_KINDS = {
    each.name: each
    for each in (
        CostKind(
            "compiles",
            lambda index, all_lines: index.compiles(all_lines=all_lines),
            compilations.format_compiles_kind,
            compilations.format_compiles,
            compilations.format_compiles_details,
            compilations.format_compiles_total,
            lambda row: row.compiles > 1 or row.failed > 0 or bool(row.changes),
            notable_compiles,
        ),
        CostKind(
            "transfers",
            lambda index, all_lines: index.transfers(all_lines=all_lines),
            costs.format_transfers_kind,
            costs.format_transfers,
            costs.format_transfers_details,
            costs.format_transfers_total,
            lambda row: row.is_implicit,
            notable_transfers,
        ),
        CostKind(
            "memory",
            lambda index, all_lines: list(costs.list_memory_by_line(index.memory(all_lines=all_lines))),
            costs.format_memory_kind,
            costs.format_memory,
            costs.format_memory_details,
            costs.format_memory_total,
            lambda row: row.memory is None or row.memory.at_peak > 0 or row.memory.growth > 0,
            notable_memory,
        ),
        CostKind(
            "waits",
            lambda index, all_lines: index.waits(all_lines=all_lines).lines,
            costs.format_waits_kind,
            costs.format_waits,
            costs.format_waits_details,
            costs.format_waits_total,
            lambda row: row.total_duration > 0,
            notable_waits,
        ),
    )
}
"""The answers by the name of their command, which is also the name of their setting."""


@dataclass(frozen=True, slots=True)
class LineCost:
    """A line's cost in one answer: all of its rows."""

    answer: CostKind
    rows: Sequence[Row]

    @property
    def text(self) -> str:
        """A short summary, marked if the line may have changed: `compiled 19 times, 1.4 s`."""
        text = shorten(make_printable(self.answer.text(self.rows)))
        line = self.rows[0].line
        if line is None or line.location.stale is not Staleness.UNKNOWN:
            return text
        return f"{text} [{', '.join(format_stale_labels(line.location))}]"

    @property
    def details(self) -> list[str]:
        """The first `MAX_DETAILS` details, a sentence each."""
        return [make_printable(each) for each in self.answer.details(self.rows)[:MAX_DETAILS]]

    @property
    def is_remarkable(self) -> bool:
        """Whether an editor should point the cost out."""
        return any(map(self.answer.is_remarkable, self.rows))

    @property
    def notable(self) -> LineCost | None:
        """The part of the cost that an editor shows by default; None if there is none."""
        rows = self.answer.notable(self.rows)
        return LineCost(self.answer, rows) if rows else None

    @property
    def latest_call(self) -> int:
        """The latest call that the rows count."""
        return max(row.latest_call for row in self.rows)


def select_answers(settings: EditorSettings, *displays: bool | str) -> list[CostKind]:
    """Return the answers whose setting is True or one of `displays` (`notable`, `lenses`, `diagnostics`)."""
    return [answer for answer in COST_KINDS.values() if getattr(settings, answer.name) in (True, *displays)]


@dataclass(frozen=True, slots=True)
class LensCosts:
    """A file's costs for lenses with their 1-based lines, and the number of lines whose costs the settings hide.

    `counted` is the short name of the captures that the costs count.
    """

    costs: Sequence[tuple[int, LineCost]]
    hidden_lines: int
    counted: str


async def find_lens_costs(session: Session, path: str) -> LensCosts:
    """Return a file's costs for lenses, as the settings show them."""
    settings = session.settings_for(path)
    found = await find_file_costs(session, path, select_answers(settings, NOTABLE, "lenses"))
    shown = []
    for line, cost in found:
        is_narrow = getattr(settings, cost.answer.name) == NOTABLE
        part = cost.notable if is_narrow else cost
        if part is not None:
            shown.append((line, part))
    hidden = len({line for line, _ in found} - {line for line, _ in shown})
    counted = await session.contents.query(
        Path(path), lambda index: format_counted_captures_label(session, index, path)
    )
    return LensCosts(shown[: settings.limit], hidden, counted or "")


async def find_file_costs(session: Session, path: str, answers: Sequence[CostKind]) -> list[tuple[int, LineCost]]:
    """Return the costs of a file's lines in each answer, with 1-based lines; only lines that the client shows."""
    if not answers:
        return []
    found = await session.contents.query(Path(path), lambda index: _query_file_costs(session, path, answers, index))
    return found or []


def _query_file_costs(
    session: Session, path: str, answers: Sequence[CostKind], index: Index
) -> list[tuple[int, LineCost]]:
    captures = find_counted_captures(session, path, index)
    found = [
        (line, LineCost(answer, rows))
        for answer in answers
        for line, rows in query_rows_by_line(index, answer, captures, path).items()
        if session.documents.edits.is_shown(path, line)
    ]
    return sorted(found, key=itemgetter(0))


def find_counted_captures(session: Session, path: str, index: Index) -> list[int]:
    """Return the captures counted for a file: the selected one, else those chosen by the settings."""
    picked = session.selection.capture_in(index)
    return [picked] if picked is not None else [capture.id for capture in index.file(path).answer_of().captures]


def query_rows_by_line(index: Index, answer: CostKind, captures: Collection[int], path: str) -> ByLine:
    """Return the rows for a file by current line, without deleted lines."""

    def group_rows() -> Mapping[str, ByLine]:
        by_path: dict[str, dict[int, list[Row]]] = {}
        for row in query_rows(index, answer, captures):
            place = row.line.location if row.line else None
            if place is not None and place.stale is not Staleness.GONE:
                by_path.setdefault(place.path, {}).setdefault(place.line, []).append(row)
        return by_path

    return index.get_cached(("costs by line", answer.name, *sorted(captures)), group_rows).get(path, {})


def query_rows(index: Index, answer: CostKind, captures: Collection[int], *, all_lines: bool = False) -> Sequence[Row]:
    """Return the rows of an answer, restricted to these captures; with `all_lines`, one row per path to a line."""

    def read_rows() -> Sequence[Row]:
        with index.restrict_to_captures(captures) as restricted, restricted.reading():
            rows = answer.rows(restricted, all_lines)
        for path in {row.line.location.path for row in rows if row.line}:
            index.depend_on_file(path)
        return rows

    return index.get_cached(("costs", answer.name, all_lines, *sorted(captures)), read_rows)


def query_rows_by_path(
    index: Index, answer: CostKind, captures: Collection[int], rows: Sequence[Row]
) -> dict[PythonLine | None, list[Row]]:
    """Return the lines of these rows with one row per path to the line, latest call first."""
    wanted = {(row.line, answer.kind(row)) for row in rows}
    found: dict[PythonLine | None, list[Row]] = {}
    for way in query_rows(index, answer, captures, all_lines=True):
        if (way.line, answer.kind(way)) in wanted:
            found.setdefault(way.line, []).append(way)
    for ways in found.values():
        ways.sort(key=lambda way: -way.latest_call)
    return found
