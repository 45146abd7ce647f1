"""Random edits of recorded programs: surviving lines have the same answers, any other line has none."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from framedex.index import Index
from tests.indexer.random_edits import Text, edited_at_random, is_decided
from tests.indexer.unplaced import index_without_sources
from tests.running import PROGRAMS, run

RECORDED = [
    "compiling.py",
    "costs/training.py",
    "costs/transfers.py",
    "training_with_faults.py",
    "arrays.py",
    "random_chain.py",
    "host_callbacks.py",
    "without_files.py",
    "profiled.py",
    "inside_jit.py",
]
KEPT = "costs/training.py"
EDITS = 50  # for each program

Answer = tuple[int, tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True)
class Edited:
    """A recorded program that is edited."""

    program: Path
    index: Path
    lines: Text
    before: dict[int, Answer]


@pytest.fixture(
    scope="module", params=[pytest.param(p, marks=() if p == KEPT else pytest.mark.exhaustive) for p in RECORDED]
)
def edited(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Edited:
    folder = tmp_path_factory.mktemp("edits")
    program = Path(shutil.copy(PROGRAMS / request.param, folder))
    capture = run(os.path.relpath(program, PROGRAMS), folder=folder, PYTHONPATH=str(PROGRAMS.parent.parent)).captures[0]
    program.write_text("# edited before it is indexed\n" + program.read_text())
    path = index_without_sources(folder / "index.db", capture)
    text = (PROGRAMS / request.param).read_text()
    program.write_text(text)
    lines = list(enumerate(text.splitlines(), 1))
    found = answers(path, program)
    assert found
    return Edited(program, path, lines, found)


def answers(path: Path, program: Path) -> dict[int, Answer]:
    """The data of each line: its calls, their functions, and the compiled programs with its ops."""
    with Index.open(path) as index:
        file = index.file(str(program))
        marks = {mark.line: mark for mark in file.marks(1, 10_000)}
        programs = {mark.line: mark.programs for mark in file.program_marks()}
        assert file.recorded_lines().keys() == marks.keys()
        return {
            line: (marks[line].calls, marks[line].boundaries, programs.get(line, ()))
            if line in marks
            else (0, (), programs[line])
            for line in marks.keys() | programs.keys()
        }


def check(edited: Edited, lines: Text) -> None:
    """Lines that occur more than once in either text are skipped: an edit may have removed any of them."""
    edited.program.write_text("".join(f"{line}\n" for _, line in lines))
    after = answers(edited.index, edited.program)
    original = edited.lines
    for now, (then, line) in enumerate(lines, 1):
        if is_decided(then, line, lines, original):
            assert after.get(now) == edited.before.get(then), (now, then, line)


def test_a_surviving_line_keeps_its_answers_and_no_other_line_has_any(edited: Edited) -> None:
    for seed in range(EDITS):
        check(edited, edited_at_random(seed, edited.lines))


def as_crlf(text: str) -> bytes:
    return text.replace("\n", "\r\n").encode()


def with_mark(text: str) -> bytes:
    return text.encode("utf-8-sig")


def in_latin_1(text: str) -> bytes:
    return f"# coding: latin-1\n# \xe9\n{text}".encode("latin-1")


def with_tabs(text: str) -> bytes:
    return re.sub(r"^(?: {4})+", lambda indent: "\t" * (len(indent[0]) // 4), text, flags=re.MULTILINE).encode()


def with_form_feeds(text: str) -> bytes:
    return text.replace("\n\n\n", "\n\n\f\n").encode()


@pytest.mark.parametrize("written", [as_crlf, with_mark, in_latin_1, with_tabs, with_form_feeds])
def test_encoding_and_line_endings_do_not_matter(edited: Edited, written: Callable[[str], bytes]) -> None:
    """Other line ends, a byte order mark, another encoding, tabs or form feeds do not change lines."""
    edited.program.write_bytes(written("".join(f"{line}\n" for _, line in edited.lines)))
    added = 2 if written is in_latin_1 else 0
    assert answers(edited.index, edited.program) == {line + added: each for line, each in edited.before.items()}


def test_a_retargeted_link_and_a_recreated_file_are_followed(edited: Edited) -> None:
    other = edited.program.with_name("other.py")
    other.write_text("# typed\n" + "".join(f"{line}\n" for _, line in edited.lines))
    now = {line + 1: each for line, each in edited.before.items()}
    edited.program.unlink()
    edited.program.symlink_to(other)
    assert answers(edited.index, edited.program) == now
    edited.program.unlink()
    shutil.copy(other, edited.program)
    assert answers(edited.index, edited.program) == now


def test_formatting_keeps_the_answers_of_unchanged_lines(edited: Edited) -> None:
    text = "".join(f"{line}\n" for _, line in edited.lines)
    ruff = Path(sys.executable).with_name("ruff")
    command = [str(ruff), "format", "--line-length", "60", "--config", "indent-width = 2", "-"]
    formatted = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout.splitlines()
    numbers = {line.strip(): number for number, line in edited.lines}
    check(edited, [(numbers.get(line.strip(), 0), line) for line in formatted])
