"""A user's actions in VS Code and their visible results: a code-server page, driven by Playwright."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from playwright.sync_api import Browser, Locator, Page, TimeoutError, ViewportSize, expect

from tests.browsers import PATIENCE
from tests.editors.vscode.code_server import RESET_KEY, CodeServer
from tests.editors.vscode.project import Place

SIZE = ViewportSize(width=1280, height=800)

Scheme = Literal["light", "dark"]
"""The system's colour preference; VS Code's theme follows it."""

_TAB = ".editor-group-container.active .tab.active"
_SELECTION = "[id='status.editor.selection']"

# The tab, the line and the focus change one after the other, so the combination is searched.
_ARRIVED = """([places, tab, selection]) => {
  const file = document.querySelector(tab)?.getAttribute("data-resource-name");
  const line = document.querySelector(selection)?.innerText.match(/Ln (\\d+)/)?.[1];
  const focused = document.querySelector(".editor-group-container.active .monaco-editor.focused")?.dataset.uri;
  return focused?.endsWith(`/${file}`) && places.includes(`${file}:${line}`);
}"""

# The frame of the selected stack shown by the active editor: CSS text, not an element of the page.
_FRAME = """() => [...document.querySelectorAll(".editor-group-container.active .view-line span")]
  .map((part) => getComputedStyle(part, "::after").content.match(/^"frame (\\d+) of \\d+"$/)?.[1])
  .find((number) => number !== undefined)"""
_OTHER_FRAME = f"""(before) => {{ const now = ({_FRAME})(); return now !== before && now; }}"""

# The box is shown before the items to choose from; an answer that is only text has no list.
_COMMAND = re.compile("^>")
_CAN_BE_ANSWERED = """() => {
  const list = document.querySelector(".quick-input-list");
  return !list?.checkVisibility() || list.querySelector(".monaco-list-row") !== null;
}"""


class Workbench:
    """A new window of VS Code on a folder, without state of earlier windows."""

    def __init__(
        self, server: CodeServer, browser: Browser, folder: Path, scheme: Scheme = "light", size: ViewportSize = SIZE
    ) -> None:
        self._server = server
        self._context = browser.new_context(viewport=size, color_scheme=scheme, reduced_motion="reduce")
        self._context.grant_permissions(["clipboard-read", "clipboard-write"], origin=server.address)
        self.page: Page = self._context.new_page()
        self.page.set_default_timeout(PATIENCE * 1000)
        self._folder = folder

    def load(self, **payload: str) -> None:
        """Open the folder. `payload` are further page settings, which become part of its address."""
        pairs = quote(json.dumps([["skipWelcome", "true"], *payload.items()]))
        self.page.goto(f"{self._server.address}/?folder={quote(str(self._folder))}&payload={pairs}")
        # Until then, keys have no effect.
        self.page.wait_for_function("window.driver?.whenWorkbenchRestored().then(() => true)")

    def reset(self, scheme: Scheme = "light") -> None:
        """Return a loaded window to the state of a new one, except for the extension's offers, which appear once."""
        self.page.set_viewport_size(SIZE)
        self.page.emulate_media(color_scheme=scheme)
        self.page.mouse.move(0, 0)
        # A focused terminal or webview would receive the keys; a dialog would receive the click.
        self.page.evaluate("document.activeElement.blur()")
        self.press("Escape")
        self.show_view("Search")
        expect(self.page.locator(".search-view")).to_be_visible()
        self.press(RESET_KEY)
        expect(self.page.locator(".explorer-folders-view")).to_be_visible()

    def remote(self, path: Path) -> str:
        """A file's URI."""
        return f"vscode-remote://{self._server.authority}{quote(str(path))}"

    def open(self, path: Path, line: int, column: int = 1) -> None:
        """Open a file with the cursor at a 1-based position."""
        self._pick("Control+P", f"{path}:{line}:{column}", path.name)
        self.expect_place(path.name, line)

    def run(self, command: str) -> None:
        """Run a command by its palette name."""
        self._pick("F1", f">{command}", command)

    def _pick(self, keys: str, text: str, choice: str) -> None:
        box = self.page.locator(".quick-input-widget input.input")
        found = self.page.locator(".quick-input-list .monaco-list-row").first.filter(has_text=choice)

        def search() -> None:
            self.page.keyboard.press(keys)
            with suppress(TimeoutError):  # a box closes when something else takes the focus
                box.fill(text, timeout=10_000)

        self.repeat_until_visible(found, search)
        self.page.keyboard.press("Enter")

    def repeat_until_visible(self, wanted: Locator, act: Callable[[], object]) -> None:
        """Act until `wanted` is visible: keys are lost while the focus moves, mouse moves while the page does."""
        for _ in range(4):
            act()
            with suppress(TimeoutError):
                wanted.wait_for(timeout=10_000)
                return
        act()
        wanted.wait_for()

    def follow(self, link: str, at: str, hover: str) -> None:
        """Ctrl-click a link in the terminal: on the text `at` in the row `link`."""
        row = self.page.locator(".terminal.xterm .xterm-rows > div").get_by_text(link, exact=True)

        def point() -> None:
            box = row.bounding_box()
            assert box is not None
            x = box["x"] + box["width"] * (link.index(at) + 1) / len(link)
            y = box["y"] + box["height"] / 2
            # The terminal looks for links under the mouse, and marks those it found.
            self.page.mouse.move(x, y - box["height"])
            self.page.mouse.move(x, y)

        self.page.keyboard.down("Control")
        self.repeat_until_visible(self.hover.first, point)
        expect(self.hover).to_contain_text(hover)
        self.page.mouse.down()
        self.page.mouse.up()
        self.page.keyboard.up("Control")

    def press(self, *keys: str) -> None:
        """Press keys one after the other, as Playwright names them."""
        for key in keys:
            self.page.keyboard.press(key)

    def expect_server(self) -> None:
        """Wait for the server to run."""
        expect(self.page.locator(".statusbar-item .codicon-layers")).to_be_visible()

    def expect_captures(self, count: str) -> None:
        """Wait until the status bar shows this number of captures: "1 capture"."""
        expect(self.page.locator(".statusbar-item", has_text=f"framedex: {count}")).to_be_visible()

    @property
    def tab(self) -> Locator:
        """The active editor's tab."""
        return self.page.locator(_TAB)

    @property
    def _selection(self) -> Locator:
        return self.page.locator(_SELECTION)

    @property
    def hover(self) -> Locator:
        """The visible hover."""
        return self.page.locator(".monaco-hover:visible")

    def show_view(self, name: str) -> None:
        """Open a view of the activity bar."""
        self.page.get_by_role("tab", name=name).click()

    def step(self, key: str) -> int:
        """Press the chord of a step along a stack; return the number of the new frame."""
        before = self.page.evaluate(_FRAME)
        self.press("Control+Alt+.", key)
        return int(self.page.wait_for_function(_OTHER_FRAME, arg=before).json_value())

    def answer(self, text: str) -> None:
        """Type an answer into the input box that a command opens."""
        box = self.page.locator(".quick-input-widget input.input")
        expect(box).not_to_have_value(_COMMAND)  # the command's own box, which closes
        box.fill(text)
        self.page.wait_for_function(_CAN_BE_ANSWERED)
        self.page.keyboard.press("Enter")
        expect(box).to_be_hidden()

    def message(self, text: str) -> Locator:
        """The message with this text in the notification list: toasts disappear on their own."""
        # VS Code announces one message at a time to screen readers, so one that waits is only in the list. A list that
        # opens before it has a message closes again.
        told = self.page.get_by_role("alert").or_(self.page.locator(".notification-list-item"))
        expect(told.filter(has_text=text).first).to_be_attached()
        listed = self.page.locator(".notifications-center")
        if not listed.is_visible():
            self.run("Notifications: Show Notifications")
        return listed.locator(".notification-list-item", has_text=text)

    def answer_message(self, text: str, button: str) -> None:
        """Press a button of the message with this text."""
        self.message(text).get_by_role("button", name=button).click()

    @property
    def text(self) -> Locator:
        """The visible lines of the active editor."""
        return self.page.locator(".editor-group-container.active .view-lines")

    def expect_group(self, number: int, name: str, line: int) -> None:
        """Wait until the editor group (1-based) shows a file at a 1-based line."""
        group = self.page.locator(".editor-group-container").nth(number - 1)
        expect(group.locator(".tab.active")).to_have_attribute("data-resource-name", name)
        expect(group.locator(".active-line-number")).to_have_text(str(line))

    def tree(self, view: str) -> Locator:
        """The rows of a view in the side bar."""
        return self.page.get_by_role("tree", name=view).get_by_role("treeitem")

    def unfold(self, row: Locator) -> None:
        """Expand a tree row whose click has another effect."""
        twistie = row.locator(".monaco-tl-twistie")
        box = twistie.bounding_box()
        assert box is not None
        # The left part of the row is indentation.
        twistie.click(position={"x": box["width"] - 8, "y": box["height"] / 2})

    def place(self) -> Place:
        """The file in the active editor, and the 1-based line of the cursor."""
        selection = re.search(r"Ln (\d+)", self._selection.inner_text())
        assert selection is not None
        return Place(self.tab.get_attribute("data-resource-name") or "", int(selection[1]))

    def go_to_definition(self, places: Iterable[Place]) -> Place:
        """Go to the definition by one key; return which of `places` it is.

        An unexpected question would wait forever.
        """
        here = self.place()
        self.press("F12")
        known = [f"{place.file}:{place.line}" for place in places if place != here]
        self.page.wait_for_function(_ARRIVED, arg=[known, _TAB, _SELECTION])
        return self.place()

    def expect_place(self, name: str, line: int) -> None:
        """Wait for the cursor to be in a file, at a 1-based line."""
        expect(self.tab).to_have_attribute("data-resource-name", name)
        expect(self._selection).to_have_text(re.compile(rf"Ln {line}, "))

    def close(self) -> None:
        """Close the window."""
        self._context.close()
