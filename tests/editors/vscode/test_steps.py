"""Stepping along a recorded stack by keys, and its marks."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.editors.vscode.project import Project
from tests.editors.vscode.workbench import Workbench

# Whether the active editor has this many stack icons in its gutter, besides dots of recorded lines.
HAS_MARKS = """(count) => {
  const icons = [...document.querySelectorAll(".editor-group-container.active .cgmr")];
  const isFrame = (icon) => /frame-(current-)?(dark|light)/.test(getComputedStyle(icon).backgroundImage);
  return icons.filter(isFrame).length === count;
}"""


def test_steps_in_and_out_highlight_the_stack(window: Workbench, project: Project) -> None:
    window.open(project.program, project.put_scalar_line, 16)
    window.expect_captures("1 capture")
    number = window.step("i")
    expect(window.tab).to_have_attribute("data-resource-name", "api.py")
    window.page.wait_for_function(HAS_MARKS, arg=1)
    assert window.step("o") == number - 1
    window.expect_place(project.program.name, project.put_scalar_line)
    # The whole stack is marked: <module> calls put_scalar, the current frame.
    window.page.wait_for_function(HAS_MARKS, arg=2)
