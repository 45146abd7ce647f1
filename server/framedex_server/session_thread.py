"""A thread for the work of a session that would block the protocol loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Answer = TypeVar("Answer")


class SessionThread:
    """Runs the work of a session, one piece at a time, until the session ends."""

    def __init__(self, name: str) -> None:
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)
        self._is_closed = False

    async def run(self, work: Callable[[], Answer]) -> Answer:
        """Return the result of `work`. Raises CancelledError if the thread is closed before `work` begins."""
        if self._is_closed:
            raise asyncio.CancelledError
        return await asyncio.get_running_loop().run_in_executor(self._executor, work)

    def close(self) -> None:
        """Cancel work that has not begun, and accept no more."""
        self._is_closed = True
        self._executor.shutdown(wait=False, cancel_futures=True)

    def join(self) -> None:
        """Wait for the end of the thread."""
        self._executor.shutdown(wait=True)
