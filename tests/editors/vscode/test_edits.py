"""Random edits in VS Code: surviving lines lead to the same targets as before, other lines to none."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from tests.editors.edited_program import answer, record_and_edit
from tests.editors.vscode import in_host
from tests.editors.vscode.workbench import Workbench


def test_definition_and_hover_follow_random_edits(tmp_path: Path, new_window: Callable[[Path], Workbench]) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    edited = record_and_edit(folder, seeds=(2, 3, 5))
    (folder / "edits.json").write_text(json.dumps(["\n".join(lines) for lines in edited.lines()]))
    before, *after = (
        [answer(*each) for each in answers]
        for answers in in_host.run(in_host.HOST / "edits.ts", tmp_path, new_window(folder))
    )
    edited.expect_answers(before[: len(edited.original)], after)
