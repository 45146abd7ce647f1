"""Progress of long work, shown by the client, which may cancel it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from typing import Any, TypeVar
from uuid import uuid4

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcRequestCancelled
from pygls.lsp.server import LanguageServer

from framedex_server.jobs import ReportProgress

Result = TypeVar("Result")

TOKEN_TIMEOUT_S = 5.0
"""Seconds within which a client must accept a progress token; after that, the work runs without progress."""


async def run_with_progress(
    server: LanguageServer,
    title: str,
    work: Callable[[ReportProgress], Awaitable[Result]],
) -> Result:
    """Run the work, display its progress if the client supports that, and return the result.

    Raises JsonRpcRequestCancelled if the client cancels the progress, because pygls never replies to a command that
    ends with CancelledError.
    """
    token = await _create_token(server)
    if token is None:
        return await work(lambda task, done, total: None)
    progress = server.work_done_progress

    def report_progress(task: str, done_count: int, total: int | None) -> None:
        percentage = min(100, 100 * done_count // total) if total else None
        message = f"{task} ({done_count:,} of {total:,})" if total else task
        progress.report(token, types.WorkDoneProgressReport(message=message, percentage=percentage))

    task = asyncio.ensure_future(work(report_progress))
    progress.begin(token, types.WorkDoneProgressBegin(title=title, cancellable=True))

    def on_cancel(cancelling: Future[Any]) -> None:
        if cancelling.cancelled():
            task.cancel()

    progress.tokens[token].add_done_callback(on_cancel)
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


async def _create_token(server: LanguageServer) -> types.ProgressToken | None:
    """Return a new progress token accepted by the client; None if it accepts none from a server."""
    window = server.client_capabilities.window
    if not (window and window.work_done_progress):
        return None
    token = str(uuid4())
    try:
        await asyncio.wait_for(server.work_done_progress.create_async(token), TOKEN_TIMEOUT_S)
    except (TimeoutError, JsonRpcException):
        return None
    return token
