"""Random edits over LSP: a line that survives them leads where it led before, no other line leads."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.editors.edited_program import Answer, record_and_edit
from tests.server.lsp_requests import Connect, definition, hover, open_document

pytestmark = pytest.mark.asyncio


@pytest.mark.exhaustive(keep=["seed30"])  # moves, changes, adds and deletes lines
@pytest.mark.parametrize("seed", range(40), ids=lambda seed: f"seed{seed}")
async def test_definition_and_hover_follow_random_edits(tmp_path: Path, connect: Connect, seed: int) -> None:
    edited = record_and_edit(tmp_path, seeds=[seed])
    recorded = "".join(f"{line}\n" for _, line in edited.original)

    async def look(lines: list[str], *, is_saved: bool) -> list[Answer]:
        """The answers on each line, of a client of its own: answers continue the walks of earlier ones."""
        text = "\n".join(lines) + "\n"
        edited.program.write_text(text if is_saved else recorded)
        answers: list[Answer] = []
        for number, line in enumerate(lines, 1):
            client = await connect(tmp_path)
            if not is_saved:
                open_document(client, edited.program.as_uri(), text)
            column = len(line) - len(line.lstrip())
            places = await definition(client, edited.program, number, column)
            answers.append((places, await hover(client, edited.program, number) is not None))
        return answers

    before = await look([line for _, line in edited.original], is_saved=True)
    after = []
    for lines in edited.lines():
        after += [await look(lines, is_saved=False), await look(lines, is_saved=True)]
    edited.expect_answers(before, after, has_walks=False)
