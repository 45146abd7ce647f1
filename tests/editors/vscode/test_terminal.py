"""Terminal links that VS Code does not create itself."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.editors.vscode.project import PUBLIC, Project
from tests.editors.vscode.workbench import Workbench

LINKS = {
    'loc("device_put.py":12:7)': 12,
    'source_file="device_put.py" source_line=12': 12,
}


@pytest.mark.parametrize("text", LINKS)
def test_ctrl_click_opens_the_line(window: Workbench, project: Project, text: str) -> None:
    window.open(project.program, 1)
    window.expect_captures("1 capture")
    window.run("Terminal: Create New Terminal")
    prompt = window.page.locator(".terminal.xterm .xterm-rows")
    expect(prompt).to_contain_text("#")
    window.page.keyboard.type(f"echo '{text}'\n")
    # The next prompt is below the output, and no redraw below the mouse would remove the link.
    expect(prompt).to_have_text(re.compile(re.escape(text) + r"(?!').*#\s*$"))
    window.follow(text, at="device_put", hover="Open the source of this frame")
    window.expect_place(project.program.name, LINKS[text])


def test_a_frame_with_public_source_is_short_and_links_to_its_page(
    public: Project, shared_window: Callable[[Path], Workbench]
) -> None:
    """VS Code's terminal opens web links behind a text after a confirmation."""
    window = shared_window(public.folder)
    window.open(public.program, 1)
    window.expect_captures("1 capture")
    window.run("Terminal: Create New Terminal")
    rows = window.page.locator(".terminal.xterm .xterm-rows")
    expect(rows).to_contain_text("#")
    window.page.keyboard.type("framedex find DevicePutWithSharding\n")
    expect(rows).to_have_text(re.compile(r"not here.*#\s*$"))
    expect(rows).not_to_contain_text("https://")
    window.follow("jaxlib/py_values.cc:2", at="py_values", hover=PUBLIC)
    expect(window.page.locator(".monaco-dialog-box")).to_contain_text(PUBLIC.removeprefix("https:"))
