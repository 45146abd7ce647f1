"""Work done progress (LSP): long work that the client displays with a cancel button."""

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
"""Seconds within which a client must accept a progress; after that, work runs without progress."""


async def with_progress(
    server: LanguageServer,
    title: str,
    work: Callable[[Told], Awaitable[Result]],
) -> Result:
    """Run the work, display its progress if the client supports that, and return the result.

    Raises JsonRpcRequestCancelled if the client cancels the progress: pygls would never reply to a command that ends
    with
    CancelledError.
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
    """Return a new progress token accepted by the client; None if it accepts none from a server."""
    window = server.client_capabilities.window
    if not (window and window.work_done_progress):
        return None
    token = str(uuid4())
    try:
        await asyncio.wait_for(server.work_done_progress.create_async(token), LONGEST_SILENCE)
    except (TimeoutError, JsonRpcException):
        return None
    return token
