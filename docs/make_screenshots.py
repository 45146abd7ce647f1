"""Take the screenshots of VS Code for the README and docs: docs/vscode-*.png, each in light and dark.

make screenshots [XLA=CHECKOUT]

They show the demo, recorded again, in the VS Code of `make test-editors`. With an XLA checkout at the commit of
jaxlib's wheel, its C++ frames have sources. Without one, the picture of steps into C++ is not updated.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from playwright.sync_api import Browser, ViewportSize, expect  # noqa: E402

from tests.browsers import chromium  # noqa: E402
from tests.editors.vscode.code_server import CodeServer  # noqa: E402
from tests.editors.vscode.project import Project, make_project, path_with  # noqa: E402
from tests.editors.vscode.workbench import Scheme, Workbench  # noqa: E402

FUNCTION = "PJRT_Client_BufferFromHostBuffer"
TARGET_FILE = "pjrt_c_api_client.cc"
"""The end of the steps into C++, in XLA."""

CALLEE_PATH = (
    *("device_put", "_batched_device_put_impl", "annotate_function.<locals>.wrapper", "shard_args"),
    *("_shard_typed_scalar", "_shard_np_array", "batched_device_put"),
)
"""The callees of `put_scalar`, level by level, down to the last Python function."""

SETTINGS = {
    # The only parts of the window with folder names of this machine.
    "breadcrumbs.enabled": False,
    "editor.fontSize": 13,
    "editor.minimap.enabled": False,
    "editor.stickyScroll.enabled": False,
    "remote.autoForwardPorts": False,
    "workbench.layoutControl.enabled": False,
}


def main() -> None:
    """Record the demo, and take_screenshot every screenshot in both colour schemes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=Path, action="append", default=[], help="another source tree (XLA's)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        project = make_project(root)
        for source in options.source:
            project.run("index", "--source", str(source.resolve()))
        path = path_with(project.framedex)
        with CodeServer(root / "code-server", path=path, settings=SETTINGS) as server, chromium() as browser:
            for picture in (*((steps,) if options.source else ()), hover, call_hierarchy, flame_graph):
                take_screenshot(picture, "light", server, browser, project)
                take_screenshot(picture, "dark", server, browser, project)


def take_screenshot(
    picture: Callable[[Workbench, Project], None],
    scheme: Scheme,
    server: CodeServer,
    browser: Browser,
    project: Project,
) -> None:
    """Write docs/vscode-PICTURE-SCHEME.png."""
    window = Workbench(server, browser, project.folder, scheme, ViewportSize(width=1440, height=810))
    window.load()
    window.open(project.program, project.put_scalar_line, 16)
    window.expect_captures("1 capture")
    picture(window, project)
    name = picture.__name__.replace("_", "-")
    window.page.screenshot(path=ROOT / "docs" / f"vscode-{name}-{scheme}.png", animations="disabled", caret="hide")
    window.close()


def steps(window: Workbench, project: Project) -> None:
    """The recorded line beside the C++ code that it called, on one selected stack, with the view of recorded calls."""
    window.show_view("framedex")
    calls = window.tree("Recorded calls")
    calls.filter(has_text=project.program.name).click()
    calls.filter(has_text=FUNCTION).first.click()
    window.unfold(calls.filter(has_text="S32[] 4 B"))
    expect(calls.filter(has_text="put_scalar")).to_be_visible()
    window.open(project.program, project.put_scalar_line, 16)
    window.press("Control+\\")
    expect(window.page.locator(".editor-group-container")).to_have_count(2)
    while window.place().file != TARGET_FILE:
        window.step("i")
    # Hidden by then: the message of the last step, and the mouse hover.
    window.page.mouse.move(0, 0)
    expect(window.page.locator(".statusbar")).not_to_contain_text("on the way to")


def hover(window: Workbench, project: Project) -> None:
    """The hover of the recorded line."""
    window.run("Show or Focus Hover")
    expect(window.hover).to_contain_text(FUNCTION)


def call_hierarchy(window: Workbench, project: Project) -> None:
    """The callees of the line, level by level."""
    window.run("Show Call Hierarchy")
    window.page.get_by_role("button", name="Show Outgoing Calls").click()
    calls = window.tree("Calls From")
    for function in CALLEE_PATH:
        row = calls.filter(has_text=re.compile(f"^{re.escape(function)}\\d")).first
        row.wait_for()
        window.unfold(row)
    expect(calls.filter(has_text="jax::nanobind").first).to_be_visible()
    window.page.mouse.move(0, 0)


def flame_graph(window: Workbench, project: Project) -> None:
    """The flame graph of the capture."""
    window.show_view("framedex")
    window.run("Show flame graph")
    page = window.page.frame_locator("iframe.webview.ready").frame_locator("#active-frame")
    page.locator("g.frame").filter(has_text=FUNCTION).first.wait_for()


if __name__ == "__main__":
    main()
