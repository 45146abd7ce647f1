"""Every verb after an edit of the program: a moved statement is on its new line, a changed one on none."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

from framedex.commands.main import cli
from framedex.index import Index
from framedex.model import CallFilter
from tests.indexer.unplaced import index_without_sources
from tests.running import PROGRAMS, run

CHANGED = "        params = step(params, x, y)"
VERBS = {
    **{verb: [verb] for verb in ("compiles", "transfers", "memory", "waits")},
    "where": ["where", "{program}"],
    "where a line": ["where", "{program}:{line}"],
    "trace": ["trace", "PJRT_LoadedExecutable_Execute"],
    "callees": ["callees", "main"],
    "callers": ["callers", "main"],
    "find": ["find", "main"],
}


@dataclass(frozen=True)
class Recorded:
    program: Path
    index: Path

    def ask(self, verb: list[str], line: int, *options: str) -> str:
        words = [word.format(program=self.program, line=line) for word in verb]
        return CliRunner().invoke(cli, ["--index", str(self.index), *words, *options], catch_exceptions=False).stdout


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    folder = tmp_path_factory.mktemp("verbs")
    program = Path(shutil.copy(PROGRAMS / "costs/training.py", folder))
    capture = run(os.path.relpath(program, PROGRAMS), folder=folder, PYTHONPATH=str(PROGRAMS.parent.parent)).capture
    return Recorded(program, index_without_sources(folder / "index.db", capture))


def edit(recorded: Recorded) -> tuple[list[str], list[str]]:
    """The lines of the program before and after two are typed at the top and one is changed."""
    before = (PROGRAMS / "costs/training.py").read_text().splitlines()
    after = ["# typed", "# typed", *(line + "  # changed" if line == CHANGED else line for line in before)]
    recorded.program.write_text("\n".join(before) + "\n")
    return before, after


def places(document: object) -> Iterator[tuple[int, bool]]:
    """The program lines in a JSON document, each with whether it was changed."""
    if isinstance(document, dict):
        path, line = document.get("path"), document.get("line")
        if isinstance(path, str) and path.endswith("training.py") and isinstance(line, int):
            is_changed = document.get("stale") == "gone"
            assert not is_changed or document["recorded_text"] == CHANGED.strip()
            yield line, is_changed
    if isinstance(document, dict | list):
        for value in document.values() if isinstance(document, dict) else document:
            yield from places(value)


def test_the_edited_program_has_the_lines_that_verbs_show(recorded: Recorded) -> None:
    before, _ = edit(recorded)
    with Index.open(recorded.index) as index:
        assert before.index(CHANGED) + 1 in index.file(str(recorded.program)).recorded_lines()


@pytest.mark.parametrize("verb", VERBS.values(), ids=VERBS)
def test_a_verb_shows_the_current_lines(recorded: Recorded, verb: list[str]) -> None:
    before, after = edit(recorded)
    line = before.index("        if number % 5 == 0:") + 2
    text, document = recorded.ask(verb, line), json.loads(recorded.ask(verb, line, "--json"))
    recorded.program.write_text("\n".join(after) + "\n")
    text_now, document_now = recorded.ask(verb, line + 2), json.loads(recorded.ask(verb, line + 2, "--json"))

    named = re.compile(r"training\.py:(\d+)([^\n]*)")
    told = {int(number) for number, _ in named.findall(text)} | {number for number, _ in places(document)}
    told_now = [(int(number), "edited since" in rest) for number, rest in named.findall(text_now)]
    assert told
    for number, is_changed in [*told_now, *places(document_now)]:
        assert is_changed == (after[number - 1].startswith(CHANGED)), (number, after[number - 1])
        assert number - 2 in told
    assert {number for number, _ in [*told_now, *places(document_now)]} == {number + 2 for number in told}
    assert f"as recorded: {CHANGED.strip()}" in text_now or not any(is_changed for _, is_changed in told_now)


def test_calls_through_a_line_are_found_by_its_current_number(recorded: Recorded) -> None:
    before, after = edit(recorded)
    line = before.index('        kept.append(jnp.sum(params["w"]))') + 1

    def found(number: int) -> int:
        with Index.open(recorded.index) as index:
            return index.calls.count(CallFilter(through=f"training.py:{number}"))

    calls = found(line)
    recorded.program.write_text("\n".join(after) + "\n")
    assert calls and found(line + 2) == calls
    assert found(1) == 0
