"""docs/trace.svg matches what docs/make_pictures.py would draw of the demo now."""

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
    """The frames to compare: interpreter frames depend on Python and are only counted.

    A checkout may be newer than the native build, or a different checkout.
    """
    shown = [line.removesuffix(" [file changed since]") for line in lines if re.match(r" +[PN] ", line)]
    return [re.sub(r" {2,}", "  ", line) for line in shown]


def ours(lines: Iterable[str]) -> list[str]:
    """The frames of the demo and of the mock TPU, which are the same for every jaxlib."""
    return [line for line in frames(lines) if "~/framedex/" in line]


@pytest.fixture(scope="module")
def now(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The lines of a newly recorded trace."""
    return [pictures["strip_styles"](line) for line in pictures["trace_lines"](tmp_path_factory.mktemp("demo"))]


@pytest.mark.exhaustive
def test_our_own_frames_are_where_the_picture_shows_them(now: list[str]) -> None:
    assert ours(pictures["lines_of"](picture)) == ours(now), f"run python {MADE_BY}"


@pytest.mark.exhaustive
def test_every_frame_is_where_the_picture_for_this_jaxlib_shows_it(now: list[str]) -> None:
    if pictures["jaxlib_of_picture"](picture) != pictures["jaxlib_version"]():
        pytest.skip("the picture is of another jaxlib")
    assert frames(pictures["lines_of"](picture)) == frames(now), f"run python {MADE_BY}"


def test_the_picture_shows_the_output_of_its_command() -> None:
    command, head, *_ = pictures["lines_of"](picture)
    assert command == f"$ framedex {' '.join(pictures['COMMAND'])}"
    assert re.match(r"call \d+  DeviceMemory::Allocate ", head)
