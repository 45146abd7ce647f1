"""Two-line frames: a location belongs to the function on the line before it, and to no other."""

from __future__ import annotations

import pytest

from framedex.text_stacks import TextFrame, read


def parse_frames(text: str) -> list[tuple[str, str | None]]:
    """Each frame's function and location."""
    return [(frame.function, _place(frame)) for frame in read(text).frames()]


def _place(frame: TextFrame) -> str | None:
    return f"{frame.place.path}:{frame.place.line}" if frame.place is not None else None


def test_a_function_without_a_location_does_not_take_the_next_one() -> None:
    text = "goroutine 1 [running]:\nmain.f(0x1)\nmain.g(0x2)\n\t/a/g.go:2 +0x1d\n"
    assert parse_frames(text) == [("main.f", None), ("main.g", "/a/g.go:2")]


def test_interleaved_output_of_another_rank_belongs_to_its_own_frame() -> None:
    text = (
        "[rank0]: goroutine 1 [running]:\n[rank0]: main.f(0x1)\n[rank1]: \t/a/other.go:9 +0x1d\n"
        "[rank0]: \t/a/f.go:1 +0x1d\n"
    )
    assert parse_frames(text) == [("main.f", "/a/f.go:1")]


def test_timestamps_between_a_function_and_its_location_are_skipped() -> None:
    text = (
        "2026-11-22T10:00:00.123Z goroutine 1 [running]:\n2026-11-22T10:00:00.124Z main.f(0x1)\n"
        "2026-11-22T10:00:01.000Z \t/a/f.go:1 +0x1d\n"
    )
    assert parse_frames(text) == [("main.f", "/a/f.go:1")]


@pytest.mark.parametrize("between", ["W1122 10:00:00.000000    7 main.go:5] hello", "some other words"])
def test_a_location_below_an_unrelated_line_is_not_a_frame(between: str) -> None:
    text = f"stack backtrace:\n   0: a::f\n{between}\n             at /a/f.rs:1:2\n   1: a::g\n"
    assert ("a::f", None) in parse_frames(text)


def test_an_arrow_applies_only_to_the_file_above() -> None:
    text = (
        "ValueError                  Traceback (most recent call last)\n/a/f.py in f(x)\n      1 def f(x):\n"
        "----> 2     g(x)\n\n<ipython-input-3-0a1b> in g(x)\n----> 7     raise\n\nValueError: x\n"
    )
    assert parse_frames(text) == [("f", "/a/f.py:2"), ("g", None)]


def test_a_narrow_box_hides_no_path() -> None:
    (frame,) = read(
        "╭─── Traceback (most recent call last) ───╮\n│ /a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r/s/ │\n│ t.py:12 │\n"
        "│ in f                                    │\n╰─────────────────────────────────────────╯\nValueError\n"
    ).frames()
    assert (frame.function, _place(frame)) == ("f", "/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r/s/t.py:12")
    assert (frame.first_line, frame.last_line) == (1, 3)
