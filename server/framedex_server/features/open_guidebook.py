"""The command `framedex.openGuidebook`: open the guidebook page for the function at a position in the browser.

It takes a position, not a URL: the settings determine the page, so no link can open any other page with it.
"""

from __future__ import annotations

from typing import Any

from pygls.lsp.server import LanguageServer

from framedex_server.answers.elsewhere import open_outside
from framedex_server.answers.guidebook import page_at
from framedex_server.answers.requests import given, position_in, tell
from framedex_server.answers.session import Session
from framedex_server.protocol import OPEN_GUIDEBOOK


def register(server: LanguageServer, session: Session) -> None:
    """Register `framedex.openGuidebook`, with a document and position."""

    @server.command(OPEN_GUIDEBOOK)
    async def open_guidebook(about: Any = None) -> None:
        params = position_in(given(about))
        address = await page_at(session, params.text_document, params.position)
        if address is None:
            tell(server, "framedex: The guidebook has no page about what is here; `framedex guidebook` creates one.")
        else:
            open_outside(server, address)
