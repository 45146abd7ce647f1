"""Index queries of editors: their answers, and no query scans a table that grows."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from framedex.index import Index
from framedex.index.file.database import LOCK_TIMEOUT_S, connect_reading
from framedex.index.read.rows import Reader, Scope
from framedex.model import FrameRow
from tests.server.recording import Recording, record, write_index
from tests.server.roads import Roads, record_roads


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    """A program recorded twice: three transfers from its first line, then seven."""
    recorded = record(tmp_path_factory.mktemp("recording"))
    write_index(recorded, puts=7)
    return recorded


@pytest.fixture
def roads(tmp_path: Path) -> Roads:
    return record_roads(tmp_path)


def everything(frame: FrameRow) -> bool:
    return frame.location is not None


def test_a_step_outward_is_restricted_to_the_given_nodes(roads: Roads) -> None:
    with Index.open(roads.index) as index:
        (get,) = index.line(str(roads.library), 8).paths_outward(everything)
        further = index.line(str(roads.library), 2).paths_outward(everything, within=get.nodes)
        every = index.line(str(roads.library), 2).paths_outward(everything)

    assert (get.target.function.name, get.calls) == ("wrapper", 2)
    assert [road.target.location and road.target.location.line for road in further] == [3, 2]
    assert [(road.target.location and road.target.location.line, road.calls) for road in every] == [
        (1, 23),
        (3, 3),
        (2, 1),
    ]


def test_program_lines_are_the_origins_with_most_calls_first(recording: Recording) -> None:
    with Index.open(recording.index) as index:
        lines = index.line(str(recording.client), recording.client_definition).program_lines()
        outermost = index.line(str(recording.demo), 11).program_lines()

    assert [Path(line.location.path).name for line in lines] == ["library.py"]
    assert outermost == []


def test_the_ends_of_a_line_come_with_their_innermost_frames(recording: Recording) -> None:
    with Index.open(recording.index) as index:
        ends = index.line(str(recording.demo), recording.main_calls_both).ends()
        narrowed = index.line(str(recording.demo), recording.main_calls_make_input, 1).ends()

    assert [(end.function, end.calls, end.frames[0].function.name) for end in ends] == [
        ("PJRT_Client_BufferFromHostBuffer", 4, "PJRT_Client_BufferFromHostBuffer"),
        ("PJRT_Client_Devices", 2, "PJRT_Client_Devices"),
    ]
    assert [(end.function, end.calls, end.total_duration) for end in narrowed] == [
        ("PJRT_Client_BufferFromHostBuffer", 3, 6_000)
    ]


def test_one_capture_is_separated_from_the_others(recording: Recording) -> None:
    demo, line = str(recording.demo), recording.main_calls_make_input
    with Index.open(recording.index) as index:
        both = index.line(demo, line).summary()
        each = [index.line(demo, line, capture).summary() for capture in (1, 2)]
        hits = [index.line(demo, line, capture).stacks() for capture in (1, 2)]
        nothing = index.line(demo, recording.nothing_recorded, 1).summary()

    assert both is not None
    assert [summary and summary.calls for summary in (both, *each)] == [10, 3, 7]
    assert [[(hit.calls, hit.position) for hit in of_capture] for of_capture in hits] == [[(3, 1)], [(7, 1)]]
    assert nothing is None
    assert each[0] is not None
    assert each[0].arguments
    assert each[0].latest_call == 3


def test_a_path_of_another_capture_is_not_offered(recording: Recording) -> None:
    demo, line = str(recording.demo), recording.main_calls_make_input
    with Index.open(recording.index) as index:
        known = index.line(demo, line, 2).paths_inward(everything)
        unknown = index.line(demo, line, 3).paths_inward(everything)
        outward = index.line(demo, line, 3).paths_outward(everything)

    assert (len(known), unknown, outward) == (1, [], [])


def test_marks_are_on_lines_and_functions(recording: Recording) -> None:
    with Index.open(recording.index) as index:
        lines = index.file(str(recording.demo)).marks(1, 8)
        functions = dict(index.file(str(recording.demo)).functions())
        main = index.functions.call_totals(functions[7])
        missing = index.functions.call_totals(10**6)

    assert [(mark.line, mark.calls, mark.duration) for mark in lines] == [(5, 14, 28_000), (8, 10, 20_000)]
    assert sorted(functions) == [1, 3, 7]
    assert main is not None
    assert (main.name, main.calls, main.duration) == ("main", 16, 32_000)
    assert main.boundaries[0] == "PJRT_Client_BufferFromHostBuffer"
    assert missing is None


def test_a_stack_is_returned_completely(recording: Recording) -> None:
    with Index.open(recording.index) as index:
        (hit, *_) = index.line(str(recording.demo), recording.main_calls_make_input).stacks()
        (chain,) = index.calls.call_chains_of_stack(hit.stack)

    assert chain[hit.position].id == hit.frame.id
    assert chain[0].function.name == "<module>"
    assert chain[-1].function.name == "PJRT_Client_BufferFromHostBuffer"


QUERIES: dict[str, Callable[[Index, Recording], object]] = {
    "hover": lambda index, it: index.line(str(it.demo), 9).summary(),
    "callers": lambda index, it: index.line(str(it.client), 4).program_lines(),
    "linked": lambda index, it: index.line(str(it.demo), 9).linked_calls(),
    "neighbours": lambda index, it: (
        index.line(str(it.demo), 9).steps_inward(),
        index.line(str(it.demo), 9).readable_steps_inward(),
    ),
    "definition": lambda index, it: index.line(str(it.demo), 9).paths_inward(everything),
    "declaration": lambda index, it: index.line(str(it.client), 4).paths_outward(everything),
    "implementation": lambda index, it: index.line(str(it.demo), 9).ends(),
    "stacks": lambda index, it: index.line(str(it.demo), 9).stacks(),
    "calls": lambda index, it: (index.calls.find_by_stacks([1, 2], 9), index.calls.find_by_stacks([1, 2], 9, 1)),
    "whole stack": lambda index, it: index.calls.call_chains_of_stack(1),
    "prepare": lambda index, it: index.line(str(it.demo), 9).functions(),
    "incoming": lambda index, it: (index.functions.callers(3), index.functions.direct_callers(3)),
    "outgoing": lambda index, it: (index.functions.callees(2), index.functions.direct_callees(2)),
    "static": lambda index, it: index.line(str(it.demo), 7).static_callees(),
    "lenses": lambda index, it: [index.functions.call_totals(each) for _, each in index.file(str(it.demo)).functions()],
    "hints": lambda index, it: index.file(str(it.demo)).marks(1, 20),
    "troubles": lambda index, it: index.file(str(it.demo)).troubles(),
    "pages of calls": lambda index, it: (
        index.capture(1).calls(1),
        index.capture(1).calls(1, longest_first=True),
    ),
    "frames": lambda index, it: (index.calls.trace(1), index.frame(1)),
    "of a capture": lambda index, it: (
        index.line(str(it.demo), 9, 1).summary(),
        index.line(str(it.demo), 9, 1).stacks(),
        index.line(str(it.demo), 9, 1).paths_inward(everything),
        index.line(str(it.demo), 9, 1).ends(),
    ),
}

SMALL = {"captures", "boundaries", "ffi_sites", "ffi_handlers", "ffi_functions", "ffi_joins", "modules", "macros"}
"""Tables that do not grow with calls or stacks: a few hundred rows, of a large source tree a few thousand macros."""


@pytest.mark.parametrize("is_latest", [False, True], ids=["of all captures", "of the latest run"])
def test_no_query_scans_a_growing_table(recording: Recording, *, is_latest: bool) -> None:
    statements: set[str] = set()
    for name, run_query in QUERIES.items():
        before = len(statements)
        connection = connect_reading(recording.index, LOCK_TIMEOUT_S)
        connection.set_trace_callback(statements.add)
        with Index(Reader.from_connection(connection, recording.index, {}, Scope(is_latest))) as index:
            run_query(index, recording)
        assert len(statements) > before or name == "of a capture"

    tables = set(_tables(recording.index))
    for statement in statements:
        for scanned, detail in _scans(recording.index, statement):
            assert scanned not in tables - SMALL, f"{detail}: {statement}"


def _tables(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]


def _scans(path: Path, query: str) -> Iterator[tuple[str, str]]:
    """The tables that a query scans completely, by name, with the plan's text."""
    aliases: dict[str, str] = {alias or table: table for table, alias in _NAMED.findall(query)}
    with closing(sqlite3.connect(path)) as connection:
        for *_, detail in connection.execute(f"EXPLAIN QUERY PLAN {query}"):
            # The rows of a run are never combined; those of a node's stacks are.
            assert "run = " not in query or not re.search(r"MATERIALIZE (?!s\b)", detail), query
            if scan := re.match(r"SCAN (\w+)(?! VIRTUAL)", detail):
                name = str(scan[1])
                yield aliases.get(name, name), str(detail)


_NAMED = re.compile(r"(?:FROM|JOIN|,)\s+(\w+)(?:\s+(?!WHERE|JOIN|CROSS|LEFT|ON|ORDER|GROUP|UNION|LIMIT)(\w+))?")
