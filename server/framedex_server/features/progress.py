"""Work done progress: long work that the client shows, with a button that cancels it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from typing import Any, TypeVar
from uuid import uuid4

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from framedex_server.jobs import Told

Result = TypeVar("Result")

EVERY = 0.1
"""Seconds between two reports: a client draws each of them."""

LONGEST_SILENCE = 5.0
"""Seconds that a client has to take a progress of ours; the work is then done without."""


async def with_progress(
    server: LanguageServer,
    title: str,
    token: types.ProgressToken | None,
    work: Callable[[Told], Awaitable[Result]],
) -> Result:
    """The result of work that the client sees, under its own token if it gave one.

    Cancelled by the client, through the progress or the request, it raises CancelledError.
    """
    token = token if token is not None else await _token(server)
    if token is None:
        return await work(lambda task, done, total: None)
    task = asyncio.ensure_future(work(_Reports(server, token)))
    progress = server.work_done_progress
    progress.begin(token, types.WorkDoneProgressBegin(title, cancellable=True))

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
        raise
    finally:
        del progress.tokens[token]
        progress.end(token, types.WorkDoneProgressEnd(message))


class _Reports:
    """Tells the client of progress, but not of every step."""

    def __init__(self, server: LanguageServer, token: types.ProgressToken) -> None:
        self._server = server
        self._token = token
        self._next = 0.0

    def __call__(self, task: str, done: int, total: int | None) -> None:
        now = time.monotonic()
        if done and now < self._next:
            return
        self._next = now + EVERY
        percentage = min(100, 100 * done // total) if total else None
        message = f"{task} ({done:,} of {total:,})" if total else task
        report = types.WorkDoneProgressReport(message=message, percentage=percentage)
        self._server.work_done_progress.report(self._token, report)


async def _token(server: LanguageServer) -> types.ProgressToken | None:
    """A new token that the client has taken; None if it shows no progress of the server's own."""
    window = server.client_capabilities.window
    if not (window and window.work_done_progress):
        return None
    token = str(uuid4())
    try:
        await asyncio.wait_for(server.work_done_progress.create_async(token), LONGEST_SILENCE)
    except (TimeoutError, JsonRpcException):
        return None
    return token
