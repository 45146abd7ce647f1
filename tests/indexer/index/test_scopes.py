"""The captures behind an answer: the latest run with data, selected ones, or all; and exclusions."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from framedex import open_index
from framedex.base.errors import FramedexError
from framedex.index import Index, Store
from framedex.index.write.records import CaptureRecord
from framedex.model import CaptureScope, Metadata
from tests.indexer.index.busy import busy_capture, record_of
from tests.indexer.recorded import Project, build_project
from tests.oracle.whole_captures import add_whole

OLD, NEW, BESIDE = 1, 2, 3
"""The captures: all stacks in an older run; one stack in two processes of a newer one."""

# Table contents by names, because ids depend on earlier captures.
CONTENTS = {
    "calls": "SELECT b.name, t.label, k.error, c.start, c.duration, a.json, s.outcome FROM call_rows c"
    " JOIN call_kinds k ON k.id = c.kind JOIN boundaries b ON b.id = k.boundary JOIN threads t ON t.id = k.thread"
    " JOIN arguments a ON a.id = c.arguments JOIN stacks s ON s.id = k.stack",
    "kinds": "SELECT b.name, t.label, k.error, k.calls, k.duration, k.own_duration, k.longest FROM call_kinds k"
    " JOIN boundaries b ON b.id = k.boundary JOIN threads t ON t.id = k.thread",
    "nodes": "SELECT n.depth, fn.name, fr.line, n.calls, n.longest, n.makes_client, n.run_calls,"
    " n.run_longest FROM nodes n JOIN frames fr ON fr.id = n.frame JOIN functions fn"
    " ON fn.id = fr.function WHERE n.calls",  # a capture also has stacks without a call
    "stacks": "SELECT s.outcome, b.name, x.calls, x.duration, x.run_calls, x.run_duration FROM stack_calls x"
    " JOIN stacks s ON s.id = x.stack JOIN boundaries b ON b.id = x.boundary",
    "lines": "SELECT f.path, l.line, b.name, l.calls, l.duration, l.run_calls, l.run_duration FROM line_calls l"
    " JOIN files f ON f.id = l.file JOIN boundaries b ON b.id = l.boundary",
    "links": "SELECT l.line, b.name, l.how, l.calls, l.duration, l.run_calls FROM line_links l"
    " JOIN boundaries b ON b.id = l.boundary",
    "functions": "SELECT name, calls, run_calls FROM functions WHERE calls",
    "objects": "SELECT type, number, born, uses FROM objects",
    "sites": "SELECT key, target FROM ffi_sites",
    **{
        table: f"SELECT a.name, b.name, x.calls, x.run_calls FROM {table} x JOIN functions a ON a.id = x.caller"
        " JOIN functions b ON b.id = x.callee"
        for table in ("edges", "code_edges")
    },
    **{
        table: f"SELECT o.line, t.line, x.calls, x.run_calls FROM {table} x JOIN frames o ON o.id = x.origin"
        " JOIN frames t ON t.id = x.target"
        for table in ("steps", "code_steps", "readable_steps")
    },
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, library: Path) -> Project:
    """The program of all tests here, which only read its index."""
    return build_project(tmp_path_factory.mktemp("project"), library)


@pytest.fixture(scope="module")
def records(project: Project) -> list[CaptureRecord]:
    """An older run, and the two captures of a newer one."""
    whole = busy_capture(project, "old", 900)
    one_stack = replace(whole.calls, stack=np.zeros_like(whole.calls.stack))
    launched = Metadata.parse(json.dumps({"launcher": json.dumps({"run": "of two processes"})}))
    newer = [
        replace(whole, path=whole.path.with_name(name), calls=one_stack, metadata=launched)
        for name in ("new", "beside")
    ]
    return [
        record_of(whole),
        *(replace(record_of(capture), started=started) for capture, started in zip(newer, (2.0, 2.5), strict=True)),
    ]


@pytest.fixture(scope="module")
def indexed(project: Project, records: Sequence[CaptureRecord]) -> Path:
    """The index of all three."""
    return _write_index(project.index, records)


def _write_index(path: Path, records: Sequence[CaptureRecord]) -> Path:
    with Store(path) as store:
        for record in records:
            add_whole(store, record, 500)
    return path


def _line_answers(index: Index, path: str, line: int) -> dict[str, Any]:
    there = index.line(path, line)
    summary = there.summary()
    return {
        "summary": summary and replace(summary, arguments=()),
        "stacks": there.stacks(),
        "inward": there.steps_inward(),
        "outward": there.readable_steps_outward(),
        "stack paths": [(path.nodes, path.calls, path.longest) for path in there.paths_inward(lambda frame: True)],
        "stack paths outward": [(path.nodes, path.calls) for path in there.paths_outward(lambda frame: True)],
        "ends": there.ends(),
        "linked": there.linked_calls(),
        "from": there.program_lines(),
        "runs": [(use.target, use.runs) for use in there.ffi_uses()],
    }


def _recorded_lines(project: Project) -> Iterator[tuple[str, int]]:
    for path in (project.program, project.library_source):
        yield from ((str(path), line) for line in range(1, len(path.read_text().splitlines()) + 1))


def test_a_line_is_answered_from_the_latest_run_that_executed_it(project: Project, indexed: Path) -> None:
    with Index.open(indexed, counted=CaptureScope.LATEST) as latest:
        ids = {}
        for path, line in _recorded_lines(project):
            answer = latest.line(path, line).answer_of()
            ids[path, line] = [capture.id for capture in answer.captures]
            with latest.restrict_to_captures(ids[path, line]) as alone:
                assert _line_answers(latest, path, line) == _line_answers(alone, path, line), (path, line)
    program = str(project.program)
    assert ids[program, project.line("transfer(2)")] == [OLD]
    assert ids[program, project.line("transfer(1)")] == [NEW, BESIDE]


def test_a_step_from_an_older_stack_stays_on_that_stack(project: Project, indexed: Path) -> None:
    program = str(project.program)
    with Index.open(indexed, counted=CaptureScope.LATEST) as index, index.restrict_to_captures([OLD]) as old:
        (path, *_) = index.line(program, project.line("transfer(2)")).paths_inward(lambda frame: True)
        assert path.target.location is not None
        at = program, path.target.location.line
        further = index.line(*at).paths_inward(lambda frame: True, path.nodes)
        assert further and [each.calls for each in further] == [
            each.calls for each in old.line(*at).paths_inward(lambda frame: True, path.nodes)
        ]
        back = index.line(*at).paths_outward(lambda frame: True, path.nodes)
        assert [each.target.location and each.target.location.line for each in back] == [project.line("transfer(2)")]


def test_an_answer_names_its_captures_and_mentions_others(project: Project, indexed: Path) -> None:
    program = str(project.program)
    with Index.open(indexed, counted=CaptureScope.LATEST) as index:
        newer = index.line(program, project.line("transfer(1)")).answer_of()
        older = index.line(program, project.line("transfer(2)")).answer_of()
        assert (newer.counted, newer.among, newer.has_others) == (CaptureScope.LATEST, 3, True)
        assert (older.counted, older.has_others) == (CaptureScope.LATEST, False)
        assert [capture.id for capture in index.file(program).answer_of().captures] == [NEW, BESIDE]
    with Index.open(indexed) as index:
        assert [capture.id for capture in index.line(program, 1).answer_of().captures] == [OLD, NEW, BESIDE]


def test_marks_and_functions_come_from_the_latest_run_of_the_file(project: Project, indexed: Path) -> None:
    program = str(project.program)
    with Index.open(indexed, counted=CaptureScope.LATEST) as index, index.restrict_to_captures([NEW, BESIDE]) as alone:
        assert index.file(program).marks(1, 99) == alone.file(program).marks(1, 99)
        lines = [mark.line for mark in index.file(program).marks(1, 99)]
        assert project.line("transfer(1)") in lines and project.line("transfer(2)") not in lines
        assert index.file(program).functions() == alone.file(program).functions()


def test_functions_by_name_come_from_the_latest_run_with_a_match(indexed: Path) -> None:
    with Index.open(indexed, counted=CaptureScope.LATEST) as index, index.restrict_to_captures([NEW, BESIDE]) as alone:
        asked, functions = index.functions.restrict_to_latest_run(index.functions.find("transfer"))
        assert [capture.id for capture in asked.answer_of(functions).captures] == [NEW, BESIDE]
        (function,) = functions
        assert asked.callers(function.id) == alone.functions.callers(function.id)
        assert asked.callees(function.id) == alone.functions.callees(function.id)
        assert asked.call_totals(function.id) == alone.functions.call_totals(function.id)


def test_the_latest_capture_is_by_time_in_any_order_of_indexing(
    project: Project, records: list[CaptureRecord], tmp_path: Path
) -> None:
    in_order, reverse = (
        Index.open(_write_index(tmp_path / name, these), counted=CaptureScope.LATEST)
        for name, these in (("a.db", records), ("b.db", [records[1], records[2], records[0]]))
    )
    with in_order, reverse:
        for path, line in _recorded_lines(project):
            first, second = (index.line(path, line).summary() for index in (in_order, reverse))
            assert (first and (first.calls, first.boundaries)) == (second and (second.calls, second.boundaries))


def test_a_restricted_index_equals_an_index_of_those_captures(
    project: Project, records: list[CaptureRecord], indexed: Path, tmp_path: Path
) -> None:
    alone = _write_index(tmp_path / "alone.db", records[1:])
    with Index.open(indexed) as whole, whole.restrict_to_captures([NEW, BESIDE]) as chosen, Index.open(alone) as fresh:
        assert [capture.id for capture in chosen.captures()] == [NEW, BESIDE]
        for path, line in _recorded_lines(project):
            first, second = (index.line(path, line).summary() for index in (chosen, fresh))
            assert (first and (first.calls, first.boundaries)) == (second and (second.calls, second.boundaries))
        assert [(each.name, each.totals.runs) for each in chosen.ffi.targets()] == [
            (each.name, each.totals.runs) for each in fresh.ffi.targets()
        ]
        with pytest.raises(Exception, match="readonly"):
            chosen._reader.connection.execute("DELETE FROM main.captures")


@pytest.mark.exhaustive(keep=["gone3"])
@pytest.mark.parametrize("gone", [[OLD], [NEW], [NEW, BESIDE], [OLD, BESIDE], [OLD, NEW, BESIDE]])
def test_removing_captures_equals_never_indexing_them(
    records: list[CaptureRecord], indexed: Path, tmp_path: Path, gone: list[int]
) -> None:
    fresh = _write_index(tmp_path / "fresh.db", [record for each, record in enumerate(records, 1) if each not in gone])
    with Store(Path(shutil.copy(indexed, tmp_path / "removed.db"))) as store:
        store.remove_captures(gone)
        removed = _contents(store)
        for record in records:  # and can be read again
            add_whole(store, record, 500)
        again = _contents(store)
    with Store(fresh) as store:
        assert removed == _contents(store)
    with Store(Path(shutil.copy(indexed, tmp_path / "all.db"))) as store:
        assert again == _contents(store)


def _contents(store: Store) -> dict[str, list[Any]]:
    return {name: sorted(store._connection.execute(query), key=repr) for name, query in CONTENTS.items()}


def test_open_index_selects_the_latest_run_by_default(indexed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = indexed.parent.parent
    deep = folder / "deep" / "down"
    deep.mkdir(parents=True)
    monkeypatch.chdir(deep)

    for where in (indexed, str(indexed), folder, deep, "."):
        with open_index(where) as index:
            assert [capture.id for capture in index.captures()] == [NEW, BESIDE]
    with open_index(captures=OLD) as index:
        assert [capture.id for capture in index.captures()] == [OLD]
    for captures in ("all", {OLD, NEW, BESIDE}, [OLD], (BESIDE, OLD)):
        with open_index(captures=captures) as index:
            assert {row.id for row in index.captures()} == ({OLD, NEW, BESIDE} if captures == "all" else {*captures})


@pytest.mark.parametrize(
    ("captures", "message"),
    [
        ([OLD, 99], "There is no capture 99"),
        ("newest", "'newest' does not name captures"),
        ([], "does not name captures"),
    ],
)
def test_open_index_reports_unknown_captures(indexed: Path, captures: Any, message: str) -> None:
    with pytest.raises(FramedexError, match=message) as raised:
        open_index(indexed, captures=captures)
    assert raised.value.remedy


def test_open_index_reports_a_missing_index(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for where in (tmp_path / "empty", tmp_path / "gone", tmp_path / "gone.db"):
        with pytest.raises(FramedexError, match="There is no index") as raised:
            open_index(where)
        assert "framedex run" in raised.value.remedy
