"""Trace documents: opened from a source line, and leading back to sources."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.editors.vscode.project import Project
from tests.editors.vscode.workbench import Workbench


def test_the_trace_of_a_line_links_frames_to_sources(window: Workbench, project: Project) -> None:
    window.open(project.program, project.put_scalar_line, 16)
    window.expect_captures("1 capture")
    window.run("Open the trace of this line")
    expect(window.tab).to_contain_text(".fdtrace")
    expect(window.text).to_contain_text("frames, most recent call last:")
    expect(window.text.locator(".inline-folded").first).to_be_visible()
    expect(window.text).not_to_contain_text("pymain_run_python")
    window.text.get_by_text("put_scalar").click()
    window.press("F12")
    window.expect_place(project.program.name, project.put_scalar_line)


def test_a_trace_is_copied_as_markdown(window: Workbench, project: Project) -> None:
    window.open(project.program, project.put_scalar_line, 16)
    window.expect_captures("1 capture")
    window.run("Copy trace as Markdown")
    expect(window.page.locator(".statusbar")).to_contain_text("The trace was copied as Markdown")
    assert "put_scalar" in window.page.evaluate("navigator.clipboard.readText()")
