"""The activity view: from captures to frames, and from there to traces and sources."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from framedex.index import Index
from tests.editors.vscode.project import PUBLIC, Project
from tests.editors.vscode.workbench import Workbench

PUT = "PJRT_Client_BufferFromHostBuffer"
SCALAR = "S32[] 4 B"
"""The call of PUT made by `put_scalar`."""


@pytest.fixture
def activity(window: Workbench) -> Workbench:
    """A window with the activity view, expanded to the calls of PUT."""
    window.show_view("framedex")
    row(window, "device_put.py").click()
    row(window, PUT).click()
    return window


def row(window: Workbench, text: str) -> Locator:
    """A row of the view that contains a text."""
    return window.tree("Recorded calls").filter(has_text=text)


def test_captures_boundaries_and_calls_show_counts_and_times(activity: Workbench) -> None:
    expect(row(activity, "device_put.py")).to_contain_text(" calls")
    expect(row(activity, PUT)).to_contain_text("2 calls, ")
    expect(row(activity, SCALAR)).to_contain_text(re.compile(r"\d [nµm]?s\s"))


def test_a_call_opens_its_trace_and_a_frame_opens_its_source_beside_it(activity: Workbench, project: Project) -> None:
    call, _ = project.calls("--function", PUT)
    row(activity, SCALAR).click()
    expect(activity.text).to_contain_text(f"call {call}: {PUT}")
    activity.unfold(row(activity, SCALAR))
    row(activity, "put_scalar").click()
    activity.expect_group(2, project.program.name, project.put_scalar_line)
    assert activity.tab.get_attribute("data-resource-name") == f"call-{call}.fdtrace"


def test_glue_frames_are_folded_by_default(activity: Workbench) -> None:
    activity.unfold(row(activity, SCALAR))
    expect(row(activity, "glue frames hidden").first).to_be_visible()
    expect(row(activity, "Py_BytesMain")).to_have_count(0)
    activity.page.get_by_role("button", name="Show glue frames").click()
    expect(row(activity, "glue frames hidden")).to_have_count(0)
    expect(row(activity, "Py_BytesMain").first).to_be_visible()


def test_a_glue_frame_is_shown_in_the_trace(activity: Workbench) -> None:
    activity.unfold(row(activity, SCALAR))
    row(activity, "glue frames hidden").first.click()
    row(activity, "Py_BytesMain").click()
    expect(activity.text.get_by_text("Py_BytesMain")).to_be_visible()
    expect(activity.page.locator(".monaco-dialog-box")).to_contain_text("/Modules/main.c")


def test_a_frame_without_a_source_offers_to_add_one(activity: Workbench, project: Project) -> None:
    call, _ = project.calls("--function", PUT)
    with Index.open(project.folder / ".framedex" / "index.db") as index:
        trace = index.calls.trace(call)
    assert trace is not None
    # Every frame of named code has at least a public page; frames between the languages may have none.
    missing = next(frame.function.name for frame in trace.frames if not frame.location)
    activity.unfold(row(activity, SCALAR))
    activity.page.get_by_role("button", name="Show glue frames").click()
    row(activity, missing).first.click()
    expect(activity.message(f"The source of {missing} is not here.")).to_contain_text("framedex index --source")
    activity.answer_message(missing, "Add a source folder…")
    expect(activity.page.locator(".quick-input-widget")).to_contain_text("with the sources of recorded programs")


def test_a_frame_with_only_public_source_opens_its_web_page(
    public: Project, shared_window: Callable[[Path], Workbench]
) -> None:
    """VS Code asks before it opens the web page of a frame from a source map."""
    window = shared_window(public.folder)
    window.show_view("framedex")
    row(window, "device_put.py").click()
    row(window, PUT).click()
    window.unfold(row(window, SCALAR))

    expect(row(window, "DevicePutWithSharding")).to_contain_text("py_values.cc:2 [not here]")
    row(window, "DevicePutWithSharding").first.click()
    expect(window.page.locator(".monaco-dialog-box")).to_contain_text(PUBLIC.removeprefix("https:"))


def test_a_filter_keeps_matching_calls(activity: Workbench) -> None:
    expect(row(activity, "PJRT_Client_Create")).to_be_visible()
    activity.page.get_by_role("button", name="Filter").click()
    activity.answer("put_scalar")
    expect(row(activity, "PJRT_Buffer_ToHostBuffer")).to_have_count(0)
    expect(row(activity, PUT)).to_contain_text("1 call, ")
