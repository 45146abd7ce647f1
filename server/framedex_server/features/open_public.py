"""The command `framedex.openPublic`: the public page of a place that is not here, in the browser.

It is only run where the user asks for it: a question such as go to definition opens nothing.
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
"""Characters of an address."""


def register(server: LanguageServer, session: Session) -> None:
    """Offer `framedex.openPublic`, with an address of the web."""

    @server.command(OPEN_PUBLIC)
    async def command(url: Any = None) -> None:
        if not isinstance(url, str) or len(url) > LONGEST or not url.startswith(("http://", "https://")):
            raise JsonRpcInvalidParams(f"{OPEN_PUBLIC} takes an address that begins with https:// or http://.")
        open_outside(server, quoted_address(url))
