"""Comparing two captures of one program: as a table of lines, and as a differential flame graph."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import FrameLocator, expect

from tests.editors.vscode.project import Project
from tests.editors.vscode.workbench import Workbench

BEFORE = """\
import jax
import numpy as np


@jax.jit
def step(x):
    return x + 1


def main():
    x = jax.device_put(np.ones(8, np.float32))
    for size in (8, 8, 8):
        step(x[:size])
    print(float(x[0]))


main()
"""
AFTER = BEFORE.replace("(8, 8, 8)", "(8, 7, 6)").replace("import jax\n", "# Slices.\nimport jax\n", 1)
STEP_LINE = 14
"""The 1-based line of `step(x[:size])` in AFTER."""


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory, project: Project) -> Project:
    """A project of three runs: two of the same text, and one whose `step` calls differ in shape."""
    changed = replace(project, folder=tmp_path_factory.mktemp("changed") / "train")
    changed.folder.mkdir()
    script = changed.folder / "train.py"
    for text in (BEFORE, BEFORE, AFTER):
        script.write_text(text)
        changed.run("run", str(script))
    changed.run("index")
    return changed


def webview(window: Workbench) -> FrameLocator:
    return window.page.frame_locator("iframe.webview.ready").frame_locator("#active-frame")


def compare_picked(window: Workbench, command: str) -> FrameLocator:
    """Select capture 3 and run a comparing command: it uses the selected one, and asks for the other."""
    window.show_view("framedex")
    window.expect_captures("3 captures")
    window.run("Pick a capture")
    window.answer("capture 3")
    window.expect_captures("capture 3 only")
    window.run(command)
    asked = window.page.locator(".quick-input-widget input.input")
    expect(asked).to_have_attribute("placeholder", "Compare “train.py” with")
    window.answer("capture 2")
    return webview(window)


def ignore_times(page: FrameLocator) -> None:
    """Raise the threshold of times above all of them."""
    page.get_by_label("Ignore time differences below").fill("1000000")
    page.get_by_label("Ignore time differences below").press("Enter")


def test_regressions_come_first_and_link_to_their_source(
    changed: Project, shared_window: Callable[[Path], Workbench]
) -> None:
    window = shared_window(changed.folder)
    page = compare_picked(window, "Compare captures…")
    expect(page.locator("#sides")).to_contain_text("capture 2: train.py")
    expect(page.locator("#sides")).to_contain_text("capture 3: train.py")
    # On a busy machine, any line may have become slower: compilations alone are compared.
    ignore_times(page)
    expect(page.locator("tbody td:first-child:not(.noise)")).to_have_count(0)
    expect(page.locator("tbody th").first).to_contain_text("Got worse")
    step = page.locator("tr.worse").filter(has_text=f"train.py:{STEP_LINE}")
    expect(step).to_contain_text("float32[8], [7], [6]")
    assert page.locator("html").evaluate("page => page.scrollWidth <= page.clientWidth")
    step.get_by_role("button").click()
    window.expect_group(2, "train.py", STEP_LINE)


def test_the_threshold_decides_which_times_differ(changed: Project, shared_window: Callable[[Path], Workbench]) -> None:
    page = compare_picked(shared_window(changed.folder), "Compare captures…")
    step = page.locator("tbody tr").filter(has_text=f"train.py:{STEP_LINE}")
    step.wait_for()
    ignore_times(page)
    expect(step.locator("td").first).to_have_class(re.compile("noise"))
    expect(step).to_have_class(re.compile("worse"))  # the compilations still count


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_difference_graph_is_readable_in_every_theme(
    changed: Project, shared_window: Callable[..., Workbench], scheme: Literal["light", "dark"]
) -> None:
    page = compare_picked(shared_window(changed.folder, scheme), "Flame graph of differences…")
    page.locator("g.frame").first.wait_for()
    expect(page.locator("body")).to_have_class(re.compile(f"vscode-{scheme}"))
    contrasts = page.locator("#legend").evaluate(CONTRASTS)
    assert sorted(contrasts) == ["came", "less", "more", "same", "went"]
    for change, (label, neighbour) in contrasts.items():
        assert label >= 4.5, change
        assert neighbour >= 40, change
    box = page.locator("footer").bounding_box()
    assert box is not None and box["y"] + box["height"] <= 800, "a tall graph leaves head and foot in sight"


# For each colour of the legend: WCAG 2.1's contrast ratio to a label, and the distance (0 to 441) to "about the same".
CONTRASTS = """(legend) => {
  const context = new OffscreenCanvas(1, 1).getContext("2d");
  const parts = (colour) => {
    context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1);
    return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const luminance = (colour) => {
    const [r, g, b] = parts(colour).map((part) => {
      const level = part / 255;
      return level <= 0.04045 ? level / 12.92 : ((level + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (name) => getComputedStyle(legend.querySelector(`.legend.${name}`)).backgroundColor;
  const label = getComputedStyle(document.querySelector("#chart .d3-flame-graph-label")).color;
  return Object.fromEntries(["went", "less", "same", "more", "came"].map((name) => {
    const [low, high] = [luminance(ground(name)), luminance(label)].sort((one, other) => one - other);
    const same = parts(ground("same"));
    const distance = Math.hypot(...parts(ground(name)).map((part, at) => part - same[at]));
    return [name, [(high + 0.05) / (low + 0.05), name === "same" ? 441 : distance]];
  }));
}"""
