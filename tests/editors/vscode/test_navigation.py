"""From a Python line inward to the last frame with a local source and back, like a user."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.editors.vscode.project import Project
from tests.editors.vscode.workbench import Workbench


@pytest.fixture
def at_device_put(window: Workbench, project: Project) -> Workbench:
    """A window with the cursor on `device_put` of the recorded line, and a ready server."""
    window.open(project.program, project.put_scalar_line, 16)
    window.expect_captures("1 capture")
    return window


def test_hover_shows_recorded_data(at_device_put: Workbench) -> None:
    at_device_put.run("Show or Focus Hover")
    expect(at_device_put.hover).to_contain_text("PJRT_Client_BufferFromHostBuffer")


def test_each_step_is_one_key(at_device_put: Workbench, project: Project) -> None:
    window, frames = at_device_put, project.frames()
    reached = [window.place()]
    for _ in range(6):
        reached.append(window.go_to_definition(frames - set(reached)))
    assert (reached[1].file, reached[-1].file) == ("api.py", "pxla.py")
    for place in reversed(reached[:-1]):
        window.press("Control+Alt+-")
        window.expect_place(place.file, place.line)


def test_the_call_hierarchy_shows_callers_and_callees(at_device_put: Workbench) -> None:
    window = at_device_put
    window.run("Show Call Hierarchy")
    callers = window.tree("Callers Of")
    expect(callers.first).to_contain_text("put_scalar")
    expect(callers.nth(1)).to_contain_text("<module>")
    window.page.get_by_role("button", name="Show Outgoing Calls").click()
    expect(window.tree("Calls From").nth(1)).to_contain_text("device_put")


def test_alternative_steps_are_listed_by_file_with_their_calls(window: Workbench, project: Project) -> None:
    window.open(project.program, 15)
    window.expect_captures("1 capture")
    window.press("F12")
    step = window.page.locator("[id='framedex.framedex.framedex.step']")
    expect(step).to_contain_text(re.compile(r"way 1 of \d+"))
    step.click()
    rows = window.page.locator(".quick-input-list .monaco-list-row")
    expect(rows.first).to_contain_text("call")
    expect(rows.first).to_contain_text(".py")
    window.press("ArrowDown", "Enter")
    window.expect_place(project.program.name, project.put_scalar_line)
    expect(window.page.locator(".editor-group-container.active .monaco-editor.focused")).to_be_visible()
    window.press("ArrowDown")
    expect(step).to_be_hidden()


def test_after_the_last_local_frame_its_page_or_its_sources_are_one_key_away(
    at_device_put: Workbench, project: Project
) -> None:
    """Where go-to-frame ends at jaxlib, whose sources are public, one key offers its page and the fetch."""
    window, frames = at_device_put, project.frames()
    reached = {window.place()}
    for _ in range(7):
        reached.add(window.go_to_definition(frames - reached))
    window.press("F12")
    step = window.page.locator("[id='framedex.framedex.framedex.step']")
    expect(step).to_contain_text("which is not on this machine")
    window.press("Escape", "Control+Alt+.", "w")
    rows = window.page.locator(".quick-input-list .monaco-list-row")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("in the browser")
    window.answer("Fetch the sources of JAX")
    asked = window.message("from https://github.com/jax-ml/jax?")
    expect(asked).to_contain_text("about 7 MB to fetch")
    expect(asked.get_by_role("button", name="Fetch")).to_be_visible()
