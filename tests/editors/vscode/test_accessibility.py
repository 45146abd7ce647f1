"""Accessibility for screen readers and keyboards: axe on every webview, names without Markdown, and focus."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Frame

from tests.editors.vscode.project import CHECKOUT, Project
from tests.editors.vscode.workbench import Workbench

AXE = CHECKOUT / "editors" / "vscode" / "node_modules" / "axe-core" / "axe.min.js"
RULES = "axe.run(document, {resultTypes: ['violations']}).then(({violations}) => violations)"
STATUS = "[id='framedex.framedex.framedex.status']"


def webview(window: Workbench, shows: str) -> Frame:
    """The page of the only webview, once it has content."""
    window.page.frame_locator("iframe.webview.ready").frame_locator("#active-frame").locator(shows).first.wait_for()
    (frame,) = (each for each in window.page.frames if each.name == "active-frame" or each.locator(shows).count())
    return frame


def violations(frame: Frame) -> list[str]:
    """The violations that axe finds on a page: each rule with its elements."""
    frame.evaluate(AXE.read_text())
    found: list[dict[str, Any]] = frame.evaluate(RULES)
    return [f"{each['id']}: {json.dumps([node['html'][:200] for node in each['nodes'][:3]])}" for each in found]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_the_flame_graph(
    shared_window: Callable[..., Workbench], project: Project, scheme: str
) -> None:
    window = shared_window(project.folder, scheme)
    window.expect_captures("1 capture")
    window.run("Show flame graph")
    assert violations(webview(window, "g.frame")) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_a_comparison(
    shared_window: Callable[..., Workbench], twice: Project, scheme: str
) -> None:
    window = shared_window(twice.folder, scheme)
    window.expect_captures("2 captures")
    window.run("framedex: Compare captures")
    assert violations(webview(window, "#sides dd")) == []


def test_the_flame_graph_gets_focus_and_announces_its_keys(window: Workbench) -> None:
    window.expect_captures("1 capture")
    window.run("Show flame graph")
    frame = webview(window, "g.frame[role=treeitem]")
    frame.wait_for_function("() => document.activeElement.id === 'chart'")
    window.press("ArrowDown", "ArrowDown")
    active = frame.wait_for_function(
        "() => { const id = document.getElementById('chart').getAttribute('aria-activedescendant');"
        " const item = id && document.getElementById(id); return item?.ariaLevel === '3' && item.ariaLabel; }"
    ).json_value()
    assert " of the time" in active and "\n" not in active
    assert frame.locator("[aria-selected=true]").count() == 1


def test_screen_readers_read_the_status_bar_without_markdown(window: Workbench) -> None:
    window.expect_captures("1 capture")
    label = window.page.locator(STATUS).locator("a").first.get_attribute("aria-label")
    assert label is not None and "The server runs." in label
    assert not set("*`") & set(label)


def test_a_requested_view_gets_focus(window: Workbench, project: Project) -> None:
    window.open(project.program, project.put_scalar_line)
    window.expect_captures("1 capture")
    window.page.locator(STATUS).click()
    window.answer("Show the recorded calls")
    window.page.wait_for_function("() => document.activeElement.closest('.pane')?.innerText.includes('device_put.py')")
