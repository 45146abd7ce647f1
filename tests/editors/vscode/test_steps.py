"""Stepping along a recorded stack by keys, and how it is marked."""

from __future__ import annotations

from playwright.sync_api import Locator, expect

from tests.editors.vscode.project import Project
from tests.editors.vscode.workbench import Workbench


def test_steps_go_in_and_out_and_mark_the_stack(window: Workbench, project: Project) -> None:
    window.open(project.program, project.put_scalar_line, 16)
    window.expect_captures("1 capture")
    number = window.step("i")
    expect(window.tab).to_have_attribute("data-resource-name", "api.py")
    expect(marks(window)).to_have_count(1)
    assert window.step("o") == number - 1
    window.expect_place(project.program.name, project.put_scalar_line)
    # The whole stack is marked: <module> calls put_scalar, which is where the reader is.
    expect(marks(window)).to_have_count(2)


def marks(window: Workbench) -> Locator:
    """The icons in the gutter of the active editor."""
    return window.page.locator(".editor-group-container.active .cgmr")
