"""Trace documents: written documents are read back, line by line."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import pytest

from framedex.model import (
    CallDispatch,
    FfiSite,
    FrameRow,
    HandlerOrigin,
    LinkEvidence,
    Location,
    LocationEvidence,
    MergeOutcome,
    SectionKind,
    SiteEvidence,
    Staleness,
    Trace,
)
from framedex.text_stacks import read
from framedex.texts.traces import HEADING, format_section_title, format_trace
from tests.indexer.recorded import Project, build_project
from tests.trace_lines import parse_trace


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory, library: Path) -> Trace:
    project = build_project(tmp_path_factory.mktemp("project"), library)
    found = project.ingest(library.parent).calls.trace(1)
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


def test_the_header_has_a_line_for_each_value_and_no_value_becomes_a_section(trace: Trace) -> None:
    values = {"message": "frames, most recent call last:", "dims": [2, 3]}
    call = replace(trace.call, duration=257_000_000, error=0, arguments=values, objects={})
    text = format_trace(replace(trace, call=call))
    lines = text.split("\n")
    assert lines[1] == f"call {call.id}: {call.function}, 257 ms"
    assert lines[2] == "arguments: 2"
    assert lines[3].startswith("  message: ") and lines[4].startswith("  dims: ")
    assert [each.title for each in read(text).stacks] == [lines[1]]


def test_frame_numbers_start_at_1(trace: Trace) -> None:
    lines = format_trace(trace).split("\n")
    first = lines.index("frames, most recent call last:") + 1
    assert [line.split()[0] for line in lines[first:-1]] == [str(number + 1) for number in range(len(trace.frames))]


@pytest.mark.parametrize("first", [1, 0], ids=["as now", "as older ones count"])
def test_restarted_frame_numbers_begin_another_stack(first: int) -> None:
    """The frames of two documents, copied without their headings."""
    copied = f"{first:>3} P main at /a.py:3\n{first + 1:>3} P f at /a.py:9\n"
    stacks = read(copied + copied).stacks
    assert [[frame.function for frame in stack.frames] for stack in stacks] == [["main", "f"], ["main", "f"]]


def test_an_unmerged_stack_has_two_sections(project: Project) -> None:
    found = project.ingest().calls.trace(4)
    assert found is not None

    text = format_trace(found)

    assert "unmerged: Some Python frames have no interpreter frame on the native stack." in text
    assert text.index("\nnative frames, ") < text.index("\nPython frames, ")
    assert [line.function for line in parse_trace(text)][-1] == "put"


def test_candidates_have_their_own_lines(trace: Trace) -> None:
    other = Location("/src/other.cc", 7, LocationEvidence.CANDIDATES)
    text = format_trace(_with_last_frame(trace, candidates=(other,)))

    last = parse_trace(text)[-1]
    assert (last.path, last.line, last.function) == ("/src/other.cc", 7, trace.frames[-1].function.name)


HOSTILE_PATHS = [
    *("/a b/c.py", "/look at /x.py", "/x:3/y.py", "/bracket [x]/f.cc", "/new\nline.py", "/\x1b[31m.py", "/\\x41.py"),
    *("xla@5a9e73cbd925:xla/shape.cc", "a.b-c@5a9e73cbd925+nearest:look at /x.cc"),
]
HOSTILE_NAMES = [
    *("plain", "evil at /etc/passwd:1", "evil at xla@5a9e73cbd925:a.cc:1", "two\nlines", " at /", "\u202e"),
]


def test_hostile_names_and_paths_survive_unforged(trace: Trace) -> None:
    length = len(format_trace(trace).split("\n"))
    frame = trace.frames[-1]
    for path, name in itertools.product(HOSTILE_PATHS, HOSTILE_NAMES):
        hostile = _with_last_frame(
            trace,
            function=replace(frame.function, name=name),
            location=Location(path, 9, LocationEvidence.CLASS),
            inlined=True,
        )
        text = format_trace(hostile)
        assert len(text.split("\n")) == length
        last = parse_trace(text)[-1]
        assert (last.path, last.line, last.function) == (path, 9, name)


def test_a_frame_without_source_shows_module_and_offset_without_a_link(trace: Trace) -> None:
    text = format_trace(_with_last_frame(trace, location=None, module="/lib/libx.so", offset=0x1A))

    assert " in /lib/libx.so+0x1a" in text
    assert len(parse_trace(text)) == len(trace.frames) - 1


def test_a_changed_line_has_its_recorded_text_below(trace: Trace) -> None:
    edited = Location(
        "/a.py", 6, LocationEvidence.EXACT, stale=Staleness.GONE, moved_from=5, recorded_text="return put(x[0])"
    )
    text = format_trace(_with_last_frame(trace, location=edited, inlined=False))

    assert text.endswith(" at /a.py:6 [was line 5, edited since]\n      as recorded: return put(x[0])\n")
    frame = read(text).stacks[-1].frames[-1]
    assert frame.labels == ("was line 5", "edited since", "as recorded: return put(x[0])")
    assert len(parse_trace(text)) == len(parse_trace(format_trace(trace)))


def test_other_texts_have_no_frames() -> None:
    assert parse_trace("") == []
    assert parse_trace("hello at /x.py:3\n  0 P x in /y+0x1\n") == []


def test_a_trace_is_divided_into_own_stack_ffi_calls_and_requesting_stacks(trace: Trace) -> None:
    site = FfiSite(1, "k", "target", (), trace.frames[:1], from_metadata=False)
    made = (
        CallDispatch(LinkEvidence.TOLD, location=Location("/a.py", 1, LocationEvidence.EXACT)),
        CallDispatch(LinkEvidence.BETWEEN, "main", trace.frames),
    )
    whole = replace(trace, origin=HandlerOrigin(SiteEvidence.SINGLE, (site,)), dispatched=made)
    apart = replace(whole, python=trace.frames[:2], outcome=MergeOutcome.COUNT_MISMATCH)

    further = [SectionKind.FFI_CALL, SectionKind.DISPATCHED]
    assert [section.kind for section in whole.sections()] == [SectionKind.MERGED, *further]
    assert [section.kind for section in apart.sections()] == [SectionKind.NATIVE, SectionKind.PYTHON, *further]
    assert [len(section.frames) for section in apart.sections()] == [len(trace.frames), 2, 1, len(trace.frames)]
    titles = [line for line in format_trace(apart).split("\n") if line.endswith(", most recent call last:")]
    assert titles == [f"{format_section_title(section)}, most recent call last:" for section in apart.sections()]


def test_a_truncated_stack_is_marked_beside_its_merge_state(trace: Trace) -> None:
    merged = format_trace(replace(trace, is_truncated=True))
    apart = format_trace(replace(trace, is_truncated=True, outcome=MergeOutcome.NO_HOST))
    old = format_trace(replace(trace, is_truncated=True, outcome=MergeOutcome.NOT_TOLD))

    deep = "The stack is deeper than the recorder follows: its outermost frames are missing."
    assert f"\ncut off: {deep}\n" in merged and "\nframes, most recent call last:\n" in merged
    assert f"\nunmerged: {deep} Some Python frames have no interpreter frame on the native stack.\n" in apart
    assert f"\nunmerged: {deep}\n" in old


def _with_last_frame(trace: Trace, **changes: object) -> Trace:
    frame: FrameRow = replace(trace.frames[-1], **changes)  # type: ignore[arg-type]
    return replace(trace, frames=(*trace.frames[:-1], frame))
