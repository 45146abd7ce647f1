"""Trace documents: what is written can be read back, line by line."""

from __future__ import annotations

from dataclasses import replace

import pytest

from framedex.interchange import read
from framedex.model import FrameRow, How, Location, Trace
from framedex.tracetext import HEADING, format_trace
from tests.indexer.recorded import Project
from tests.trace_lines import parse_trace


@pytest.fixture
def trace(project: Project) -> Trace:
    found = project.ingest(project.library.parent).calls.trace(1)
    assert found is not None
    return found


def test_every_frame_with_source_is_found_on_its_line(trace: Trace) -> None:
    text = format_trace(trace)

    lines = text.split("\n")
    assert lines[0] == HEADING
    read = [(found.path, found.line, found.function) for found in parse_trace(text)]
    assert read == [
        (frame.location.path, frame.location.line, frame.function.name) for frame in trace.frames if frame.location
    ]
    assert all(f"{found.path}:{found.line}" in lines[found.line_index] for found in parse_trace(text))


def test_frames_count_from_1(trace: Trace) -> None:
    lines = format_trace(trace).split("\n")
    first = lines.index("frames, most recent call last:") + 1
    assert [line.split()[0] for line in lines[first:-1]] == [str(number + 1) for number in range(len(trace.frames))]


@pytest.mark.parametrize("first", [1, 0], ids=["as now", "as older ones count"])
def test_where_the_numbers_of_frames_begin_again_another_stack_begins(first: int) -> None:
    """Given the frames of two documents without their headings, as somebody copied them."""
    copied = f"{first:>3} P main at /a.py:3\n{first + 1:>3} P f at /a.py:9\n"
    stacks = read(copied + copied).stacks
    assert [[frame.function for frame in stack.frames] for stack in stacks] == [["main", "f"], ["main", "f"]]


def test_an_unmerged_stack_has_two_sections(project: Project) -> None:
    found = project.ingest().calls.trace(4)
    assert found is not None

    text = format_trace(found)

    assert "unmerged: A run of Python frames has no interpreter frame on the native stack." in text
    assert text.index("\nnative frames, ") < text.index("\nPython frames, ")
    assert [line.function for line in parse_trace(text)][-1] == "put"


def test_candidates_have_lines_of_their_own(trace: Trace) -> None:
    other = Location("/src/other.cc", 7, How.CANDIDATES)
    text = format_trace(_with_last_frame(trace, candidates=(other,)))

    last = parse_trace(text)[-1]
    assert (last.path, last.line, last.function) == ("/src/other.cc", 7, trace.frames[-1].function.name)


@pytest.mark.parametrize(
    "path",
    ["/a b/c.py", "/look at /x.py", "/x:3/y.py", "/bracket [x]/f.cc", "/new\nline.py", "/\x1b[31m.py", "/\\x41.py"],
)
@pytest.mark.parametrize("name", ["plain", "evil at /etc/passwd:1", "two\nlines", " at /", "\u202e"])
def test_hostile_names_and_paths_survive_and_forge_nothing(trace: Trace, path: str, name: str) -> None:
    frame = trace.frames[-1]
    hostile = _with_last_frame(
        trace, function=replace(frame.function, name=name), location=Location(path, 9, How.CLASS), inlined=True
    )

    text = format_trace(hostile)

    assert len(text.split("\n")) == len(format_trace(trace).split("\n"))
    last = parse_trace(text)[-1]
    assert (last.path, last.line, last.function) == (path, 9, name)


def test_a_frame_without_source_shows_its_module_and_offset_and_links_nowhere(trace: Trace) -> None:
    text = format_trace(_with_last_frame(trace, location=None, module="/lib/libx.so", offset=0x1A))

    assert " in /lib/libx.so+0x1a" in text
    assert len(parse_trace(text)) == len(trace.frames) - 1


def test_other_texts_have_no_frames() -> None:
    assert parse_trace("") == []
    assert parse_trace("hello at /x.py:3\n  0 P x in /y+0x1\n") == []


def _with_last_frame(trace: Trace, **changes: object) -> Trace:
    frame: FrameRow = replace(trace.frames[-1], **changes)  # type: ignore[arg-type]
    return replace(trace, frames=(*trace.frames[:-1], frame))
