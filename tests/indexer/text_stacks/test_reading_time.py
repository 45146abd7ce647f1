"""For any text, parsing never raises, and its time grows linearly with the length."""

from __future__ import annotations

import random
from functools import partial
from pathlib import Path

import pytest

from framedex.binaries.demangle import parse_printed_name
from framedex.sources.releases.statements import StatedReleases
from framedex.text_stacks import detect, read
from framedex.text_stacks.lines import MAX_LINE_LENGTH, create_readers
from tests.crash_corpus import corpus
from tests.timing import seconds_of

SAMPLES = Path(__file__).parents[2] / "fixtures" / "stacks"
TEXTS = [path.read_text(encoding="utf-8") for path in sorted(SAMPLES.glob("*.*")) if path.suffix != ".cc"]
TEXTS += [text.text for text in corpus() if text.frames]

LONGEST_NAME = 50_000  # characters: a line may have a few more

UNITS = [
    " (", 'File "', "loc(", "loc(callsite(", ") at ", " from ", "#0 ", "@ 0x1 ", ":1", "a.py:1", '"name": "', " /",
    'metadata={a="', '\\"', "Thread 1 (", "fused[", "fused<", "#loc1 = loc(", "|", "+0x1", "((", "<", "x at /",
    "?trace=1&map=", "1,", "#1 0x1 in f(", "#1 0x1 f (a.so+0x1) ", "frame #1: f + 0x1 (0x1 in ",
    "frame #1: 0x1 a`f at ", "a`", " [inlined] ", " + 1", "1# f at ", " in ", "#1 pc 00000001 ", ") [0x1] ",
    "(f+0x1)[0x1", "/a.so(f+0x1", "1 a 0x00000001 ", "==1==    at 0x1: f (", "*** Begin stack trace *** ", "At: ",
    "/a.py(1): f", '| Source "a", line 1, in f ', " (offset 0x1)", " (BuildId: ab)", "I0101 1 1 a.cc:1] ",
    "2026-11-22T10:00:00Z ", "worker | ", "(pid=1) ", "E   ", "[rank0]: ", "[a:1] ", "#1 Frame 0x1, for file ",
    '"Object "a", at 0x1, in ', "\t", " ", "()", "<>", "0x1 ", "#1 f from a.cpp:1 ", "(inlined) at ",
    "Exception raised from f at /a.cpp:1 (most recent call first):", "1 f  (in a) + 1  [0x1]", 'error: "a"("a":1:2): ',
    "\t    000000000001 py::f:/a.py (/a)", "> ", " at :0",
]  # fmt: skip


# Open stacks, so that the line is parsed as one of theirs, and possible prefixes of a line.
BEFORE = [
    "", "#0  0x1 in f (a=1,\n    ", "*** Begin stack trace ***\n\t", "At:\n  ", "backtrace:\n --- ",
    "1  a 0x0000000000000001 f + 1\n", "==1==    at 0x1: f (a.c:1)\n==1== ", "    @ 0000000000000001 f\n           ",
    "I0101 12:00:00.123456 1 a.cc:1] #1 0x1 ", "frame #1: 0x1 a`", "#1 0x0000000000000001 ", "#1 0x1 in ", "1# ",
    "frame #1: ", '  File "/a.py", line 1, in f\n    ', "TensorsGraphInfo:\n  ", "#00 pc 00000001 ",
]  # fmt: skip


@pytest.mark.exhaustive(keep=["0", "1", "2"])
@pytest.mark.parametrize("seed", range(80))
def test_damaged_texts_are_read(seed: int) -> None:
    """Truncated, repeated and mixed lines."""
    chance = random.Random(seed)
    text = "".join(chance.choices(TEXTS, k=2))
    for _ in range(40):
        start, end = sorted((chance.randrange(len(text)), chance.randrange(len(text))))
        end = min(end, start + 60)
        piece = chance.choice([text[start:end] * 2, "", chance.choice(UNITS), "\n", "\0", "\u202e", "🚀", "\udc80"])
        text = text[:start] + piece + text[end:]
    lines = text.split("\n")
    for frame in read(text).frames():
        assert 0 <= frame.first_line <= frame.last_line < len(lines)
        assert all(0 <= part.start < part.end <= len(lines[part.line]) for part in frame.parts)


