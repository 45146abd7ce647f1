"""Random edits of recorded programs: a line that survives an edit has the same answers, any other line has none."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from framedex.index import Index
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
EDITS = 50  # of each program

Answer = tuple[int, tuple[str, ...], tuple[str, ...]]
Text = list[tuple[int, str]]
"""The lines of a text, each with the number that it had before the edits; 0 for a line that was typed."""


@dataclass(frozen=True)
class Edited:
    """A recorded program, which is edited."""

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
    """What is known of each line: its calls, their functions, and the compiled programs with ops of it."""
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


def insert(chance: random.Random, lines: Text) -> Text:
    at = chance.randrange(len(lines) + 1)
    typed = [(0, f"typed_{chance.randrange(10**9)} = {number}") for number in range(chance.randrange(1, 4))]
    return [*lines[:at], *typed, *lines[at:]]


def delete(chance: random.Random, lines: Text) -> Text:
    at, count = chance.randrange(len(lines)), chance.randrange(1, 4)
    return [*lines[:at], *lines[at + count :]]


def change(chance: random.Random, lines: Text) -> Text:
    at = chance.randrange(len(lines))
    return [*lines[:at], (0, f"{lines[at][1]}  # changed {chance.randrange(10**9)}"), *lines[at + 1 :]]


def rename(chance: random.Random, lines: Text) -> Text:
    words = sorted({word for _, line in lines for word in line.split() if word.isidentifier() and len(word) > 2})
    word = chance.choice(words) if words else "x"
    return [(number if word not in line else 0, line.replace(word, f"{word}_renamed")) for number, line in lines]


def move(chance: random.Random, lines: Text) -> Text:
    at, count = chance.randrange(len(lines)), chance.randrange(1, 6)
    block, rest = lines[at : at + count], [*lines[:at], *lines[at + count :]]
    to = chance.randrange(len(rest) + 1)
    return [*rest[:to], *block, *rest[to:]]


def indent(chance: random.Random, lines: Text) -> Text:
    at, count = chance.randrange(len(lines)), chance.randrange(1, 10)
    return [(number, f"    {line}" if at <= i < at + count else line) for i, (number, line) in enumerate(lines)]


def is_known_once(line: str, lines: Text) -> bool:
    return Counter(other.strip() for _, other in lines)[line.strip()] == 1


def check(edited: Edited, lines: Text) -> None:
    """Lines that either text has more than once are left out: nobody can tell which of them an edit removed."""
    edited.program.write_text("".join(f"{line}\n" for _, line in lines))
    after = answers(edited.index, edited.program)
    original = edited.lines
    for now, (then, line) in enumerate(lines, 1):
        if not is_known_once(line, lines) or (then and not is_known_once(line, original)):
            continue
        is_followed = then and len(line.strip()) >= 6
        if is_followed or then == 0:
            assert after.get(now) == edited.before.get(then), (now, then, line)


EDITORS = (insert, delete, change, rename, move, indent)


def test_a_surviving_line_keeps_its_answers_and_no_other_line_has_any(edited: Edited) -> None:
    for seed in range(EDITS):
        chance = random.Random(seed)
        lines = edited.lines
        for _ in range(chance.randrange(1, 4)):
            lines = chance.choice(EDITORS)(chance, lines) or lines
        check(edited, lines)


def test_formatting_keeps_the_answers_of_lines_that_it_leaves(edited: Edited) -> None:
    text = "".join(f"{line}\n" for _, line in edited.lines)
    ruff = Path(sys.executable).with_name("ruff")
    command = [str(ruff), "format", "--line-length", "60", "--config", "indent-width = 2", "-"]
    formatted = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout.splitlines()
    numbers = {line.strip(): number for number, line in edited.lines}
    check(edited, [(numbers.get(line.strip(), 0), line) for line in formatted])
