"""Causal links of a real program: the functions that requested compilations, as the program itself records them."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from framedex.captures import read_capture
from framedex.commands.main import cli
from framedex.index import Index, Store
from framedex.ingest import CaptureFrameNamer
from framedex.model import CallFilter, CallRow, Language, LinkEvidence, Trace
from framedex.texts.traces import format_trace
from tests.indexer.ingest.compiling import recorded_compiling
from tests.indexer.unplaced import index_without_sources
from tests.oracle.whole_captures import add_capture
from tests.pythons import OWN_VERSION
from tests.running import PROGRAMS
from tests.trace_lines import parse_trace

COMPILE = "PJRT_Client_Compile"
FUNCTIONS = ("here", "first", "second", "third", "fourth")
SOURCE = PROGRAMS / "compiling.py"


@dataclass(frozen=True)
class Compiled:
    """`compiling.py`, recorded and indexed; `truth` has the thread id of each function that compiled programs."""

    path: Path
    index: Index
    truth: dict[str, int]

    def compilations(self) -> dict[str, list[CallRow]]:
        """The compilation calls by requesting function: smaller programs belong to earlier functions."""
        calls = self.index.calls.find(CallFilter(function=COMPILE))
        ordered = iter(sorted(calls, key=_size))
        return {name: [next(ordered) for _ in range(1 if name == "here" else 3)] for name in FUNCTIONS}

    def trace(self, call: CallRow) -> Trace:
        found = self.index.calls.trace(call.id)
        assert found is not None
        return found

    def read(self, *arguments: str) -> Any:
        result = CliRunner().invoke(cli, ["--index", str(self.path), *arguments, "--json"])
        assert result.exit_code == 0, result.stderr
        return json.loads(result.stdout)


@pytest.fixture(scope="module")
def compiled(python: str, tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    """Record the program under each Python, with JAX passing the runtime the lines that run programs."""
    folder = tmp_path_factory.mktemp("compiled")
    ran = recorded_compiling(python)
    index = index_without_sources(folder / "index.db", ran.capture)
    return Compiled(index, Index.open(index), ran.result)


def _size(call: CallRow) -> int:
    return int(str(call.arguments["program.code"]).strip("<").split()[0])


def _has_python(trace: Trace) -> bool:
    return any(frame.function.language is Language.PYTHON for frame in trace.frames)


def _line(text: str) -> int:
    return next(number for number, line in enumerate(SOURCE.read_text().splitlines(), 1) if text in line)


def test_every_compilation_is_linked_to_the_requesting_function(compiled: Compiled) -> None:
    for name, calls in compiled.compilations().items():
        for call in calls:
            found = compiled.trace(call)
            if _has_python(found):  # some versions of jaxlib compile on the thread itself
                assert name in {frame.function.name for frame in found.frames}
                assert found.dispatched == ()
                continue
            (dispatch,) = found.dispatched
            assert dispatch.how is LinkEvidence.HANDED_OVER
            tid = compiled.truth[name]
            assert dispatch.thread == "main" if name == "here" else dispatch.thread.endswith(f"({tid})")
            assert name in {frame.function.name for frame in dispatch.frames}


def test_a_certain_link_never_points_to_a_thread_without_a_request(compiled: Compiled) -> None:
    """Calls for a compiled program on a native thread come from the thread that requested its compilation."""
    asked = {
        str(call.objects["executable"]): name
        for name, calls in compiled.compilations().items()
        for call in compiled.index.calls.with_object_names(calls)
    }
    for call in compiled.index.calls.with_object_names(compiled.index.calls.find(CallFilter())):
        for made in asked.keys() & {value for value in call.objects.values() if isinstance(value, str)}:
            for dispatch in compiled.trace(call).dispatched:
                if dispatch.how in (LinkEvidence.HANDED_OVER, LinkEvidence.BETWEEN):
                    assert asked[made] in {frame.function.name for frame in dispatch.frames}, (call, dispatch.how)


@pytest.mark.exhaustive(keep=[f"{OWN_VERSION}-20"])
@pytest.mark.parametrize("step", [1, 20])
def test_no_stack_gets_frames_of_another_thread(compiled: Compiled, step: int) -> None:
    for call in compiled.index.calls.find(CallFilter())[::step]:
        found = compiled.trace(call)
        if found.dispatched:
            told = all(dispatch.how is LinkEvidence.TOLD for dispatch in found.dispatched)
            assert told or not _has_python(found)


def test_the_line_that_jax_reports_is_shown_and_on_the_stack(compiled: Compiled) -> None:
    for call in compiled.index.calls.find(CallFilter(function="PJRT_LoadedExecutable_Execute")):
        found = compiled.trace(call)
        (dispatch,) = found.dispatched
        assert dispatch.how is LinkEvidence.TOLD
        assert dispatch.location is not None
        assert dispatch.location.path == str(SOURCE)
        assert dispatch.location in {frame.location for frame in found.frames}


def test_a_trace_document_lists_links_in_separate_sections(compiled: Compiled) -> None:
    for name, (call, *_) in compiled.compilations().items():
        found = compiled.trace(call)
        text = format_trace(found)
        functions = {line.function for line in parse_trace(text)}
        assert name in functions
        assert ("dispatched from thread" in text) is not _has_python(found)


@pytest.mark.exhaustive
def test_a_capture_indexed_again_has_each_link_once(compiled: Compiled, tmp_path: Path) -> None:
    (folder,) = {Path(capture.path) for capture in compiled.index.captures()}
    capture = read_capture(folder)
    with Store(tmp_path / "index.db") as store:
        for signature in ("some", "more"):
            add_capture(store, capture, CaptureFrameNamer(), signature)
    assert _links(tmp_path / "index.db") == _links(compiled.path)
    again = Index.open(tmp_path / "index.db")
    for text in ("program(number)(", "program(3)(x)"):
        place = str(SOURCE), _line(text)
        assert again.line(*place).linked_calls() == compiled.index.line(*place).linked_calls()


def _links(index: Path) -> list[tuple[object, ...]]:
    """All links of an index, in the order of their calls."""
    with closing(sqlite3.connect(index)) as connection:
        query = "SELECT function, thread, how, from_function FROM links_readable ORDER BY call, thread"
        return list(connection.execute(query))


def test_the_requesting_line_is_shown_with_its_evidence(compiled: Compiled) -> None:
    by_id = {call["id"]: call for call in compiled.read("calls", "--function", COMPILE, "--stack", "line")["calls"]}
    for name, calls in compiled.compilations().items():
        for call in calls:
            line = by_id[call.id]["line"]
            assert line["function"] == name
            assert line["location"]["path"] == str(SOURCE)
            on_own_stack = _has_python(compiled.trace(call))
            assert line["link"] == (None if on_own_stack else "handed-over")


def test_a_line_shows_the_calls_that_it_requested(compiled: Compiled) -> None:
    line = _line("program(2)(x)")
    document = compiled.read("where", f"{SOURCE}:{line}", "--limit", "1000")
    on_stack = sum(hit["calls"] for hit in document["stacks"] if hit["function"] == COMPILE)  # of several stacks
    linked = {each["function"]: each["calls"] for each in document["linked"] if each["how"] == "handed-over"}
    assert on_stack + linked.get(COMPILE, 0) == 3