@pytest.mark.exhaustive(keep=["#1 0x1 in "])
@pytest.mark.parametrize("before", BEFORE)
def test_time_is_linear_in_line_length(before: str) -> None:
    texts = {unit: before + unit * ((MAX_LINE_LENGTH - 100) // len(unit)) for unit in UNITS}
    seconds = {unit: seconds_of(partial(read, text)) for unit, text in texts.items()}

    # Quadratic work would take seconds for the longest accepted line.
    assert {unit: taken for unit, taken in seconds.items() if taken >= 1.0} == {}


NAMES = [
    "operator(", "operator<", "(", "<", "[clone ", " (a=", " (<", "@", "@A", " ", "+ 1 ", "{lambda(", "a::", "std::f<",
    "(anonymous namespace)::", "~", "...", " (.", "$_0", "'lambda'(", "_ZN", "\x00", "🚀",
]  # fmt: skip


@pytest.mark.exhaustive(keep=["operator<-", "(anonymous namespace)::-)"])
@pytest.mark.parametrize("end", ["", ")", "+0x1a"])
@pytest.mark.parametrize("unit", NAMES)
def test_time_is_linear_in_name_length(unit: str, end: str) -> None:
    name = "f" + unit * (LONGEST_NAME // len(unit)) + end
    assert seconds_of(lambda: parse_printed_name(name)) < 1.0


@pytest.mark.exhaustive(keep=["jax-"])
@pytest.mark.parametrize(
    "unit", ["jax ", "jax-", "jax==", "jax:  ", "a.b-", "Python v", "0.1.", "python version", "-1"]
)
def test_time_is_linear_in_the_length_of_a_release_statement(unit: str) -> None:
    text = "jax==0.1 " + unit * (MAX_LINE_LENGTH // len(unit))
    assert seconds_of(lambda: StatedReleases("\n".join([text, text[:4000]] * 4))) < 1.0


@pytest.mark.parametrize(
    ("begin", "filling", "end"),
    [
        ("jax", " ", "x"),
        ("jax version", "_", "x"),
        (f"Requirement already satisfied: {'a' * 2000}", "(", "0.9)"),
        ("jax [required: ", "a [required: ", "installed: x"),
    ],
)
def test_time_is_linear_in_the_padding_of_a_release_statement(begin: str, filling: str, end: str) -> None:
    line = f"{begin}{filling * ((3900 - len(begin)) // len(filling))}{end} jax 0.9\n"  # a line of several kB is parsed
    assert seconds_of(lambda: StatedReleases(line * 50)) < 1.0


@pytest.mark.exhaustive
@pytest.mark.parametrize("filling", ["a", " ", "(", "a/", "0x", '"'])
def test_time_is_linear_in_the_text_after_a_frame_start(filling: str) -> None:
    """After every trigger of every reader, alone and after a number."""
    length = MAX_LINE_LENGTH // 2
    slow = []
    for trigger in dict.fromkeys(trigger for reader in create_readers() for trigger in reader.triggers):
        for begin in (trigger, f"#0 {trigger}"):
            text = f"{begin}{filling * (length // len(filling))}"
            slow += [begin] * (seconds_of(partial(read, text)) > 0.5)
    assert slow == []


def test_a_line_of_megabytes_is_skipped_with_a_note() -> None:
    text = f'  File "/a.py", line 1, in f\n{"#0 0x1 in f (" * 800_000}\n  File "/b.py", line 2, in g\n'
    reading = read(text)
    assert [frame.function for frame in reading.frames()] == ["f", "g"]
    assert [problem.split(" has")[0] for problem in reading.problems] == ["Line 2"]


def test_the_number_of_frames_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detect, "MAX_FRAMES", 1000)
    reading = read('  File "/a.py", line 1, in f\n' * 200_000)
    assert 1000 <= len(list(reading.frames())) < 10_000
    assert "more than 1,000 frames" in reading.problems[0]
