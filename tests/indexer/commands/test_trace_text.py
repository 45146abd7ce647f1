"""Traces as text: folding, labels, and hostile names that cannot reach the terminal."""

from __future__ import annotations

from dataclasses import replace

import pytest

from framedex.base import words
from framedex.commands.output.render_answers import render_relation_lines
from framedex.commands.output.render_calls import build_single_runs, call_lines
from framedex.commands.output.render_trace import render_all_frames, render_folded_frames, render_trace_header
from framedex.commands.output.terminal import Line, Terminal, paint
from framedex.index import Index
from framedex.model import CallEdge, FrameRole, FrameRow, Location, LocationEvidence, Trace
from framedex.texts.calls import format_arguments_briefly
from tests.indexer.recorded import Project

PLAIN = Terminal(colors=False, links=False)
HOSTILE = "\x1b]8;;http://evil\x07name\n\u202e\r\x9b2J"


@pytest.fixture(scope="module")
def trace(indexed_once: Project) -> Trace:
    with Index.open(indexed_once.index) as index:
        found = index.calls.trace(1)
    assert found is not None
    return found


def text(*lines: Line) -> list[str]:
    return [paint(line, PLAIN) for line in lines]


def with_role(frame: FrameRow, role: FrameRole) -> FrameRow:
    return replace(frame, function=replace(frame.function, role=role))


def test_interpreter_and_glue_frames_are_folded_into_a_count(trace: Trace) -> None:
    roles = [
        FrameRole.CODE,
        FrameRole.INTERPRETER,
        FrameRole.INTERPRETER,
        FrameRole.GLUE,
        FrameRole.CODE,
        FrameRole.GLUE,
        FrameRole.CODE,
        FrameRole.CODE,
    ]
    frames = [with_role(frame, role) for frame, role in zip(trace.frames, roles, strict=True)]

    shown = text(*render_folded_frames(frames))

    assert [line.strip() for line in shown if "…" in line] == ["… 2 interpreter and 1 glue frames", "… 1 glue frame"]
    assert len(shown) == 6
    assert len(text(*render_all_frames(frames))) == 8


def test_candidates_are_counted_when_folded_and_listed_in_full_output(trace: Trace) -> None:
    frame = trace.frames[4]
    assert frame.location is not None
    here = frame.location.path
    others = (Location(here, 1, LocationEvidence.CANDIDATES), Location("/b.cc", 2, LocationEvidence.CANDIDATES))
    frame = replace(frame, candidates=others)

    (folded,) = text(*render_folded_frames([frame]))
    whole = text(*render_all_frames([frame]))

    assert folded.endswith("(+2 candidates)")
    assert [line.strip() for line in whole[1:]] == [f"or {here}:1 [candidates]", "or /b.cc:2 [candidates, not here]"]


def test_a_frame_without_source_shows_module_and_offset(trace: Trace) -> None:
    (line,) = text(*render_folded_frames([replace(trace.frames[4], location=None)]))

    assert line.endswith(f"libglue.so+{trace.frames[4].offset:#x}")


def test_hostile_names_are_escaped_everywhere(trace: Trace) -> None:
    place = Location(f"/{HOSTILE}", 3, LocationEvidence.CLASS)
    frame = trace.frames[4]
    function = replace(frame.function, name=HOSTILE, location=place)
    hostile = replace(frame, function=function, location=place, candidates=(place,), module=HOSTILE)
    call = replace(
        trace.call, function=HOSTILE, thread=HOSTILE, arguments={"error_message": HOSTILE, HOSTILE: HOSTILE}, error=3
    )
    capture = replace(trace.capture, command=HOSTILE, path=HOSTILE)
    lines = [
        *render_trace_header(replace(trace, call=call, capture=capture, frames=(hostile,)), ()),
        *render_folded_frames([hostile, replace(hostile, location=None)]),
        *render_all_frames([hostile]),
        *call_lines(build_single_runs([call]), [capture]),
        *render_relation_lines(function, [CallEdge(function, function, 1, (place,))], "callers", are_callees=False),
    ]

    for line in text(*lines):
        assert line.isprintable(), line
    linked = "".join(paint(line, Terminal(colors=False, links=True, host="h")) for line in lines)
    assert "\n" not in linked and "\u202e" not in linked
    assert "\x07" not in linked and "\x9b" not in linked
    assert linked.count("\x1b") == 4 * linked.count("\x1b]8;;file://h/"), "no escape but those of our own links"


