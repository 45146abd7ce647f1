"""Long work outside the server's process (indexing in `worker.py`, recorded programs), and finished recordings.

The protocol loop awaits the work and answers other requests meanwhile. Cancelling the awaiting task cancels the work:
the worker gets SIGINT, keeps the finished part, and is ready for the next request.

A process records a capture through mapped memory, so the file system sends no notification. The capture folders are
polled instead, with one `stat` each while nothing is new.
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

from framedex.base.errors import FramedexError
from framedex.base.folders import iterate_folders_upwards
from framedex.base.interpreters import build_own_code_command, build_own_module_command
from framedex_server.indexes import find_projects_below

ReportProgress = Callable[[str, int, int | None], None]
"""Receives progress: the current task, the units done, and the total if known."""

MAX_LINE_BYTES = 1 << 20
"""Maximum length of one answer of the worker, in bytes."""


class IndexingWorker:
    """An indexing process, started by the first request and restarted if it died. It handles one request at a time."""

    def __init__(self, open_folders: Callable[[], Sequence[Path]] = lambda: ()) -> None:
        """`open_folders` returns the folders open in the editor: no module is imported from there."""
        self._open_folders = open_folders
        self._process: Process | None = None
        self._lock = asyncio.Lock()

    async def run(self, request: dict[str, Any], report_progress: ReportProgress) -> dict[str, Any]:
        """Return the result of a request to `worker.py`; cancelling this task cancels the work.

        Raises FramedexError if the worker reports an error or dies.
        """
        async with self._lock:
            process = await self._ensure_process()
            assert process.stdin is not None
            with suppress(BrokenPipeError, ConnectionResetError):  # the missing answer reports it
                process.stdin.write(json.dumps(request).encode() + b"\n")
                await process.stdin.drain()
            begun = asyncio.get_running_loop().create_future()
            answer = asyncio.ensure_future(_read_answer(process, begun, report_progress))
            try:
                return await asyncio.shield(answer)
            except asyncio.CancelledError:
                # Before the work begins, the signal would be lost or end a process that is just starting.
                await asyncio.wait([begun, answer], return_when=asyncio.FIRST_COMPLETED)
                with suppress(ProcessLookupError):
                    process.send_signal(signal.SIGINT)
                # Consume this answer; otherwise the next request would get it.
                with suppress(FramedexError):
                    await answer
                raise

    def close(self) -> None:
        """Terminate the process; finished work is kept."""
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            with suppress(ProcessLookupError):
                process.terminate()

    async def _ensure_process(self) -> Process:
        if self._process is None or self._process.returncode is not None:
            self._process = await asyncio.create_subprocess_exec(  # noqa: TID251
                *build_own_module_command("framedex_server.worker", self._open_folders()),
                stdin=PIPE,
                stdout=PIPE,
                limit=MAX_LINE_BYTES,
            )
        return self._process


async def _read_answer(
    process: Process, begun: asyncio.Future[None], report_progress: ReportProgress
) -> dict[str, Any]:
    assert process.stdout is not None
    task, total = "", None
    while line := await process.stdout.readline():
        match json.loads(line):
            case {"begun": True}:
                begun.set_result(None)
            case {"task": str(task), "total": total}:
                report_progress(task, 0, total)
            case {"done": int(done)}:
                report_progress(task, done, total)
            case {"result": dict(result)}:
                return result
            case {"error": str(message), "remedy": str(remedy)}:
                raise FramedexError(message, remedy)
            case _:
                raise FramedexError("Indexing was cancelled.", "Finished work is kept; index again to continue.")
    status = await process.wait()
    raise FramedexError(
        f"The indexing process ended unexpectedly (status {status}).",
        "Run `framedex index` in a terminal for details.",
    )


async def record_script(
    script: Path, folder: Path, on_line: Callable[[str], None], open_folders: Sequence[Path] = ()
) -> int:
    """Run `framedex run SCRIPT` in a folder, which also gets the capture; return the exit status.

    `on_line` gets each line that the program prints. No module is imported from `open_folders`. Cancelling interrupts
    the program like Ctrl-C.
    """
    cli = "from framedex.commands.main import cli; cli(prog_name='framedex')"
    process = await asyncio.create_subprocess_exec(  # noqa: TID251
        *build_own_code_command(cli, open_folders),
        *("run", str(script)),
        cwd=folder,
        stdin=DEVNULL,
        stdout=PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
        limit=MAX_LINE_BYTES,
    )
    assert process.stdout is not None
    try:
        while line := await process.stdout.readline():
            on_line(line.decode("utf-8", "replace").rstrip("\n"))
        return await process.wait()
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):  # the process group, like Ctrl-C in a terminal
                os.killpg(process.pid, signal.SIGINT)


POLL_INTERVAL_S = 1.0
"""Seconds between two polls for finished recordings."""

POLLS_PER_SEARCH = 30
"""Number of polls between two searches of the workspace for new projects."""


class FinishedCaptures:
    """Finds captures whose recording has finished; returns each capture once."""

    def __init__(self) -> None:
        self._quiet_mtimes_ns: dict[Path, int] = {}
        self._returned: set[Path] = set()
        self._growing: set[Path] = set()
        self._nested_projects: tuple[Sequence[Path], list[Path]] = (), []
        self._polls = 0

    def find_finished(self, roots: Sequence[Path], indexed: Callable[[Path], set[Path]]) -> dict[Path, list[Path]]:
        """Return the captures whose recording has finished, by project; each is returned once.

        `indexed` returns the captures in a project's index. An indexed capture is returned only if an earlier poll saw
        it growing. Never raises.
        """
        found = {project: self._find_finished_in(project, indexed) for project in self._find_projects(roots)}
        return {project: captures for project, captures in found.items() if captures}

    def _find_projects(self, roots: Sequence[Path]) -> list[Path]:
        if self._polls % POLLS_PER_SEARCH == 0 or self._nested_projects[0] != roots:
            self._nested_projects = roots, [project for root in roots for project in find_projects_below(root)]
        self._polls += 1
        above = (Path(folder) for root in roots for folder in iterate_folders_upwards(str(root)))
        around = [folder for folder in above if os.path.isdir(folder / ".framedex")]  # noqa: PTH112 - Path's raises
        return list(dict.fromkeys((*around, *self._nested_projects[1])))

    def _find_finished_in(self, project: Path, indexed: Callable[[Path], set[Path]]) -> list[Path]:
        folder = project / ".framedex" / "captures"
        try:
            changed = folder.stat().st_mtime_ns
        except OSError:
            return []
        if self._quiet_mtimes_ns.get(folder) == changed:
            return []
        try:
            from framedex.captures import capture_folders  # fails without the native extension

            captures = [Path(os.path.realpath(capture)) for capture in capture_folders(folder)]
            incomplete = len(list(folder.iterdir())) - len(captures)
        except (FramedexError, OSError):
            return []
        new = [capture for capture in captures if capture not in self._returned]
        growing = {capture for capture in new if not _is_finished(capture)}
        ended = [capture for capture in new if capture not in growing]
        known = indexed(project) if ended else set()
        self._returned.update(ended)
        due = [capture for capture in ended if capture in self._growing or capture not in known]
        self._growing |= growing
        if not growing and not incomplete:
            self._quiet_mtimes_ns[folder] = changed
        return due


def _is_finished(capture: Path) -> bool:
    from framedex.captures import is_complete

    try:
        return is_complete(capture)
    except FramedexError:
        return True  # the reader of the capture will report the error
