"""Commands that open pages in the browser: the public page of a missing source, and guidebook pages.

A page opens only if the user runs the command; requests such as go to definition never open pages.
`framedex.openGuidebook` takes a position, not a URL. The settings determine the page, so a link cannot open any other
page with it.
"""

from __future__ import annotations

from typing import Any

from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

from framedex_server.answers.guidebook import find_page_url
from framedex_server.answers.remote_sources import open_in_browser
from framedex_server.answers.requests import parse_params, parse_position, show_message
from framedex_server.answers.session import Session
from framedex_server.markup import quote_url
from framedex_server.protocol import OPEN_GUIDEBOOK, OPEN_PUBLIC

MAX_URL_CHARACTERS = 8192
"""Maximum length of a URL, in characters."""


def register_open_public(server: LanguageServer, session: Session) -> None:
    """Register `framedex.openPublic`, with a URL."""

    @server.command(OPEN_PUBLIC)
    async def command(url: Any = None) -> None:
        if not isinstance(url, str) or len(url) > MAX_URL_CHARACTERS or not url.startswith(("http://", "https://")):
            raise JsonRpcInvalidParams(f"{OPEN_PUBLIC} needs a URL that begins with https:// or http://.")
        open_in_browser(server, quote_url(url))


def register_open_guidebook(server: LanguageServer, session: Session) -> None:
    """Register `framedex.openGuidebook`, with a document and position."""

    @server.command(OPEN_GUIDEBOOK)
    async def open_guidebook(parameters: Any = None) -> None:
        params = parse_position(parse_params(parameters))
        address = await find_page_url(session, params.text_document, params.position)
        if address is None:
            show_message(
                server, "framedex: The guidebook has no page for this function. `framedex guidebook` creates one."
            )
        else:
            open_in_browser(server, address)
