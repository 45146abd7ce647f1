"""Recording a program from the editor."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.editors.vscode.project import Project
from tests.editors.vscode.workbench import Workbench


def test_a_file_is_recorded_and_its_lines_are_known(
    tmp_path: Path, project: Project, new_window: Callable[[Path], Workbench]
) -> None:
    program = tmp_path / "new.py"
    shutil.copy(project.program, program)
    window = new_window(tmp_path)
    window.load()
    window.open(program, project.put_scalar_line, 16)
    window.expect_server()
    window.run("Record this file")
    window.expect_captures("1 capture")
    window.run("Show or Focus Hover")
    expect(window.hover).to_contain_text("PJRT_Client_BufferFromHostBuffer")


ENDLESS = """\
import pathlib, signal, jax
jax.device_put(1)
{first}
pathlib.Path("ready").touch()
while True:
    signal.pause()
"""


@pytest.mark.parametrize(
    ("first", "signals"),
    [("", ["SIGINT"]), ("signal.signal(signal.SIGINT, signal.SIG_IGN)", ["SIGINT", "SIGTERM"])],
    ids=["at once", "when asked twice"],
)
def test_a_recording_can_be_stopped_and_is_kept(
    tmp_path: Path, new_window: Callable[[Path], Workbench], first: str, signals: list[str]
) -> None:
    program = tmp_path / "endless.py"
    program.write_text(ENDLESS.format(first=first))
    window = new_window(tmp_path)
    window.load()
    window.open(program, 1)
    window.expect_server()
    window.run("Record this file")
    expect(window.tree("Files Explorer").filter(has_text="ready")).to_be_visible()
    said = "recording endless.py"
    for signal in signals:
        window.answer_message(said, "Cancel")
        said = f"{signal} was sent"
    expect(window.message(f"endless.py was ended by {signals[-1]}")).to_be_visible()
    window.expect_captures("1 capture")
