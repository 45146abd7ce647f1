"""Links in the terminal that VS Code does not make itself."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.editors.vscode.project import Project
from tests.editors.vscode.workbench import Workbench

LINKS = {
    'loc("device_put.py":12:7)': 12,
    'source_file="device_put.py" source_line=12': 12,
}


@pytest.mark.parametrize("text", LINKS)
def test_a_click_with_ctrl_opens_the_line(window: Workbench, project: Project, text: str) -> None:
    window.open(project.program, 1)
    window.expect_captures("1 capture")
    window.run("Terminal: Create New Terminal")
    prompt = window.page.locator(".terminal.xterm .xterm-rows")
    expect(prompt).to_contain_text("#")
    window.page.keyboard.type(f"echo '{text}'\n")
    # The next prompt is written, and nothing is drawn anew below the mouse: that would take the link away.
    expect(prompt).to_have_text(re.compile(r"#\s*$"))
    window.follow(text, at="device_put", says="Open the source of this frame")
    window.expect_place(project.program.name, LINKS[text])
