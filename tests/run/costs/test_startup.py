"""The time from a process's start to its first step, by part and line.

The process's own clock and JAX's report are the reference.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from framedex.captures import capture_folders, read_capture
from framedex.commands.main import cli
from framedex.index import Index
from framedex.index.ask.costs.phases import Phase, separate_phases
from framedex.ingest.phases import name_phases
from framedex.model import Compiles, ObjectDescription, PhaseKind, Startup, StartupPart
from tests.indexer.unplaced import index_without_sources
from tests.once import made_once
from tests.run.costs.cases import line_marked
from tests.run.costs.compiling import NOTED
from tests.running import PROGRAMS, run

PROGRAM = PROGRAMS / "costs" / "startup.py"
EVENTS = {
    "/jax/core/compile/jaxpr_trace_duration": PhaseKind.TRACE,
    "/jax/core/compile/jaxpr_to_mlir_module_duration": PhaseKind.LOWER,
    "/jax/core/compile/backend_compile_duration": PhaseKind.COMPILE,
    "/jax/compilation_cache/cache_retrieval_time_sec": PhaseKind.LOAD,
}


@dataclass(frozen=True)
class Started:
    """A recorded and indexed program, its output, and its capture."""

    index: Path
    printed: Any
    capture: Path

    def startup(self) -> Startup:
        """The start of its process."""
        with Index.open(self.index) as index, index.restrict_to_captures(index.captures_with_startup()[-1:]) as latest:
            (found,) = latest.startup()
            return found

    def compiles(self) -> list[Compiles]:
        """Its compilations."""
        with Index.open(self.index) as index, index.restrict_to_captures(index.captures_with_startup()[-1:]) as latest:
            return list(latest.compiles())

    def invoke(self, *arguments: str) -> Result:
        """Run the verb."""
        return CliRunner().invoke(cli, ["--index", str(self.index), "compiles", *arguments])

    def phases(self) -> Counter[PhaseKind]:
        """The recorded ns of each kind in its capture."""
        found: Counter[PhaseKind] = Counter()
        for phase in name_phases(read_capture(self.capture)):
            found[phase.kind] += phase.duration
        return found


@pytest.fixture(scope="module")
def started() -> Started:
    """A training loop."""
    return made_once("costs-startup", _start)


@pytest.fixture(scope="module")
def cached() -> Started:
    """The same, for the second time with a persistent compilation cache."""
    return made_once("costs-startup-cached", _start_twice)


def _start(folder: Path, *arguments: str) -> Started:
    ran = run("costs/startup.py", *arguments, folder=folder, **NOTED)
    printed = ran.result
    index_without_sources(folder / "index.db", *ran.captures)
    return Started(folder / "index.db", printed, ran.captures[-1])


def _start_twice(folder: Path) -> Started:
    cache = str(folder / "cache")
    _start(folder, cache)
    return _start(folder, cache)


def rows_of(startup: Startup, part: StartupPart) -> dict[str, tuple[int, int | None]]:
    """The count and the line of each name in a part."""
    return {
        row.name: (row.count, None if row.line is None else row.line.location.line)
        for each in startup.parts
        if each.part is part
        for row in each.rows
    }


@pytest.mark.own_start
@pytest.mark.parametrize("name", ["started", "cached"])
def test_the_parts_add_up_to_the_time_that_the_process_measures(name: str, request: pytest.FixtureRequest) -> None:
    found: Started = request.getfixturevalue(name)
    startup = found.startup()
    assert sum(part.duration for part in startup.parts) == startup.duration
    assert startup.duration / 1e9 == pytest.approx(found.printed["seconds"], rel=0.05)
    assert startup.is_complete and startup.elsewhere == 0
    assert all(part.duration == sum(row.duration for row in part.rows) for part in startup.parts)


@pytest.mark.own_start
def test_the_first_step_is_that_of_the_loop(started: Started) -> None:
    startup = started.startup()
    assert startup.function == "train_step"
    assert startup.line is not None and startup.line.location.line == line_marked(PROGRAM, "case: step")
    assert {part.part for part in startup.parts} >= {
        *(StartupPart.INTERPRETER, StartupPart.IMPORTS, StartupPart.BACKENDS, StartupPart.TRACING),
        *(StartupPart.LOWERING, StartupPart.COMPILING, StartupPart.TRANSFERS, StartupPart.FIRST_STEP),
    }


@pytest.mark.own_start
def test_each_part_has_names_and_lines(started: Started) -> None:
    startup = started.startup()
    step, eager = line_marked(PROGRAM, "case: step"), line_marked(PROGRAM, "case: eager")
    for part in (StartupPart.TRACING, StartupPart.LOWERING, StartupPart.COMPILING):
        rows = rows_of(startup, part)
        assert rows["train_step"] == (1, step)
        assert rows["broadcast_in_dim"] == (1, eager)
    assert {"jax", "jaxlib", "numpy"} <= rows_of(startup, StartupPart.IMPORTS).keys()
    assert [*rows_of(startup, StartupPart.BACKENDS).values()] == [(1, line_marked(PROGRAM, "case: device"))]
    assert rows_of(startup, StartupPart.TRANSFERS)["device_put"] == (1, line_marked(PROGRAM, "case: device"))


@pytest.mark.own_start
@pytest.mark.parametrize("name", ["started", "cached"])
def test_the_recorded_times_are_those_that_jax_reports(name: str, request: pytest.FixtureRequest) -> None:
    found: Started = request.getfixturevalue(name)
    reported: Counter[PhaseKind] = Counter()
    for event, _, seconds in found.printed["reported"]:
        if event in EVENTS:
            reported[EVENTS[event]] += int(seconds * 1e9)
    recorded = found.phases()
    assert {kind: recorded[kind] for kind in reported} == reported


@pytest.mark.own_start
def test_a_compilation_has_the_times_before_it(started: Started) -> None:
    (row,) = [row for row in started.compiles() if row.function == "train_step"]
    assert (row.compiles, row.traces, row.lowerings) == (1, 1, 1)
    totals = {part.part: part for part in started.startup().parts}
    (traced,) = [each for each in totals[StartupPart.TRACING].rows if each.name == "train_step"]
    assert 0 < traced.duration <= row.trace_duration
    assert row.lower_duration > 0


@pytest.mark.own_start
def test_a_loaded_program_is_looked_up_and_not_compiled(cached: Started) -> None:
    startup = cached.startup()
    assert StartupPart.COMPILING not in {part.part for part in startup.parts}
    step = line_marked(PROGRAM, "case: step")
    assert rows_of(startup, StartupPart.CACHE_LOAD)["train_step"] == (1, step)
    assert rows_of(startup, StartupPart.CACHE_LOOKUP)["train_step"] == (1, step)
    (row,) = [row for row in cached.compiles() if row.function == "train_step"]
    assert (row.loads, row.lookups, row.traces) == (1, 1, 1)


@pytest.mark.own_start
def test_unrolled_loops_are_marked_also_those_that_call_a_nested_jit(started: Started) -> None:
    traced = {line.line.location.line: line for line in started.startup().traced_lines}
    unrolled = {number: line.repeats for number, line in traced.items() if line.repeats > 1}
    assert unrolled == {line_marked(PROGRAM, "case: unrolled"): 40, line_marked(PROGRAM, "case: nested calls"): 9}
    assert traced[line_marked(PROGRAM, "case: block")].ops >= 3 * 40


@pytest.mark.own_start
def test_people_read_a_tree(started: Started) -> None:
    told = started.invoke("--startup")
    assert told.exit_code == 0
    assert "until the first step of train_step returned" in told.stdout
    assert (
        "of an unrolled loop, in at least 40 copies: if all have the same shapes, jax.lax.scan traces one"
        in told.stdout
    )
    parts = [part.part.value for part in started.startup().parts]
    lines = [line.strip() for line in told.stdout.splitlines()]
    assert [part for part in parts if not any(line.endswith(f"%  {part}") for line in lines)] == []
    assert not any(line.endswith(" more") for line in started.invoke("--startup", "--limit", "0").stdout.splitlines())
    assert "trace" in started.invoke().stdout.splitlines()[1]


@pytest.mark.own_start
def test_programs_get_every_part(started: Started) -> None:
    (document,) = json.loads(started.invoke("--startup", "--json").stdout)["startups"]
    assert sum(part["duration"] for part in document["parts"]) == document["duration"]
    assert document["parts"][-1]["part"] == "other Python"
    assert started.invoke("--startup", "--all-lines").exit_code == 2


def test_a_recording_without_hooks_has_no_start(tmp_path: Path) -> None:
    ran = run("costs/startup.py", folder=tmp_path)
    index = tmp_path / "index.db"
    index_without_sources(index, *ran.captures)
    told = CliRunner().invoke(cli, ["--index", str(index), "compiles", "--startup"])
    assert told.exit_code == 1
    assert "No times of a start" in told.stderr
    with Index.open(index) as opened:
        assert not any(row.traces or row.lowerings for row in opened.compiles())
    checked = CliRunner().invoke(cli, ["--index", str(index), "check", "--max-trace-seconds", "1000"])
    assert checked.exit_code == 1
    assert "the start is unknown" in checked.stdout


@pytest.mark.own_start
def test_the_program_sees_no_difference(tmp_path: Path) -> None:
    with_hooks, without = tmp_path / "with", tmp_path / "without"
    for folder in (with_hooks, without):
        folder.mkdir()
    recorded = run("costs/startup_hooks.py", folder=with_hooks, **NOTED)
    plain = run("costs/startup_hooks.py", folder=without, **NOTED, FRAMEDEX_FFI="0")
    assert recorded.stdout.replace(str(with_hooks), "") == plain.stdout.replace(str(without), "")
    assert "KeyError" in plain.stdout and "ValueError" in plain.stdout
    assert any(description.kind == "phase" for description in read_capture(recorded.capture).descriptions)


def test_time_of_nested_and_overlapping_phases_counts_once() -> None:
    times = [
        (PhaseKind.TRACE, 0, 50),
        (PhaseKind.TRACE, 10, 30),
        (PhaseKind.IMPORT, 15, 20),
        (PhaseKind.LOWER, 48, 60),  # JAX reports durations: it may seem to begin before the end of the trace
        (PhaseKind.COMPILE, 60, 90),
        (PhaseKind.LOAD, 70, 89),
    ]
    phases = [Phase(1, kind, kind.value, start, end, 0) for kind, start, end in times]
    separate_phases(phases)
    trace, _, within, lower, compiling, load = phases
    assert [each.own for each in phases] == [28, 15, 5, 12, 11, 19]
    assert [each.root for each in phases] == [trace, trace, within, lower, compiling, load]
    assert [each.is_load for each in phases] == [False, False, False, False, True, False]
    assert load.name == "compile"


def test_the_time_of_tracing_has_a_budget(started: Started) -> None:
    index = ["--index", str(started.index), "check"]
    exceeded = CliRunner().invoke(cli, [*index, "--max-trace-seconds", "0.001"])
    assert exceeded.exit_code == 1
    assert "start of the process spent" in exceeded.stdout and "1 ms is allowed" in exceeded.stdout
    assert f"startup.py:{line_marked(PROGRAM, 'case: unrolled')} in loss" in exceeded.stdout
    assert CliRunner().invoke(cli, [*index, "--max-trace-seconds", "1000"]).exit_code == 0


@pytest.mark.own_start
def test_a_recorded_block_has_its_own_phases(tmp_path: Path) -> None:
    ran = run("costs/startup_blocks.py", folder=tmp_path, FRAMEDEX_RECORD="0")
    assert ran.status == 0, ran.stderr
    index_without_sources(tmp_path / "index.db", *capture_folders(tmp_path / "blocks"))
    with Index.open(tmp_path / "index.db") as index:
        (startup,) = index.startup()
        assert startup.parts[0].part is StartupPart.UNFOLLOWED
        for capture in index.captures():
            with index.restrict_to_captures([capture.id]) as block:
                (row,) = block.compiles()
                assert (row.compiles, row.traces, row.lowerings) == (1, 1, 1)


def test_malformed_phases_are_left_out(started: Started) -> None:
    capture = read_capture(started.capture)
    good = {"pid": capture.metadata.pid, "thread": 1, "kind": "trace", "name": "f", "start_ns": 5, "duration_ns": 6}
    bad: list[dict[str, Any]] = [
        *({**good, key: None} for key in good),
        *({**good, key: value} for key in ("start_ns", "duration_ns", "thread") for value in (-1, 1 << 70, "1")),
        {**good, "kind": "later kind"},
    ]
    frames = [["/a.py", 3, "f", 1], ["/a.py", -3, "f", 1], ["/a.py"], 5, ["/a.py", 1 << 70, "f", 1]]
    described = [ObjectDescription("phase", each) for each in [*bad, {**good, "frames": frames}, {**good, "frames": 5}]]
    found = name_phases(replace(capture, descriptions=tuple(described)))
    assert [(phase.kind, phase.name, len(phase.frames)) for phase in found] == [
        (PhaseKind.TRACE, "f", 1),
        (PhaseKind.TRACE, "f", 0),
    ]


def test_phases_of_a_removed_capture_are_removed(tmp_path: Path, started: Started) -> None:
    index = tmp_path / "index.db"
    index_without_sources(index, started.capture)
    assert CliRunner().invoke(cli, ["--index", str(index), "captures", "rm", "1"]).exit_code == 0
    with closing(sqlite3.connect(index)) as database:
        for table in ("phases", "program_own_lines"):
            assert database.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)
