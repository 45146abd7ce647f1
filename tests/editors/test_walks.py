"""Each step inward or back is one key in every editor, by its README's lines, in a real terminal.

VS Code's walk is in tests/editors/vscode/test_navigation.py.
"""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pytest

from tests.editors.demo_checkout import demo_checkout, readme_line
from tests.editors.helix import shown_place
from tests.editors.screen import HAS_TMUX, Screen
from tests.editors.test_emacs import has_eglot, has_package
from tests.server.raw_client import RawClient

Place = tuple[str, int]

SHOWN_BY_NEOVIM = """lua << EOF
function _G.state()
  local client = require("framedex.server").client()
  return client and client.initialized and "ready" or ""
end
EOF
set laststatus=2 statusline=<%t:%l>%{v:lua.state()}
"""


EARLY_IN_EMACS = "(setq native-comp-deferred-compilation nil native-comp-jit-compilation nil)"
"""Otherwise, a warning of a background compiler interrupts a redraw, which stays incomplete."""

WITH_LSP_MODE = """
(setq inhibit-startup-screen t)
(package-initialize)
(add-to-list 'load-path (expand-file-name "editors/emacs"))
(require 'framedex)
(with-eval-after-load 'lsp-mode (require 'framedex-lsp))
(setq framedex-command (list (expand-file-name ".venv/bin/framedex") "serve")
      lsp-auto-guess-root t
      lsp-disabled-clients '(clangd))
(setq-default mode-line-format (list "<%b:%l>"))
(require 'lsp-mode)
(mapc (lambda (hook) (add-hook hook #'lsp)) '(python-mode-hook c++-mode-hook))
(find-file "framedex-demo/device_put.py")
(goto-char (point-min))
(forward-line 7)
(back-to-indentation)
"""


@dataclass(frozen=True)
class Editor:
    """How to walk in an editor.

    Its README line, if any, begins with `program`. `more` makes it show `<file:line>`; `{settings}` in `more` stands
    for the folder with this test's settings. Type `wake`, if any: `ready` is on the screen once the server answers.
    """

    program: str
    more: str
    inward: str
    back: str
    ready: str
    wake: tuple[str, ...] = ()


NEOVIM = Editor("nvim ", " -S {settings}/shown.vim", "F12", "C-o", ">ready")
EMACS = Editor(
    "emacs ", """ -nw --eval '(setq-default mode-line-format (list "<%b:%l>"))'""", "M-.", "M-,", "Connected!"
)
LSP_MODE = Editor("", "emacs -nw -l {settings}/lsp.el", "M-.", "M-,", "initialized successfully")
HELIX = Editor("PATH=", "", "gd", "C-o", "PJRT_Client", ("Space", "k"))

HAS = {
    NEOVIM: shutil.which("nvim") is not None,
    EMACS: has_eglot(),
    LSP_MODE: has_package("lsp-mode"),
    HELIX: shutil.which("hx") is not None,
}


@pytest.fixture(scope="module")
def checkout() -> Path:
    """A checkout after the demo, with Helix configured to show its location."""
    return demo_checkout()


@pytest.fixture(scope="module")
def way(checkout: Path) -> list[Place]:
    """The locations of the walk, as the server returns them to a client that queries the start of each line."""
    path, line, character = checkout / "framedex-demo" / "device_put.py", 7, 0
    places = [(path.name, line + 1)]
    with RawClient() as client:
        client.initialize(checkout)
        for step in count():
            asked = {"textDocument": {"uri": path.as_uri()}, "position": {"line": line, "character": character}}
            answer = client.request("textDocument/definition", asked, step)["result"]
            if not answer:
                break
            (found,) = answer
            path, start = Path(found["uri"].removeprefix("file://")), found["range"]["start"]
            line, character = start["line"], start["character"]
            places.append((path.name, line + 1))
    assert len(places) > 5
    return places


@pytest.mark.skipif(not HAS_TMUX, reason="needs tmux")
@pytest.mark.exhaustive(keep=["lsp-mode"])
@pytest.mark.parametrize("editor", [NEOVIM, EMACS, LSP_MODE, HELIX], ids=["neovim", "eglot", "lsp-mode", "helix"])
def test_each_step_is_one_key(checkout: Path, way: list[Place], tmp_path: Path, editor: Editor) -> None:
    if not HAS[editor]:
        pytest.skip("this editor is not installed")
    home = tmp_path / "home"
    (home / ".emacs.d").mkdir(parents=True)
    (home / ".emacs.d" / "early-init.el").write_text(EARLY_IN_EMACS)
    (tmp_path / "lsp.el").write_text(WITH_LSP_MODE)
    (tmp_path / "shown.vim").write_text(SHOWN_BY_NEOVIM)
    more = editor.more.replace("{settings}", str(tmp_path))
    command = (readme_line(checkout, editor.program) if editor.program else "") + more
    with Screen(command, checkout, {"HOME": str(home)}) as screen:
        screen.wait_until(lambda: _is_ready(screen, editor))
        came_by = [way[0]]
        steps = len(way) - 1
        for key in [editor.inward] * steps + [editor.back] * steps:
            screen.type(key)
            screen.wait_until(lambda: _place(screen) not in (None, came_by[-1]))
            came_by.append(_place(screen) or came_by[-1])
    assert came_by == [*way, *way[-2::-1]]


def _is_ready(screen: Screen, editor: Editor) -> bool:
    if editor.wake:
        screen.type(*editor.wake)
    return editor.ready in screen.text


def _place(screen: Screen) -> Place | None:
    """The location of the cursor on the status line."""
    text = screen.text
    found = re.search(r"<([\w.]+):(\d+)>", text)
    return (found[1], int(found[2])) if found else shown_place(text)
