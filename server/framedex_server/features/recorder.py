"""`framedex/recorder`: whether this installation of framedex can record programs; if not, the reason and the remedy."""

from __future__ import annotations

from typing import Any

from pygls.lsp.server import LanguageServer

from framedex import nativepart
from framedex_server.answers.requests import Json
from framedex_server.answers.session import Session


def register(server: LanguageServer, session: Session) -> None:
    """Register the request."""

    @server.feature("framedex/recorder")
    async def recorder(_: Any) -> Json:
        return await session.run(_recorder)


def _recorder() -> Json:
    """Return the answer; `isSupported` says whether another installation on this system could record."""
    try:
        nativepart._native  # noqa: B018 - the import is the check
    except nativepart.NoNativePartError as error:
        is_supported = nativepart.unsupported_system() is None
        return {"canRecord": False, "isSupported": is_supported, "message": error.message, "remedy": error.remedy}
    return {"canRecord": True, "isSupported": True, "message": None, "remedy": None}
