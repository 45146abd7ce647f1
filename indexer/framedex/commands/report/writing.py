"""Shared code of verbs that write pages: output files and links."""

from __future__ import annotations

import os
from pathlib import Path

from framedex.errors import FramedexError
from framedex.regularfile import open_regular

_BEGINNING = 1024  # bytes, within which a page names its generator


def usual_editor() -> str:
    """The editor of links if none is named."""
    return "framedex" if os.environ.get("FRAMEDEX_LINK_SCHEME") == "framedex" else "vscode"


def refuse_foreign(path: Path) -> None:
    """Raise FramedexError if the file exists and is not a page of framedex."""
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
    """Open a page in the browser. Raises FramedexError if there is no browser, or if it fails."""
    from framedex.commands.editor.browser import chosen_browser, open_page

    address = path.absolute().as_uri()
    browser = chosen_browser(os.environ)
    if browser is None:
        raise FramedexError("No browser was found.", f"The page is {address}")
    open_page(address, browser)
