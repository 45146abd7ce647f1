"""Costs of lines in the activity view and above the lines, each with its stacks."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Locator, expect

from tests.editors.vscode.project import Project
from tests.editors.vscode.workbench import Workbench

MOVED = "transfer, 4 B, once: host to device, device_put"


def row(window: Workbench, text: str) -> Locator:
    """A row of the activity view that contains a text."""
    return window.tree("Recorded calls").filter(has_text=text)


def answer(window: Workbench, title: str) -> Locator:
    """The row of an answer."""
    return window.page.get_by_role("treeitem", name=re.compile(rf"^{title}(,|$)"))


def test_a_capture_shows_four_cost_tables_down_to_stacks(window: Workbench, project: Project) -> None:
    window.show_view("framedex")
    row(window, "device_put.py").click()
    for title in ("Compiles", "Memory", "Waits"):
        expect(answer(window, title)).to_be_visible()
    answer(window, "Transfers").click()
    expect(answer(window, "Transfers")).to_contain_text("4 transfers, 2 of them implicit, 56 B")
    line = row(window, MOVED)
    expect(line).to_contain_text(f"device_put.py:{project.put_scalar_line}")

    line.click()
    window.expect_place(project.program.name, project.put_scalar_line)

    window.unfold(line)
    row(window, "from <module>, device_put.py:").first.click()
    expect(window.text).to_contain_text("PJRT_Client_BufferFromHostBuffer")


def test_a_cost_lens_opens_its_stacks(
    project: Project, new_window: Callable[[Path], Workbench], tmp_path: Path
) -> None:
    costly = project.copy_to(tmp_path / "demo")
    (costly.folder / "pyproject.toml").write_text('[tool.framedex]\neditor = { transfers = "lenses" }\n')
    window = new_window(costly.folder)
    window.load()
    window.open(costly.program, costly.put_scalar_line)
    window.page.locator(".codelens-decoration a", has_text=MOVED).click()
    expect(window.text).to_contain_text("PJRT_Client_BufferFromHostBuffer")


def test_a_cost_diagnostic_links_to_its_how_to_page_and_the_previous_run(
    twice: Project, new_window: Callable[[Path], Workbench], tmp_path: Path
) -> None:
    twice = twice.copy_to(tmp_path / "demo")
    settings = '{ transfers = "diagnostics", transfers-severity = "warning" }'
    (twice.folder / "pyproject.toml").write_text(f"[tool.framedex]\neditor = {settings}\n")
    window = new_window(twice.folder)
    window.load()
    for action, opened in (
        ("Open the how-to: transfers", "Preview transfers.md"),
        ("Compare with the run before", "Compare captures 1 → 2"),
    ):
        window.open(twice.program, 1)
        window.expect_captures("2 captures")
        expect(window.page.locator(".squiggly-warning").first).to_be_visible()
        window.run("Go to Next Problem (Error, Warning, Info)")
        expect(window.page.locator(".peekview-widget")).to_contain_text("transfer")
        window.press("Escape")
        offered = window.page.locator(".action-widget").get_by_text(action)
        window.repeat_until_visible(offered, lambda: window.press("Control+."))
        offered.click()
        expect(window.tab).to_contain_text(opened)
        window.page.evaluate("document.activeElement.blur()")  # a page would receive the keys
