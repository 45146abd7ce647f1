"""Where pages are written, and with which links: what verbs that write one share."""

from __future__ import annotations

import os
from pathlib import Path

from framedex.errors import FramedexError
from framedex.regularfile import open_regular

_BEGINNING = 1024  # bytes, in which a page says what wrote it


def usual_editor() -> str:
    """The editor that links open where none is named."""
    return "framedex" if os.environ.get("FRAMEDEX_LINK_SCHEME") == "framedex" else "vscode"


def refuse_foreign(path: Path) -> None:
    """Raise FramedexError where a file is there that is no page of ours."""
    from framedex.commands.report.page import GENERATOR

    try:
        with open_regular(path) as file:
            is_own = f'<meta name="generator" content="{GENERATOR} '.encode() in file.read(_BEGINNING)
    except FileNotFoundError:
        return
    except OSError:
        is_own = False
    if not is_own:
        raise FramedexError(
            f"{path} exists and is not a framedex report.",
            "Write elsewhere with -o, or replace it with --force.",
        )


def open_in_browser(path: Path) -> None:
    """Open a page that was written. Raises FramedexError where there is no browser, or it fails."""
    from framedex.commands.editor.browser import chosen_browser, open_page

    address = path.absolute().as_uri()
    browser = chosen_browser(os.environ)
    if browser is None:
        raise FramedexError("No browser was found.", f"The page is {address}")
    open_page(address, browser)
