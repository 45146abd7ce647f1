"""Random edits in VS Code: a line that survives them leads where it led before, and no other line leads anywhere."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from tests.editors.edited_program import answer, record_and_edit
from tests.editors.vscode import in_host
from tests.editors.vscode.workbench import Workbench


def test_definition_and_hover_follow_random_edits(new_window: Callable[[Path], Workbench], tmp_path: Path) -> None:
    folder = tmp_path / "edited"
    folder.mkdir()
    edited = record_and_edit(folder, seeds=(4, 6, 7))
    (folder / "edits.json").write_text(json.dumps(edited.lines()))
    seen = in_host.run(in_host.HOST / "edits.ts", tmp_path, new_window(folder))
    before, *after = ([answer(*each) for each in answers] for answers in seen)
    edited.expect_answers(before, after)
