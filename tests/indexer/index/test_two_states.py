"""Recordings of two versions of a program: a line has the calls of its statement in both versions."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from framedex.index import Index, Store
from framedex.index.read import subjects
from framedex.ingest import SilentProgress, find_sources
from framedex.model import CallFilter, Staleness
from framedex.path_resolution.files import PathRule
from tests.indexer.unplaced import index_without_sources
from tests.running import PROGRAMS, run

FIRST = """\
import jax
import numpy as np

one = lambda: jax.device_put(np.zeros(1, np.float32))
two = lambda: jax.device_put(np.zeros(2, np.float32))
sine = jax.jit(lambda x: jax.numpy.sin(x))


def main():
    for _ in range(3):
        one()
    for _ in range(5):
        two()
    sine(one())


main()
"""
TYPED = "new = lambda: jax.device_put(np.zeros(3, np.float32))"
SECOND = FIRST.replace("one = ", f"{TYPED}\none = ").replace("    sine(", "    new()\n    sine(")
THIRD = FIRST.replace("np.zeros(2", "np.ones(2")
"""On the lines of the first version: two unnamed functions that begin at the same place, and an added line."""


@dataclass(frozen=True)
class Recorded:
    program: Path
    index: Path

    def edit(self, text: str) -> None:
        self.program.write_text(text)

    def line(self, written: str) -> int:
        """The line with this beginning in the file's current text."""
        (line,) = (n for n, text in enumerate(self.program.read_text().splitlines(), 1) if text.startswith(written))
        return line


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    folder = tmp_path_factory.mktemp("states")
    program = folder / "program.py"
    for text in (FIRST, SECOND):
        program.write_text(text)
        captures = run(os.path.relpath(program, PROGRAMS), folder=folder).captures
    return Recorded(program, index_without_sources(folder / "index.db", *captures))


def puts(index: Index, recorded: Recorded, written: str) -> int:
    """The number of transfers to a device by the line with this beginning."""
    summary = index.line(str(recorded.program), recorded.line(written)).summary()
    calls = {} if summary is None else {name: calls for name, calls, _ in summary.boundaries}
    return calls.get("PJRT_Client_BufferFromHostBuffer", 0)


@pytest.mark.parametrize("text", [FIRST, SECOND, "# typed\n" + SECOND, THIRD], ids=["first", "second", "new", "third"])
def test_a_line_has_the_calls_of_its_statement_in_both_recordings(recorded: Recorded, text: str) -> None:
    recorded.edit(text)
    with Index.open(recorded.index) as index:
        file = index.file(str(recorded.program))
        assert puts(index, recorded, "one =") == 4 + 4
        assert puts(index, recorded, "two =") == (5 + 5 if text is not THIRD else 0)
        if "new =" in text:
            assert puts(index, recorded, "new =") == 1
        marks = {mark.line: mark.calls for mark in file.marks(1, 99)}
        assert marks == file.recorded_lines()
        for line, calls in marks.items():
            of_line = index.line(str(recorded.program), line)
            summary = of_line.summary()
            assert summary is not None and summary.calls == calls
            assert {hit.frame.location.line for hit in of_line.stacks() if hit.frame.location} == {line}
            assert all(each.origin.location and each.origin.location.line == line for each in of_line.steps_inward())
        assert {mark.line: mark.programs for mark in file.program_marks()} == {
            recorded.line("sine = "): ("jit__lambda",)
        }
        functions = dict(file.functions())
        assert {recorded.line("one ="), recorded.line("def main")} <= functions.keys()


def test_each_recording_alone_has_its_own_lines(recorded: Recorded) -> None:
    recorded.edit(SECOND)
    with Index.open(recorded.index) as index:
        for capture, new in ((1, 0), (2, 1)):
            with index.restrict_to_captures([capture]) as alone:
                assert (puts(alone, recorded, "one ="), puts(alone, recorded, "two =")) == (4, 5)
                assert puts(alone, recorded, "new =") == new


def test_beyond_the_limit_the_latest_states_count(recorded: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subjects, "_MAX_STATES", 1)
    recorded.edit(SECOND)
    with Index.open(recorded.index) as index:
        assert (puts(index, recorded, "one ="), puts(index, recorded, "new =")) == (4, 1)


def test_a_stack_is_on_the_current_lines_of_its_statements(recorded: Recorded) -> None:
    recorded.edit(THIRD)
    with Index.open(recorded.index) as index:
        lines = THIRD.splitlines()
        for call in index.calls.find(CallFilter()):
            trace = index.calls.trace(call.id)
            assert trace is not None
            for frame in trace.frames:
                place = frame.location
                if place is not None and place.path == str(recorded.program) and place.stale is not Staleness.GONE:
                    then = (FIRST if call.capture == 1 else SECOND).splitlines()[frame.line - 1]
                    assert lines[place.line - 1] == then


def test_recordings_of_one_text_are_one_state_even_if_the_file_moved(tmp_path: Path) -> None:
    """Recordings of another machine with a path rule to the program add to the same frames."""
    build, here = tmp_path / "build", tmp_path / "here"
    build.mkdir()
    program = build / "program.py"
    program.write_text(FIRST)
    captures = [*run(os.path.relpath(program, PROGRAMS), folder=tmp_path).captures]
    captures += run(os.path.relpath(program, PROGRAMS), folder=tmp_path).captures
    build.rename(here)
    for capture in captures:
        index_without_sources(tmp_path / "index.db", capture)
        with Store(tmp_path / "index.db") as store:
            store.sources.replace_path_rules([PathRule(str(build), here)])
            find_sources(store, SilentProgress())
            states = store.sources.connection.execute(
                "SELECT DISTINCT version FROM line_calls WHERE file = (SELECT id FROM files WHERE path = ?)"
                " UNION SELECT fr.version FROM frames fr JOIN files f ON f.id = fr.file WHERE f.path = ?1",
                (str(here / program.name),),
            ).fetchall()
            assert len(states) == 1
    moved = Recorded(here / program.name, tmp_path / "index.db")
    moved.edit(SECOND)
    with Index.open(moved.index) as index:
        assert [puts(index, moved, line) for line in ("one =", "two =", "new =")] == [4 + 4, 5 + 5, 0]


def test_program_lines_keep_their_state_even_if_the_file_moved(tmp_path: Path) -> None:
    build, here = tmp_path / "build", tmp_path / "here"
    build.mkdir()
    captures: list[Path] = []
    for text in (FIRST, SECOND):
        (build / "program.py").write_text(text)
        captures += run(os.path.relpath(build / "program.py", PROGRAMS), folder=tmp_path).captures
    build.rename(here)
    index_without_sources(tmp_path / "index.db", *captures)
    with Store(tmp_path / "index.db") as store:
        store.sources.replace_path_rules([PathRule(str(build), here)])
        find_sources(store, SilentProgress())
    recorded = Recorded(here / "program.py", tmp_path / "index.db")
    with Index.open(recorded.index) as index:
        marks = index.file(str(recorded.program)).program_marks()
        assert {mark.line: mark.programs for mark in marks} == {recorded.line("sine = "): ("jit__lambda",)}
