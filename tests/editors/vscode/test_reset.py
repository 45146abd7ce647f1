"""A shared window equals a new one after a reset."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import expect

from tests.editors.vscode.project import Project
from tests.editors.vscode.workbench import Workbench


def test_a_reset_closes_views_and_clears_filter_and_selection(
    shared_window: Callable[[Path], Workbench], twice: Project
) -> None:
    window = shared_window(twice.folder)
    window.open(twice.program, twice.put_scalar_line)
    window.expect_captures("2 captures")
    window.run("Pick a capture")
    window.answer("capture 1")
    window.expect_captures("capture 1 only")
    window.show_view("framedex")
    calls = window.tree("Recorded calls")
    calls.first.click()
    window.page.get_by_role("button", name="Filter").click()
    window.answer("put_scalar")
    window.run("Terminal: Create New Terminal")
    expect(window.page.locator(".terminal.xterm")).to_be_visible()

    window.reset()
    window.expect_captures("2 captures")
    expect(window.page.locator(".tabs-container .tab")).to_have_count(0)
    expect(window.page.locator(".terminal.xterm")).to_have_count(0)
    window.show_view("framedex")
    expect(calls).to_have_count(2)
    expect(window.page.get_by_text("Only calls with")).to_have_count(0)
