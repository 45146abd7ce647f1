"""Work done progress: long work that the client shows, with a button that cancels it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from typing import Any, TypeVar
from uuid import uuid4

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcRequestCancelled
from pygls.lsp.server import LanguageServer

from framedex_server.jobs import Told

Result = TypeVar("Result")

LONGEST_SILENCE = 5.0
"""Seconds that a client has to accept a progress; after that the work is done without showing any."""


async def with_progress(
    server: LanguageServer,
    title: str,
    work: Callable[[Told], Awaitable[Result]],
) -> Result:
    """Do the work, whose progress the client sees if it shows any, and return its result.

    Raises JsonRpcRequestCancelled where the client cancels the progress: pygls would never answer a command that ends
    with CancelledError.
    """
    token = await _token(server)
    if token is None:
        return await work(lambda task, done, total: None)
    progress = server.work_done_progress

    def told(task: str, done: int, total: int | None) -> None:
        percentage = min(100, 100 * done // total) if total else None
        message = f"{task} ({done:,} of {total:,})" if total else task
        progress.report(token, types.WorkDoneProgressReport(message=message, percentage=percentage))

    task = asyncio.ensure_future(work(told))
    progress.begin(token, types.WorkDoneProgressBegin(title=title, cancellable=True))

    def asked_to_stop(cancelling: Future[Any]) -> None:
        if cancelling.cancelled():
            task.cancel()

    progress.tokens[token].add_done_callback(asked_to_stop)
    message = "failed"
    try:
        result = await task
        message = "done"
        return result
    except asyncio.CancelledError:
        message = "cancelled"
        if progress.tokens[token].cancelled():
            raise JsonRpcRequestCancelled(f"{title}: cancelled") from None
        raise
    finally:
        del progress.tokens[token]
        progress.end(token, types.WorkDoneProgressEnd(message=message))


async def _token(server: LanguageServer) -> types.ProgressToken | None:
    """A new progress token that the client has accepted; None where it accepts none from a server."""
    window = server.client_capabilities.window
    if not (window and window.work_done_progress):
        return None
    token = str(uuid4())
    try:
        await asyncio.wait_for(server.work_done_progress.create_async(token), LONGEST_SILENCE)
    except (TimeoutError, JsonRpcException):
        return None
    return token
