"""The walkthrough for a first recording."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.editors.vscode.project import Project
from tests.editors.vscode.workbench import Workbench


def test_the_first_step_is_complete_if_the_server_runs(window: Workbench, project: Project) -> None:
    window.open(project.program, project.put_scalar_line)
    window.expect_captures("1 capture")
    window.run("Open the walkthrough")
    expect(window.page.get_by_role("checkbox", name="Install framedex: Completed")).to_be_visible()
    expect(window.page.get_by_role("checkbox", name="Record a program: Not completed")).to_be_visible()
