"""A capture that is indexed again after it has grown or moved is still one capture."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from framedex.index import Store
from framedex.ingest import CaptureFrameNamer
from framedex.model import Calls, Capture, Function, Metadata, Thread
from tests.indexer.recorded import Project
from tests.oracle.whole_captures import add_capture

RUN = Metadata(started_unix_ns=1_700_000_000_000_000_000, pid=100, host="here", argv=("python", "demo.py"))
TOTALS = ("nodes", "functions", "stack_calls", "steps", "code_steps", "readable_steps", "edges", "code_edges")


def test_a_grown_capture_replaces_its_earlier_rows(project: Project) -> None:
    """A capture indexed after three of its four calls, then completed, gives the same index as one reading."""
    whole = replace(project.capture, metadata=RUN)
    at_once, grown = project.folder / "at-once.db", project.folder / "grown.db"

    _index(at_once, [whole])
    _index(grown, [_beginning(whole, 3), whole])

    for table in ("captures", "threads", "calls", "arguments", *TOTALS, "line_calls"):
        assert _rows(grown, table) == _rows(at_once, table), table


def test_a_grown_capture_keeps_its_id_and_other_captures_are_unchanged(project: Project) -> None:
    """If the first of two captures grows, the second's calls and both totals stay correct."""
    first = replace(project.capture, metadata=RUN)
    second = project.again("second", metadata=replace(RUN, pid=200))
    in_turn, grown = project.folder / "in-turn.db", project.folder / "grown.db"

    _index(in_turn, [second, first])
    _index(grown, [_beginning(first, 1), second, first])

    assert [row[:2] for row in _select(grown, "SELECT id, path, calls FROM captures ORDER BY id")] == [
        (1, str(first.path)),
        (2, str(second.path)),
    ]
    for table in TOTALS:
        count = f"SELECT count(*), sum(calls) FROM {table}"
        assert _select(grown, count) == _select(in_turn, count), table
    assert _select(grown, "SELECT count(*) FROM arguments") == _select(in_turn, "SELECT count(*) FROM arguments")


def test_a_capture_with_the_same_signature_is_skipped(project: Project) -> None:
    """Of two indexers of the same capture, the second finds it complete."""
    capture = replace(project.capture, metadata=RUN)
    with Store(project.index) as store:
        add_capture(store, capture, CaptureFrameNamer(), "as it is now")
        add_capture(store, _beginning(capture, 1), CaptureFrameNamer(), "as it is now")

    assert _select(project.index, "SELECT count(*) FROM calls") == [(4,)]


def test_a_function_without_calls_does_not_match_a_name(project: Project) -> None:
    known = (*project.capture.functions, Function("pjrt", "PJRT_Client_BufferFromHostBuffer_Again"))

    with project.ingest(capture=replace(project.capture, functions=known)) as index:
        found = index.calls.latest("FromHost")

    assert found is not None and found.id == 3


def test_thread_labels_are_unique_and_name_the_main_thread(project: Project) -> None:
    threads = (Thread(100, "python"), Thread(101, "python"))

    with project.ingest(capture=replace(project.capture, metadata=RUN, threads=threads)) as index:
        calls = [index.calls.get(number) for number in (1, 4)]

    assert [(call.thread, call.tid) for call in calls if call] == [("main", 100), ("python (101)", 101)]


def _index(path: Path, captures: Sequence[Capture]) -> None:
    with Store(path) as store:
        for capture in captures:
            add_capture(store, capture, CaptureFrameNamer(), f"{len(capture.calls)} calls")


def _beginning(capture: Capture, calls: int) -> Capture:
    """The capture with its first calls only."""
    columns = {field.name: getattr(capture.calls, field.name)[:calls] for field in fields(Calls)}
    return replace(capture, calls=Calls(**columns))


def _rows(path: Path, table: str) -> list[tuple[Any, ...]]:
    return sorted(_select(path, f"SELECT * FROM {table}"), key=repr)


def _select(path: Path, query: str) -> list[tuple[Any, ...]]:
    connection = sqlite3.connect(path)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()
