"""Calls as rows of CSV and JSON lines: each call appears once, with its data from the index."""

from __future__ import annotations

import csv
import io
import json
import unicodedata
from dataclasses import replace
from pathlib import Path

import pytest

from framedex.base.plaintext import make_printable, restore
from tests.indexer.export.exporting import export, hostile_index, run
from tests.indexer.export.truth import calls_of
from tests.indexer.recorded import Project
from tests.run.costs.trained import PROGRAM, index_of_training, line_of


@pytest.fixture(params=["hostile", "training"])
def index(request: pytest.FixtureRequest) -> Path:
    """An index of a program with hostile names, or of a real one."""
    if request.param == "training":
        return index_of_training()
    return hostile_index(request.getfixturevalue("project"))


def test_csv_has_every_call(index: Path, tmp_path: Path) -> None:
    csv.field_size_limit(1 << 20)
    text = export(index, "csv", tmp_path / "calls.csv").decode()
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    calls = calls_of(index)
    assert [
        (row["id"], _name(row["function"]), _name(row["thread"]), row["start"], row["duration"]) for row in rows
    ] == [
        (str(call.id), call.function, call.thread, str(call.start), str(call.duration) if call.duration >= 0 else "")
        for call in calls
    ]
    assert [json.loads(row["arguments"]) for row in rows] == [json.loads(call.arguments) for call in calls]


def _name(cell: str) -> str:
    return restore(cell.removeprefix("'") if cell[1:2] in "=+-@" else cell)


@pytest.mark.parametrize("name", ["=cmd|'/c calc'!A0", "+1", "-[NSFoo bar]", "@SUM(1)", "\t=1", "\r=1", "\uff1d1"])
def test_no_csv_cell_is_a_formula(project: Project, name: str) -> None:
    done = run(_named(project, name), "csv", "-")
    (cell, *_) = {row["function"] for row in csv.DictReader(io.StringIO(done.stdout, newline=""))}
    assert cell == f"'{make_printable(name)}"


@pytest.mark.parametrize("form", ["csv", "collapsed", "jsonl"])
def test_control_characters_of_names_never_reach_a_terminal(project: Project, form: str) -> None:
    done = run(
        _named(project, "\x1b]0;evil\x07\x1b[31m\x9bred\x7f\nf"),
        form,
        "-",
        *([] if form != "collapsed" else ["--weight", "calls"]),
    )
    assert done.exit_code == 0 and "evil" in done.stdout
    assert not [each for each in done.stdout if unicodedata.category(each) == "Cc" and each != "\n"]


def _named(project: Project, name: str) -> Path:
    """The project's index with this name for its first function, its boundary function and its threads."""
    codes = tuple(replace(code, qualname=name) for code in project.capture.codes)
    functions = tuple(replace(function, name=name) for function in project.capture.functions)
    threads = tuple(replace(thread, name=name) for thread in project.capture.threads)
    project.ingest(capture=replace(project.capture, codes=codes, functions=functions, threads=threads)).close()
    return project.index


def test_json_lines_have_every_call(index: Path, tmp_path: Path) -> None:
    lines = export(index, "jsonl", tmp_path / "calls.jsonl").decode().removesuffix("\n").split("\n")
    rows = [json.loads(line) for line in lines]
    calls = calls_of(index)
    assert [(row["id"], row["function"], row["thread"], row["duration"], row["arguments"]) for row in rows] == [
        (call.id, call.function, call.thread, call.duration if call.duration >= 0 else None, json.loads(call.arguments))
        for call in calls
    ]


def test_a_row_has_the_line_and_the_objects(tmp_path: Path) -> None:
    options = ("--function", "PJRT_LoadedExecutable_Execute")
    text = export(index_of_training(), "jsonl", tmp_path / "calls.jsonl", *options).decode()
    rows = [json.loads(line) for line in text.splitlines()]
    stepping = [row for row in rows if row["line"] == line_of("params = step(")]
    assert len(stepping) == 30 and {row["line_path"] for row in stepping} == {str(PROGRAM)}
    assert all(row["objects"]["executable"].startswith("loaded_executable#") for row in stepping)


def test_an_export_can_be_written_to_stdout(project: Project) -> None:
    project.ingest().close()
    done = run(project.index, "csv", "-")
    assert done.exit_code == 0 and done.stdout.startswith("id,capture,function,")
    assert len(done.stdout.splitlines()) == 5 and "Written" not in done.stderr
