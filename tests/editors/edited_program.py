"""A recorded program with random edits, and the answers that an editor has to give on every line of them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.indexer.random_edits import Text, edited_at_random, is_decided
from tests.indexer.unplaced import index_without_sources
from tests.running import PROGRAMS, run

Answer = tuple[list[tuple[str, int]], bool]
"""The definitions of a line (file and 1-based line), and whether it has a hover."""


@dataclass(frozen=True)
class EditedProgram:
    """A recorded program, indexed in its folder, and its text after edits."""

    program: Path
    original: Text
    texts: Sequence[Text]

    def lines(self) -> list[list[str]]:
        """The edited texts, as an editor receives them."""
        return [[line for _, line in text] for text in self.texts]

    def expect_answers(self, before: Sequence[Answer], edited: Sequence[Sequence[Answer]]) -> None:
        """Check that lines which survived an edit have the answers from before it, and new lines have none.

        `edited` has the answers on each text twice: before and after it was saved.
        """
        assert any(places for places, _ in before)
        assert len(edited) == 2 * len(self.texts)
        for number, answers in enumerate(edited):
            text = self.texts[number // 2]
            assert len(answers) == len(text)
            for now, (then, line) in enumerate(text, 1):
                if is_decided(then, line, text, self.original):
                    places, has_hover = answers[now - 1]
                    there = [(file, text[at - 1][0] if file == self.program.name else at) for file, at in places]
                    expected = before[then - 1] if then else ([], False)
                    assert (there, has_hover) == expected, (number, now, then, line)


def record_and_edit(folder: Path, seeds: Sequence[int]) -> EditedProgram:
    """Record a training loop in a folder, index it, and edit its text once for each seed."""
    program = Path(shutil.copy(PROGRAMS / "costs/training.py", folder))
    capture = run(os.path.relpath(program, PROGRAMS), folder=folder, PYTHONPATH=str(PROGRAMS.parent.parent)).capture
    (folder / ".framedex").mkdir()
    index_without_sources(folder / ".framedex" / "index.db", capture)
    original: Text = list(enumerate(program.read_text().splitlines(), 1))
    return EditedProgram(program, original, [edited_at_random(seed, original) for seed in seeds])


def answer(places: Sequence[tuple[str, int]], has_hover: bool) -> Answer:
    """An answer as it comes out of JSON, whose pairs are lists."""
    return [(file, line) for file, line in places], has_hover
