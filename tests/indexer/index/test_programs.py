"""The lines, compilations and runs of programs of many shapes."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from framedex.captures import capture_folders
from framedex.index import Index, Store
from framedex.model import ProgramUse
from tests.gitrepository import commit_all
from tests.indexer.unplaced import index_without_sources
from tests.running import TIMEOUT, Run, mock_environment
from tests.shapes_of_programs import SHAPES, Marked, recorded_shapes

RUNS = {"plain": 3, "generator": 3}
"""The number of runs of each program that ran more than once."""


EDITED = """\
import jax
import jax.numpy as jnp


@jax.jit
def sine(x):
    return jnp.sin(x)


sine(jnp.ones(4))
"""


@pytest.fixture(scope="module")
def shapes() -> Marked:
    """The recorded program."""
    return recorded_shapes()


@pytest.fixture
def index(shapes: Marked) -> Iterator[Index]:
    """Its index."""
    with Index.open(shapes.index) as opened:
        yield opened


def use_of(index: Index, shapes: Marked, line: int) -> ProgramUse:
    """The only program with ops from this line."""
    (use,) = index.line(str(shapes.path), line).program_uses()
    return use


@pytest.mark.parametrize("shape", SHAPES)
def test_a_line_inside_jit_has_its_ops_and_the_line_that_runs_them(shapes: Marked, index: Index, shape: str) -> None:
    use = use_of(index, shapes, shapes.line(shape, "sine", "both"))
    kinds = dict(use.ops)
    assert "sine" in kinds or (shape == "grad" and "cosine" in kinds)  # a gradient does not need sine
    assert (use.is_outside, use.problem) == (False, "")
    assert use.root.endswith(")")
    (runs,) = use.runs if shape != "static" else use.runs[:1]
    assert runs.line is not None and runs.calls == RUNS.get(shape, 1)
    ran_at = {shapes.line(shape, "runs", "both")} | (
        {shapes.line("static", "runs") + 1} if shape == "static" else set()
    )
    assert runs.line.location.line in ran_at
    assert runs.total_duration > 0


def test_another_static_argument_is_another_program_with_that_name(shapes: Marked, index: Index) -> None:
    use = use_of(index, shapes, shapes.line("static", "sine"))
    assert (use.programs, use.compiled, use.calls) == (2, 2, 2)


def test_an_ahead_of_time_program_is_compiled_and_run_by_different_lines(shapes: Marked, index: Index) -> None:
    use = use_of(index, shapes, shapes.line("aot", "sine"))
    (compilation,) = use.compilations
    assert compilation.line is not None
    assert compilation.line.location.line == shapes.line("aot", "compiles")
    assert use.runs[0].line is not None and use.runs[0].line.location.line == shapes.line("aot", "runs")


def test_a_call_inside_jit_leads_to_the_lines_it_was_traced_through(shapes: Marked, index: Index) -> None:
    calling = use_of(index, shapes, shapes.line("helper", "calls"))
    assert [each.location.line for each in calling.inward] == [shapes.line("helper", "sine")]
    inner = use_of(index, shapes, shapes.line("helper", "sine"))
    assert [each.location.line for each in inner.outward] == [shapes.line("helper", "calls")]


def test_the_line_that_runs_a_program_has_the_lines_inside_it(shapes: Marked, index: Index) -> None:
    for shape in ("plain", "scan", "aot", "shard_map"):
        runs = index.line(str(shapes.path), shapes.line(shape, "runs")).programs_run()
        assert shapes.line(shape, "sine") in {line.location.line for run in runs for line in run.lines}, shape


def test_every_line_of_a_statement_answers(shapes: Marked, index: Index) -> None:
    first = use_of(index, shapes, shapes.line("lines", "sine"))
    assert use_of(index, shapes, shapes.line("lines", "same")) == first


def test_an_eager_line_is_not_inside_the_program_it_runs(shapes: Marked, index: Index) -> None:
    assert use_of(index, shapes, shapes.line("eager", "both")).is_outside


def test_an_unknown_line_names_its_neighbours(shapes: Marked, index: Index) -> None:
    near = index.line(str(shapes.path), shapes.line("here", "nothing")).nearby()
    assert near.why == "nothing in never was recorded: it was not reached, or its result is unused"
    assert near.lines[0].location.line == shapes.line("generator", "runs")


def test_each_capture_answers_separately(shapes: Marked, index: Index) -> None:
    (capture,) = index.captures()
    path, line = str(shapes.path), shapes.line("plain", "sine")
    assert index.line(path, line, capture.id).program_uses() == index.line(path, line).program_uses()
    assert not index.line(path, line, capture.id + 1).program_uses()


def test_equal_programs_of_two_captures_are_stored_once(shapes: Marked, tmp_path: Path) -> None:
    """A capture and a second run's have one program, also without the first run."""
    (recorded,) = capture_folders(shapes.path.parent / ".framedex" / "captures")
    rerun = shutil.copytree(recorded, tmp_path / "second")
    metadata = json.loads((rerun / "capture.json").read_text())
    (rerun / "capture.json").write_text(json.dumps(metadata | {"started_unix_ns": metadata["started_unix_ns"] + 1}))
    path = Path(shutil.copy(shapes.index, tmp_path / "index.db"))
    index_without_sources(path, rerun)
    with Index.open(path) as index:
        use = use_of(index, shapes, shapes.line("plain", "sine"))
        assert (use.programs, use.compiled, use.calls) == (1, 2, 6)
        assert {each.capture for each in use.compilations} == {capture.id for capture in index.captures()}
        first, second = sorted(capture.id for capture in index.captures())
    with Store(path) as store:
        store.remove_captures([first])
    with Index.open(path) as index:
        use = use_of(index, shapes, shapes.line("plain", "sine"))
        assert (use.programs, use.compiled, use.calls) == (1, 1, 3)
        assert [each.capture for each in use.compilations] == [second]


def test_lines_follow_the_file_when_it_is_edited(tmp_path: Path) -> None:
    program = tmp_path / "edited.py"
    program.write_text(EDITED)
    commit_all(tmp_path)
    ran = Run.of([sys.executable, str(program)], tmp_path, mock_environment(tmp_path), TIMEOUT)
    line = EDITED.splitlines().index("    return jnp.sin(x)") + 1
    path = index_without_sources(tmp_path / "index.db", ran.capture)
    program.write_text("# above\n\n" + EDITED)
    with Index.open(path) as index:
        (use,) = index.line(str(program), line + 2).program_uses()
        assert dict(use.ops) == {"sine": 1}
        assert not [each for each in index.line(str(program), line).program_uses() if "sine" in dict(each.ops)]
