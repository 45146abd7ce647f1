"""The request `framedex/why`: why another request had an empty answer, and what helps, the same in every editor."""

from __future__ import annotations

from typing import Any

from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

from framedex_server.answers.requests import Json, given
from framedex_server.answers.session import Session
from framedex_server.answers.why import why_nothing


def register(server: LanguageServer, session: Session) -> None:
    """Register the request."""

    @server.feature("framedex/why")
    async def why(params: Any) -> Json:
        about = given(params)
        request = about.get("request")
        if not isinstance(request, str):
            raise JsonRpcInvalidParams("request is needed, the method that was answered with nothing.")
        return await why_nothing(session, about, request)
