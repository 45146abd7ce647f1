"""Dots on recorded lines, and the offer to show costs of all lines."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from tests.editors.vscode.project import Project
from tests.editors.vscode.workbench import Workbench

# The 1-based lines of the active editor with a dot: gutter icons are separate elements.
DOTS = """() => {
  const editor = document.querySelector(".editor-group-container.active .monaco-editor");
  const top = (element) => element.getBoundingClientRect().top;
  const isDot = (icon) => getComputedStyle(icon).backgroundImage.includes("recorded-");
  const dots = [...editor.querySelectorAll(".glyph-margin-widgets .cgmr")].filter(isDot).map(top);
  return [...editor.querySelectorAll(".margin-view-overlays > div")]
    .filter((row) => dots.some((dot) => Math.abs(dot - top(row)) < 2))
    .map((row) => Number(row.querySelector(".line-numbers")?.innerText));
}"""


def lenses(window: Workbench) -> Locator:
    """The visible code lenses."""
    return window.page.locator(".codelens-decoration a")


def test_recorded_lines_have_dots_and_all_costs_open_with_one_click(
    project: Project, new_window: Callable[[Path], Workbench], tmp_path: Path
) -> None:
    project = project.copy_to(tmp_path / "demo")
    window = new_window(project.folder)
    window.load()
    window.open(project.program, project.put_scalar_line)
    window.expect_captures("1 capture")
    window.page.wait_for_function(f"(line) => ({DOTS})().includes(line)", arg=project.put_scalar_line)
    assert 1 not in window.page.evaluate(DOTS)
    expect(lenses(window)).to_have_count(0)

    window.answer_message("Dots mark recorded lines.", "Show all costs")
    expect(lenses(window).first).to_contain_text("transfer")
    window.run("Show the costs of notable lines only")
    expect(lenses(window)).to_have_count(0)


@pytest.mark.exhaustive
def test_dots_follow_the_setting(project: Project, new_window: Callable[[Path], Workbench], tmp_path: Path) -> None:
    without = project.copy_to(tmp_path / "demo")
    (without.folder / ".vscode").mkdir(exist_ok=True)
    (without.folder / ".vscode" / "settings.json").write_text('{"framedex.gutter.recorded-lines": false}')
    window = new_window(without.folder)
    window.load()
    window.open(without.program, without.put_scalar_line)
    window.expect_captures("1 capture")
    window.run("framedex: Show calls through this line")
    expect(window.page.locator(".quick-input-list .monaco-list-row").first).to_be_visible()
    assert window.page.evaluate(DOTS) == []
