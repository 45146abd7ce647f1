"""A recorded program with random edits, and the expected editor answers for each line."""

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

    def expect_answers(
        self, before: Sequence[Answer], edited: Sequence[Sequence[Answer]], *, has_walks: bool = True
    ) -> None:
        """Check that lines which survived an edit have the answers from before it, and new lines have none.

        `edited` has the answers on each text twice: before and after it was saved. With `has_walks`, one client asked
        from the first line to the last. A line to which an earlier answer had led then continues that walk: only its
        hover is compared. So it is where an edit changed or removed the line that an answer led to.
        """
        assert any(places for places, _ in before)
        fresh_before = self._fresh_lines(before)
        assert len(edited) == 2 * len(self.texts)
        for number, answers in enumerate(edited):
            text = self.texts[number // 2]
            assert len(answers) == len(text)
            fresh = self._fresh_lines(answers)
            for now, (then, line) in enumerate(text, 1):
                if is_decided(then, line, text, self.original):
                    places, has_hover = answers[now - 1]
                    there = [(file, text[at - 1][0] if file == self.program.name else at) for file, at in places]
                    expected = before[then - 1] if then else ([], False)
                    assert has_hover == expected[1], (number, now, then, line)
                    is_fresh = not has_walks or (now in fresh and (not then or then in fresh_before))
                    if is_fresh and self._are_lines_of(text, expected[0]):
                        assert there == expected[0], (number, now, then, line)

    def _are_lines_of(self, text: Text, places: Sequence[tuple[str, int]]) -> bool:
        """Whether a text still has all these lines of the program: else an answer that led to one leads elsewhere."""
        left = {number for number, _ in text}
        return all(file != self.program.name or line in left for file, line in places)

    def _fresh_lines(self, answers: Sequence[Answer]) -> set[int]:
        """The lines to which no answer on an earlier line had led."""
        fresh, led = set(), set()
        for line, (places, _) in enumerate(answers, 1):
            if line not in led:
                fresh.add(line)
            led |= {at for file, at in places if file == self.program.name}
        return fresh


def record_and_edit(folder: Path, seeds: Sequence[int]) -> EditedProgram:
    """Record and index a training loop in a folder, and edit its text once for each seed."""
    program = Path(shutil.copy(PROGRAMS / "costs/training.py", folder))
    capture = run(os.path.relpath(program, PROGRAMS), folder=folder, PYTHONPATH=str(PROGRAMS.parent.parent)).capture
    (folder / ".framedex").mkdir()
    index_without_sources(folder / ".framedex" / "index.db", capture)
    original: Text = list(enumerate(program.read_text().splitlines(), 1))
    return EditedProgram(program, original, [edited_at_random(seed, original) for seed in seeds])


def answer(places: Sequence[tuple[str, int]], has_hover: bool) -> Answer:
    """An answer decoded from JSON, with pairs as lists."""
    return [(file, line) for file, line in places], has_hover