def test_only_supporting_terminals_get_links() -> None:
    for environment, links in (
        ({"TERM_PROGRAM": "iTerm.app"}, True),
        ({"TERM": "xterm-kitty"}, True),
        ({"VTE_VERSION": "7200"}, True),
        ({"VTE_VERSION": "4200"}, False),
        ({"VTE_VERSION": "broken"}, False),
        ({"TERM_PROGRAM": "tmux", "TERM_PROGRAM_VERSION": "3.4"}, True),
        ({"TERM_PROGRAM": "tmux", "TERM_PROGRAM_VERSION": "3.3a"}, False),
        ({"TERM_PROGRAM": "vscode", "VTE_VERSION": "7200"}, False),
        ({"TERMINAL_EMULATOR": "JetBrains-JediTerm", "TERM": "xterm-256color"}, False),
        ({"TERM": "xterm"}, False),
        ({"TERM": "dumb", "TERM_PROGRAM": "WezTerm"}, False),
        ({"FORCE_HYPERLINK": "1"}, True),
        ({"FORCE_HYPERLINK": "0", "TERM_PROGRAM": "WezTerm"}, False),
    ):
        assert Terminal.detect(True, environment).links is links
        assert Terminal.detect(False, environment).links is False


def test_no_color_is_respected() -> None:
    assert Terminal.detect(True, {"TERM": "xterm"}).colors
    assert not Terminal.detect(True, {"TERM": "xterm", "NO_COLOR": "1"}).colors
    assert not Terminal.detect(False, {"TERM": "xterm"}).colors


def test_durations_have_a_fitting_unit() -> None:
    for nanoseconds, shown in (
        (-1, "never returned"),
        (0, "0 ns"),
        (999, "999 ns"),
        (12_345, "12.3 µs"),
        (999_499, "999 µs"),
        (999_600, "1 ms"),
        (1_500_000, "1.5 ms"),
        (999_700_000_000, "1000 s"),
        (2 * 10**12, "2000 s"),
    ):
        assert words.format_duration(nanoseconds) == shown


def test_a_command_is_shown_as_script_and_arguments() -> None:
    for command, shown in (
        ("/env/bin/python3 /home/me/project/train.py --data /data/a", "train.py --data /data/a"),
        ("/env/bin/python3.11 model/train.py", "model/train.py"),
        ("/env/bin/python3 '/home/me/My Project/train.py' --name 'a b'", "train.py --name 'a b'"),
        ("'/my env/bin/python3' '/home/me/$(x) & y/a program.py'", "a program.py"),
        ("""/env/bin/python3 '/home/me/it'"'"'s here/it'"'"'s.py' -v""", "it's.py -v"),
        ("/env/bin/python3 '/home/me/a\nb/c\nd.py'", "c\nd.py"),
        ("/env/bin/python3 '/home/me/cut off", "cut off"),
        ("/env/bin/python3 -m train", "python3 -m train"),
        ("/usr/bin/serve /data/a", "serve /data/a"),
        ("python3", "python3"),
        ("", "(no command)"),
    ):
        assert words.shorten_command(command) == shown


def test_arguments_are_abbreviated() -> None:
    for arguments, shown in (
        ({"type": "F32", "dims": [2, 3], "bytes": 24}, "F32[2,3] 24 B"),
        ({"type": "BF16", "dims": [], "bytes": 4096}, "BF16[] 4 KiB"),
        ({"client": "0x1234", "id": 3, "name": "x", "gone": None, "of": ["0x1"], "no": ""}, "id=3, name=x"),
        ({"a": 1, "b": 2, "c": 3, "d": 4}, "a=1, b=2, c=3, …"),
        ({}, ""),
    ):
        assert format_arguments_briefly(arguments) == shown
