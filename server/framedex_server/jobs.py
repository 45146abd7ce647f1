"""Long work outside the server's process: indexing in `worker.py`, and recorded programs.

The protocol loop awaits it and answers other requests meanwhile. Cancelling the awaiting task cancels the work: the
worker gets SIGINT, keeps the finished part, and is ready for the next request.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from framedex.errors import FramedexError
from framedex.interpreters import own_code, own_module

Told = Callable[[str, int, int | None], None]
"""Receives progress: the current task, the units done, and the total if known."""

LONGEST_LINE = 1 << 20
"""Maximum length of one answer of the worker, in bytes."""


class Worker:
    """An indexing process, started by the first request and restarted if it died. It handles one request at a time."""

    def __init__(self, opened: Callable[[], Sequence[Path]] = lambda: ()) -> None:
        """`opened` returns the folders open in the editor: no module is imported from there."""
        self._opened = opened
        self._process: Process | None = None
        self._turn = asyncio.Lock()

    async def run(self, request: dict[str, Any], told: Told) -> dict[str, Any]:
        """Return the result of a request to `worker.py`; cancelling this task cancels the work.

        Raises FramedexError if the worker reports an error or dies.
        """
        async with self._turn:
            process = await self._started()
            assert process.stdin is not None
            with suppress(BrokenPipeError, ConnectionResetError):  # the missing answer reports it
                process.stdin.write(json.dumps(request).encode() + b"\n")
                await process.stdin.drain()
            begun = asyncio.get_running_loop().create_future()
            answer = asyncio.ensure_future(_answer(process, begun, told))
            try:
                return await asyncio.shield(answer)
            except asyncio.CancelledError:
                # Before the work begins, the signal would be lost or end a process that is just starting.
                await asyncio.wait([begun, answer], return_when=asyncio.FIRST_COMPLETED)
                with suppress(ProcessLookupError):
                    process.send_signal(signal.SIGINT)
                # Consume this answer, or the next request would get it.
                with suppress(FramedexError):
                    await answer
                raise

    def close(self) -> None:
        """Terminate the process; finished work is kept."""
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            with suppress(ProcessLookupError):
                process.terminate()

    async def _started(self) -> Process:
        if self._process is None or self._process.returncode is not None:
            self._process = await asyncio.create_subprocess_exec(  # noqa: TID251
                *own_module("framedex_server.worker", self._opened()), stdin=PIPE, stdout=PIPE, limit=LONGEST_LINE
            )
        return self._process


async def _answer(process: Process, begun: asyncio.Future[None], told: Told) -> dict[str, Any]:
    assert process.stdout is not None
    task, total = "", None
    while line := await process.stdout.readline():
        match json.loads(line):
            case {"begun": True}:
                begun.set_result(None)
            case {"task": str(task), "total": total}:
                told(task, 0, total)
            case {"done": int(done)}:
                told(task, done, total)
            case {"result": dict(result)}:
                return result
            case {"error": str(message), "remedy": str(remedy)}:
                raise FramedexError(message, remedy)
            case _:
                raise FramedexError("Indexing was cancelled.", "Finished work is kept; index again to continue.")
    status = await process.wait()
    raise FramedexError(
        f"The process that indexes has ended unexpectedly (status {status}).",
        "Run `framedex index` in a terminal for details.",
    )


async def record(script: Path, folder: Path, told: Callable[[str], None], opened: Sequence[Path] = ()) -> int:
    """Run `framedex run SCRIPT` in a folder, which also gets the capture; return the exit status.

    `told` gets each line that the program prints; `opened` is as for Worker. Cancelling interrupts the program like
    Ctrl-C.
    """
    cli = "from framedex.commands.main import cli; cli(prog_name='framedex')"
    process = await asyncio.create_subprocess_exec(  # noqa: TID251
        *own_code(cli, opened),
        *("run", str(script)),
        cwd=folder,
        stdin=DEVNULL,
        stdout=PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
        limit=LONGEST_LINE,
    )
    assert process.stdout is not None
    try:
        while line := await process.stdout.readline():
            told(line.decode("utf-8", "replace").rstrip("\n"))
        return await process.wait()
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):  # the process group, like Ctrl-C in a terminal
                os.killpg(process.pid, signal.SIGINT)
