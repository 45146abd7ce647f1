"""Selecting one of several captures, in a project folder with a space in its name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import expect

from tests.editors.vscode.project import Project
from tests.editors.vscode.workbench import Workbench


def test_a_line_executed_only_by_other_captures_says_so(
    two_programs: Project, shared_window: Callable[[Path], Workbench]
) -> None:
    window = shared_window(two_programs.folder)
    window.open(two_programs.folder / "first.py", 2)
    window.expect_captures("2 captures")
    window.run("Pick a capture")
    window.answer("second.py")
    window.expect_captures("capture 2 only")
    window.run("Show calls through this line")
    expect(window.message("No call of capture 2 (second.py --size 'a b')")).to_contain_text("of other captures did")
    window.answer_message("No call of capture 2", "Answer from other captures")
    expect(window.page.locator(".quick-input-title")).to_contain_text("calls through line 2")
    window.expect_captures("2 captures")


def test_comparing_captures_from_an_editor_includes_its_line(
    two_programs: Project, shared_window: Callable[[Path], Workbench]
) -> None:
    window = shared_window(two_programs.folder)
    window.open(two_programs.folder / "first.py", 2)
    window.expect_captures("2 captures")
    window.press("Shift+F10")
    # A menu accepts clicks only after a short delay.
    window.page.get_by_role("menuitem", name="framedex").press("ArrowRight")
    expect(window.page.get_by_role("menuitem", name="Step in")).to_be_focused()
    window.press("ArrowUp", "ArrowUp")
    expect(window.page.get_by_role("menuitem", name="Compare captures…")).to_be_focused()
    window.press("Enter")
    page = window.page.frame_locator("iframe.webview.ready").frame_locator("#active-frame")
    expect(page.locator("#sides")).to_contain_text("capture 1: first.py")
    shown = page.locator("tr.here, #here:not([hidden])")
    expect(shown.first).to_contain_text("first.py")


def test_a_line_without_recording_says_so(tmp_path: Path, new_window: Callable[[Path], Workbench]) -> None:
    (tmp_path / "new.py").write_text("import jax\njax.device_put(1)\n")
    window = new_window(tmp_path)
    window.load()
    window.open(tmp_path / "new.py", 2)
    window.expect_server()
    window.run("Show calls through this line")
    expect(window.message("Nothing has been recorded here yet")).to_be_visible()


def test_a_capture_is_named_after_its_script(two_programs: Project, shared_window: Callable[[Path], Workbench]) -> None:
    window = shared_window(two_programs.folder)
    window.show_view("framedex")
    names = window.tree("Recorded calls").locator(".label-name")
    expect(names).to_have_text(["second.py --size 'a b'", "first.py --size 'a b'"])
    expect(window.tree("Recorded calls").first).to_contain_text("capture 2, ")


def test_differences_of_two_captures_are_a_flame_graph(
    two_programs: Project, shared_window: Callable[[Path], Workbench]
) -> None:
    window = shared_window(two_programs.folder)
    window.show_view("framedex")
    window.expect_captures("2 captures")
    window.run("Flame graph of differences…")
    page = window.page.frame_locator("iframe.webview.ready").frame_locator("#active-frame")
    page.locator("g.frame").first.wait_for()
    expect(page.locator("#legend > span")).to_have_text(["gone", "less", "about the same", "more", "new"])
    colours = page.locator("g.frame rect").evaluate_all("all => all.map((each) => each.getAttribute('fill'))")
    assert set(colours) & {f"var(--flame-{change})" for change in ("went", "less", "same", "more", "came")}
    page.locator("g.frame", has_text="PJRT_Client_Create").first.hover()
    expect(page.locator("#details")).to_contain_text("1 → 1 call")
