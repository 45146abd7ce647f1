"""docs/trace.svg shows what docs/make_pictures.py would draw of the demo as it is recorded now."""

from __future__ import annotations

import re
import runpy
from collections.abc import Iterable
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
MADE_BY = "docs/make_pictures.py"
pictures = runpy.run_path(str(DOCS / "make_pictures.py"))
picture = (DOCS / "trace.svg").read_text(encoding="utf-8")


def frames(lines: Iterable[str]) -> list[str]:
    """The lines of frames: those of the interpreter, which are counted alone, are Python's and not the trace's.

    A checkout may have been edited since the native part was built of it, or be another one by now.
    """
    shown = [line.removesuffix(" [file changed since]") for line in lines if re.match(r" +[PN] ", line)]
    return [re.sub(r" {2,}", "  ", line) for line in shown]


def ours(lines: Iterable[str]) -> list[str]:
    """The frames of the demo and of the mock TPU, which are the same with every jaxlib."""
    return [line for line in frames(lines) if "~/framedex/" in line]


@pytest.fixture(scope="module")
def now(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The lines of the trace as it is recorded here."""
    return [pictures["plain"](line) for line in pictures["trace_lines"](tmp_path_factory.mktemp("demo"))]


@pytest.mark.exhaustive
def test_our_own_frames_are_where_the_picture_says(now: list[str]) -> None:
    assert ours(pictures["lines_of"](picture)) == ours(now), f"run python {MADE_BY}"


@pytest.mark.exhaustive
def test_every_frame_is_where_the_picture_of_this_jaxlib_says(now: list[str]) -> None:
    if pictures["jaxlib_of"](picture) != pictures["jaxlib"]():
        pytest.skip("the picture is of another jaxlib")
    assert frames(pictures["lines_of"](picture)) == frames(now), f"run python {MADE_BY}"


def test_the_picture_is_of_the_command_that_it_says() -> None:
    command, head, *_ = pictures["lines_of"](picture)
    assert command == f"$ framedex {' '.join(pictures['COMMAND'])}"
    assert re.match(r"call \d+  DeviceMemory::Allocate ", head)
