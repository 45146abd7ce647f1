"""The loops whose iterations `waits` and `memory` count: program statements, with their actual number of iterations."""

from __future__ import annotations

import re
import shutil
import sqlite3
import sys
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from framedex.index import Index
from framedex.index.write.costs.activity import CaptureActivity
from framedex.model import LineMemory
from tests.indexer.unplaced import index_without_sources
from tests.pythons import with_jaxlib
from tests.running import PROGRAMS, run

PROGRAM = PROGRAMS / "costs" / "loops.py"
LIBRARY = PROGRAMS / "costs" / "training_library.py"
CALLS_OF_LIBRARY = PROGRAMS / "costs" / "library_loops.py"
LINES = PROGRAM.read_text().splitlines()


def _expected_rounds(program: Path) -> list[tuple[int, int]]:
    """The program lines that state their number of iterations, and that number."""
    lines = enumerate(program.read_text().splitlines(), 1)
    return [(number, int(found[1])) for number, text in lines if (found := re.search(r"# (\d+) iterations", text))]


@dataclass(frozen=True)
class Recorded:
    """A recording of the program at `path`, indexed."""

    path: Path
    capture: Path
    index: Path


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    folder = tmp_path_factory.mktemp("loops")
    program = Path(shutil.copy(PROGRAM, folder))
    ran = run(str(program), folder=folder)
    index_without_sources(folder / "index.db", ran.capture)
    return Recorded(program, ran.capture, folder / "index.db")


def _loops(index: Path) -> list[tuple[int, int]]:
    """The line and the iterations of each loop."""
    with closing(sqlite3.connect(index)) as connection:
        activity = CaptureActivity.read(connection, 1)
        query = "SELECT fr.recorded_line FROM nodes n JOIN frames fr ON fr.id = n.frame WHERE n.id = ?"
        return [(*connection.execute(query, (loop.node,)).fetchone(), len(loop)) for loop in activity.loops]


def _held(recorded: Recorded) -> dict[int, LineMemory]:
    """The device memory of each line."""
    with Index.open(recorded.index) as index:
        (device,) = index.memory()
    return {line.line.location.line: line for line in device.lines if line.line is not None}


def test_each_executed_loop_has_its_iterations(recorded: Recorded) -> None:
    assert len(_expected_rounds(PROGRAM)) == 14
    assert sorted(_loops(recorded.index)) == _expected_rounds(PROGRAM)


def test_library_loops_are_not_program_iterations(tmp_path: Path) -> None:
    (tmp_path / "site-packages").mkdir()
    shutil.copy(LIBRARY, tmp_path / "site-packages")
    program = shutil.copy(CALLS_OF_LIBRARY, tmp_path)
    ran = run(str(program), folder=tmp_path, PYTHONPATH=str(tmp_path / "site-packages"))
    index_without_sources(tmp_path / "index.db", ran.capture)

    assert sorted(_loops(tmp_path / "index.db")) == _expected_rounds(CALLS_OF_LIBRARY)
    with Index.open(tmp_path / "index.db") as index:
        (device,) = index.memory(all_lines=True)
    assert {line.growth for line in device.lines} == {0}


def test_a_statement_that_creates_several_arrays_does_not_leak(recorded: Recorded) -> None:
    first = next(number for number, text in enumerate(LINES, 1) if "def single_statements" in text)

    single = [line for number, line in _held(recorded).items() if first < number <= first + 5]

    assert len(single) == 4  # the third is within `put`
    assert {(line.growth, line.rounds) for line in single} == {(0, 0)}


def test_a_leak_has_the_iterations_of_its_loop(recorded: Recorded) -> None:
    with Index.open(recorded.index) as index:
        (device,) = index.memory(all_lines=True)
    number = next(number for number, text in enumerate(LINES, 1) if text.endswith("iterations: leaks"))

    (leak,) = [line for line in device.lines if any(each.location.line == number for each in line.outward)]

    assert (leak.growth, leak.rounds) == (4096, 6)


def test_loops_come_from_the_recorded_text(recorded: Recorded, tmp_path: Path) -> None:
    text = recorded.path.read_text()
    recorded.path.write_text(f"# changed\n{text}")
    try:
        index_without_sources(tmp_path / "index.db", recorded.capture)
        assert _loops(tmp_path / "index.db") == _loops(recorded.index)
    finally:
        recorded.path.write_text(text)


@pytest.mark.parametrize("jaxlib", [None, "0.10"])
def test_compilations_on_other_threads_count_for_the_waiting_iterations(jaxlib: str | None, tmp_path: Path) -> None:
    """jaxlib 0.10 compiles on a native thread, other releases compile on the thread itself."""
    other = None if jaxlib is None else with_jaxlib(jaxlib)
    if jaxlib is not None and other is None:
        pytest.skip(f"no Python with jaxlib {jaxlib}: FRAMEDEX_TEST_PYTHONS names one")
    program = PROGRAMS / "costs" / "compiling_loop.py"
    line = program.read_text().splitlines().index("    double(value).block_until_ready()") + 1
    ran = run(str(program), folder=tmp_path, python=other.path if other else sys.executable)
    index_without_sources(tmp_path / "index.db", ran.capture)

    with Index.open(tmp_path / "index.db") as index:
        (loop,) = index.waits().loops
        (compiled,) = [row for row in index.compiles() if row.line is not None and row.line.location.line == line]
    assert (loop.rounds, compiled.compiles) == (6, 6)
    assert loop.compile == compiled.total_duration
    assert all(step.compile for step in loop.steps)
