"""The command `framedex.openPublic`: open the public page of a location that is not here in the browser.

It runs only if the user asks for it: requests such as go to definition open no page.
"""

from __future__ import annotations

from typing import Any

from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

from framedex_server.answers.elsewhere import open_outside
from framedex_server.answers.session import Session
from framedex_server.markup import quoted_address
from framedex_server.protocol import OPEN_PUBLIC

LONGEST = 8192
"""Maximum length of a URL, in characters."""


def register(server: LanguageServer, session: Session) -> None:
    """Register `framedex.openPublic`, with a URL."""

    @server.command(OPEN_PUBLIC)
    async def command(url: Any = None) -> None:
        if not isinstance(url, str) or len(url) > LONGEST or not url.startswith(("http://", "https://")):
            raise JsonRpcInvalidParams(f"{OPEN_PUBLIC} takes an address that begins with https:// or http://.")
        open_outside(server, quoted_address(url))
