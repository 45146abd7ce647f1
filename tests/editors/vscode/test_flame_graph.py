"""The flame graph of a capture, in light and dark."""

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
from tests.once import made_once


def flame_graph(window: Workbench) -> FrameLocator:
    """Open the flame graph of the capture."""
    window.show_view("framedex")
    window.expect_captures("1 capture")
    window.run("Show flame graph")
    return window.page.frame_locator("iframe.webview.ready").frame_locator("#active-frame")


LAYERS = """\
import jax
import jax.numpy as jnp


def layer(weight, x):
    x = x @ weight
    return jnp.tanh(x) * 2


def loss(weights, x):
    for weight in weights:
        x = layer(weight, x)
    return x.sum()


step = jax.jit(jax.grad(loss))
step([jnp.ones((256, 256)) for _ in range(6)], jnp.ones((512, 256)))
"""


@pytest.fixture(scope="module")
def layers(project: Project) -> Project:
    """A recorded program whose temporaries are most of the device's peak."""

    def make(root: Path) -> Project:
        made = replace(project, folder=root / "layers")
        made.folder.mkdir()
        (made.folder / "layers.py").write_text(LAYERS)
        made.run("run", "layers.py")
        made.run("index")
        return made

    return made_once("vscode-layers", make)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_memory_inside_a_program_is_stacked_by_line(
    shared_window: Callable[..., Workbench], layers: Project, scheme: Literal["light", "dark"]
) -> None:
    window = shared_window(layers.folder, scheme)
    page = flame_graph(window)
    button = page.get_by_role("button", name="Memory inside programs")
    button.click()
    expect(page.locator("figcaption")).to_contain_text(re.compile(r"^loss, device 0: .* of temporaries alive at step "))
    expect(page.locator("#chart")).to_be_hidden()
    product = page.get_by_role("button", name="layers.py:6 in layer")
    product.wait_for()
    heights = page.locator("#memory path").evaluate_all("paths => paths.map((path) => path.getBBox().height)")
    assert heights[0] == pytest.approx(100, abs=1) and all(height > 0 for height in heights)
    product.click()
    window.expect_group(2, "layers.py", 6)
    button.click()
    expect(page.locator("#chart")).to_be_visible()
    expect(page.locator("#memory")).to_be_hidden()


def test_a_capture_without_temporaries_has_no_button_for_them(
    shared_window: Callable[[Path], Workbench], project: Project
) -> None:
    page = flame_graph(shared_window(project.folder))
    page.locator("g.frame", has_text="put_scalar").wait_for()
    expect(page.get_by_role("button", name="Memory inside programs")).to_be_hidden()


def test_a_click_opens_the_source_beside_the_graph(
    shared_window: Callable[[Path], Workbench], project: Project
) -> None:
    window = shared_window(project.folder)
    page = flame_graph(window)
    expect(page.locator("#title")).to_have_text("capture 1: device_put.py")
    frame = page.locator("g.frame", has_text="put_scalar")
    frame.click(modifiers=["Control"])
    window.expect_group(2, project.program.name, project.put_scalar_line)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_labels_are_readable_in_every_theme(
    shared_window: Callable[..., Workbench], project: Project, scheme: Literal["light", "dark"]
) -> None:
    page = flame_graph(shared_window(project.folder, scheme))
    for function in ("put_scalar", "PJRT_Client_Create", "xla::GetCApiClient"):
        frame = page.locator("g.frame").filter(has_text=function).first
        frame.wait_for()
        expect(page.locator("body")).to_have_class(re.compile(f"vscode-{scheme}"))
        assert frame.evaluate(CONTRAST) >= 4.5, function


def test_the_zoom_survives_a_redraw(shared_window: Callable[[Path], Workbench], project: Project) -> None:
    page = flame_graph(shared_window(project.folder))
    frame = page.locator("g.frame", has_text="put_scalar")
    frame.click()
    for button, pressed in (("Calls", "true"), ("Fold glue frames", "false"), ("Fold glue frames", "true")):
        page.get_by_role("button", name=button).click()
        expect(page.get_by_role("button", name=button)).to_have_attribute("aria-pressed", pressed)
        frame.wait_for()
        assert frame.evaluate(ZOOMED)
    page.get_by_role("button", name="Reset zoom").click()
    page.get_by_role("button", name="Time").click()
    assert not frame.evaluate(ZOOMED)


def test_a_search_counts_functions_and_boxes(shared_window: Callable[[Path], Workbench], project: Project) -> None:
    page = flame_graph(shared_window(project.folder))
    page.locator("g.frame", has_text="put_scalar").wait_for()
    # By time, a box may be too narrow to be drawn; a search counts it too.
    calls = page.get_by_role("button", name="Calls")
    calls.click()
    expect(calls).to_have_attribute("aria-pressed", "true")
    names = page.locator("g.frame").evaluate_all("frames => frames.map((frame) => frame.__data__.data.name)")
    found = [name for name in names if "BufferFrom" in name]
    page.get_by_label("Search functions").fill("BufferFrom")
    assert len(set(found)) < len(found)
    expect(page.locator("#found")).to_contain_text(f"{len(set(found))} functions in {len(found)} places, ")


@pytest.mark.parametrize("width", [1050, 600])
def test_the_legend_stays_in_one_row(shared_window: Callable[..., Workbench], project: Project, width: int) -> None:
    window = shared_window(project.folder)
    window.page.set_viewport_size({"width": width, "height": 800})
    legend = flame_graph(window).locator("#legend > span")
    expect(legend).to_have_count(3)
    # In one step, because VS Code may still be moving the panel.
    assert len(set(legend.evaluate_all("all => all.map((each) => each.getBoundingClientRect().top)"))) == 1


# Whether the graph is zoomed to a frame: ancestor frames are then faded.
ZOOMED = """({ __data__: frame }) => {
  const [here, ...above] = frame.ancestors();
  return above.every(({ data }) => data.fade) && !here.data.fade;
}"""


# WCAG 2.1's contrast ratio between a label and its background; text needs 4.5.
CONTRAST = """(frame) => {
  const luminance = (colour) => {
    const canvas = new OffscreenCanvas(1, 1).getContext("2d");
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].map((part) => {
      const level = part / 255;
      return level <= 0.04045 ? level / 12.92 : ((level + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = getComputedStyle(frame.querySelector("rect")).fill;
  const label = getComputedStyle(frame.querySelector(".d3-flame-graph-label")).color;
  const [low, high] = [luminance(ground), luminance(label)].sort((one, other) => one - other);
  return (high + 0.05) / (low + 0.05);
}"""
