"""Python code without a file has the line of its traceback, in every display of frames."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

from framedex.commands.main import cli
from framedex.index import Index
from framedex.model import CallFilter, FrameRow, Language, LineSource, LocationEvidence
from framedex.text_stacks.detect import read
from framedex.text_stacks.source_lookup.resolve import Resolver
from framedex.texts.traces import format_trace
from framedex_server.documents.trace_markdown import format_markdown
from tests.indexer.unplaced import index_without_sources
from tests.running import run

PUT = "PJRT_Client_BufferFromHostBuffer"


@dataclass(frozen=True)
class Recorded:
    """The program, recorded and indexed; `tracebacks` has the tracebacks of its puts by array size."""

    index: Index
    path: Path
    tracebacks: list[list[tuple[str, int, str]]]
    calls: list[int]

    def frames(self, put: int) -> list[FrameRow]:
        """The Python frames of a put, outermost first, down to the frame that took the traceback."""
        found = self.index.calls.trace(self.calls[put])
        assert found is not None
        python = [frame for frame in (*found.frames, *found.python) if frame.function.language is Language.PYTHON]
        return python[: len(self.tracebacks[put])]


@pytest.fixture(scope="module")
def recorded(python: str, tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """Record the program under each Python."""
    folder = tmp_path_factory.mktemp("without_files")
    ran = run("without_files.py", str(folder / "imported"), folder=folder, python=python)
    index = Index.open(index_without_sources(folder / "index.db", ran.capture))
    calls = {}
    for call in index.calls.find(CallFilter(function=PUT)):
        (size,) = call.arguments["dims"]
        calls[size] = call.id
    tracebacks = [[(name, line, function) for name, line, function in stack] for stack in ran.result]
    return Recorded(index, folder / "index.db", tracebacks, [calls[size] for size in sorted(calls)])


def shown(frame: FrameRow) -> str:
    assert frame.location is not None or frame.location_without_file is not None
    return frame.location_without_file or f"{frame.location.path}:{frame.location.line}"  # type: ignore[union-attr]


def test_every_frame_has_the_line_of_its_traceback(recorded: Recorded) -> None:
    assert len(recorded.calls) == len(recorded.tracebacks) > 10
    names = set()
    for put, stack in enumerate(recorded.tracebacks):
        *outer, _ = recorded.frames(put)  # the innermost has moved on since
        assert [shown(frame) for frame in outer] == [f"{name}:{line}" for name, line, _ in stack[:-1]]
        names |= {name for name, _, _ in stack}
    assert {"<string>", "<template>", "<stdin>", "<odd name, line 3>", "<frozen importlib._bootstrap>"} <= names


def test_two_texts_that_differ_in_one_line_are_two_frames(recorded: Recorded) -> None:
    written = [frame for put in range(len(recorded.calls)) for frame in recorded.frames(put)]
    assert {frame.location_without_file for frame in written if frame.function.name == "written"} == {
        "<string>:3",
        "<string>:4",
    }


def test_built_in_modules_resolve_to_their_source_files(recorded: Recorded) -> None:
    built_in = [
        frame
        for put in range(len(recorded.calls))
        for frame in recorded.frames(put)
        if frame.function.module == "<frozen importlib._bootstrap>"
    ]
    assert built_in
    for frame in built_in:
        assert frame.location is not None
        assert frame.location.path.endswith("/importlib/_bootstrap.py")
        assert (frame.location.line, frame.location.how) == (frame.line, LocationEvidence.EXACT)
        text = Path(frame.location.path).read_text().splitlines()
        assert f"def {frame.function.name}(" in text[frame.function.location.line - 1]  # type: ignore[union-attr]


def test_documents_name_the_lines_and_are_read_back(recorded: Recorded) -> None:
    for put, call in enumerate(recorded.calls):
        found = recorded.index.calls.trace(call)
        assert found is not None
        places = [
            (f.place.path, f.place.line) for stack in read(format_trace(found)).stacks for f in stack.frames if f.place
        ]
        markdown = format_markdown(found, lambda path: f"file://{path}")
        for name, line, _ in recorded.tracebacks[put][:-1]:
            assert (name, line) in places
            assert f"{name}:{line}`" in markdown or not name.startswith("<")
        assert not any("+0x" in line for line in format_trace(found).splitlines() if " P " in line[:8])


def test_the_command_line_shows_these_lines(recorded: Recorded) -> None:
    put = next(i for i, stack in enumerate(recorded.tracebacks) if any("frozen" in name for name, _, _ in stack))
    arguments = ["--index", str(recorded.path), "trace", str(recorded.calls[put])]
    text = CliRunner().invoke(cli, [*arguments, "--all"]).output
    document = json.loads(CliRunner().invoke(cli, [*arguments, "--json"]).stdout)
    for name, line, _ in recorded.tracebacks[put][:-1]:
        assert f"{name}:{line}" in text
        assert not name.startswith("<") or (name, line) in {(f["module"], f["line"]) for f in document["frames"]}


def test_a_traceback_in_a_text_resolves_built_in_modules(recorded: Recorded) -> None:
    every = [frame for put in range(len(recorded.calls)) for frame in recorded.frames(put)]
    frame = next(frame for frame in every if frame.function.name == "_find_and_load")
    text = "".join(
        f'Traceback (most recent call last):\n  File "{name}", line {line}, in {function}\nE: x\n'
        for name, line, function in (
            ("<frozen importlib._bootstrap>", frame.line, "_find_and_load"),
            ("<string>", 1, "f"),
        )
    )
    first, second = [each for stack in read(text).stacks for each in stack.frames]
    assert Resolver(recorded.index).find(first).location == frame.location
    assert Resolver(recorded.index).find(second).location is None


def test_code_without_a_file_is_identified_by_its_code_object(recorded: Recorded) -> None:
    sources = [source.lines_from for each in recorded.index.sources.frames({}) for source in each.sources]
    assert LineSource.CODE_OBJECT in sources
