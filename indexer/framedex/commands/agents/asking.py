"""Run a verb or an SQL query in a process of its own, with limits.

A malformed index or text can at worst end that process, and a time limit ends it in any case.
"""

from __future__ import annotations

import json
import os
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio
from anyio.abc import ByteReceiveStream, Process

from framedex import words
from framedex.commands.agents.model import Answer
from framedex.commands.agents.query_process import FEWER, TIMED_OUT
from framedex.errors import FramedexError
from framedex.interpreters import own_code, own_module

PATIENCE = 60.0
"""Time limit of a verb, in seconds."""

LONGEST_QUERY = 5.0
"""Time limit of an SQL query, in seconds."""

MOST_READ = 4 << 20
"""Maximum number of bytes that are read from the stdout of a verb."""

_AT_ONCE = 3
_SMALLER = "Ask of one capture (`capture`), or of fewer calls (`since`, `until`, `function`)."
_CODE = """\
import sys
sys.stdin.reconfigure(encoding="utf-8", errors="surrogateescape")
sys.stdout.reconfigure(encoding="utf-8")
sys.stderr.reconfigure(encoding="utf-8")
from framedex.commands.main import cli
cli(prog_name="framedex")
"""
_USAGE = "\n\nError: "
_NAME = "framedex: "


@dataclass(frozen=True, slots=True)
class _Printed:
    """The output of a process: whole lines of stdout, stderr, and the exit status.

    `is_cut`: stdout exceeded `MOST_READ` bytes and was truncated.
    """

    lines: Sequence[str]
    said: str
    status: int
    is_cut: bool


class Verbs:
    """Read-only verbs on one index, run for agents, at most `_AT_ONCE` at a time."""

    def __init__(self, index: Path | None) -> None:
        """`index` is the value of --index; None uses the nearest index, as on the command line."""
        self._before = ["--read-only", *(["--index", str(index)] if index is not None else [])]
        self._turns = anyio.CapacityLimiter(_AT_ONCE)

    async def ask(self, command: Iterable[str], given: str) -> Answer:
        """Run a verb with `given` as its stdin, and return its output. Raises FramedexError on a timeout."""
        return await self._in_turn(partial(self._asked, command, given))

    async def query(self, index: Path, text: str | None) -> Answer:
        """Return the rows of an SQL query on an index, or its views if `text` is None.

        Raises FramedexError on a timeout.
        """
        return await self._in_turn(partial(_queried, index, text))

    async def _in_turn(self, answering: Callable[[], Awaitable[Answer]]) -> Answer:
        async with self._turns:
            with anyio.move_on_after(PATIENCE) as limit:
                return await answering()
        assert limit.cancelled_caught
        raise FramedexError(
            f"It took more than {words.duration(round(PATIENCE * 1e9))} and was stopped.",
            _SMALLER,
        )

    async def _asked(self, command: Iterable[str], given: str) -> Answer:
        printed = await _run([*own_code(_CODE, ()), *self._before, *command], given)
        is_failure = printed.status != 0 and not printed.is_cut
        return Answer(
            tuple(line for line in printed.lines if line.strip()),
            tuple(_failure(printed, "The command", _SMALLER) if is_failure else _notes(printed.said)),
            is_failure=is_failure,
            is_cut=printed.is_cut,
        )


async def _queried(index: Path, text: str | None) -> Answer:
    request = {"index": os.fspath(index), "query": text, "seconds": LONGEST_QUERY}
    printed = await _run(own_module("framedex.commands.agents.query_process", ()), json.dumps(request))
    if printed.status == TIMED_OUT:
        raise FramedexError(
            f"The query took more than {words.duration(round(LONGEST_QUERY * 1e9))} and was stopped.",
            "Ask of fewer rows; `calls` is many rows, `call_kinds` few.",
        )
    if printed.status and not printed.is_cut:
        return Answer(notes=tuple(_failure(printed, "The query", FEWER)), is_failure=True)
    answered = [json.loads(line) for line in printed.lines if line]
    lines = tuple(line for line in answered if isinstance(line, str))
    return Answer(lines, is_cut=True) if printed.is_cut else Answer(lines, **answered[-1])


async def _run(command: Sequence[str], given: str) -> _Printed:
    printed, said = bytearray(), bytearray()
    async with await anyio.open_process(command) as process:  # noqa: TID251
        assert process.stdout is not None and process.stderr is not None
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_give, process, given)
            tasks.start_soon(_read, process, process.stdout, printed)
            tasks.start_soon(_read, process, process.stderr, said)
        status = await process.wait()
    is_cut = len(printed) > MOST_READ
    whole = printed[:MOST_READ].rpartition(b"\n")[0] if is_cut else printed
    lines = whole.decode("utf-8", "replace").split("\n")
    return _Printed(lines, said[:MOST_READ].decode("utf-8", "replace"), status, is_cut)


async def _give(process: Process, text: str) -> None:
    assert process.stdin is not None
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        await process.stdin.send(text.encode("utf-8", "surrogateescape"))
    await process.stdin.aclose()


async def _read(process: Process, stream: ByteReceiveStream, read: bytearray) -> None:
    """Append the output of a process to `read`; kill a process that prints more than `MOST_READ` bytes."""
    async for piece in stream:
        read += piece
        if len(read) > MOST_READ:
            with suppress(ProcessLookupError):
                process.kill()
            return


def _failure(printed: _Printed, asked: str, remedy: str) -> list[str]:
    """Return the stderr of a failed process.

    A killed process has no stderr: report its signal or status, with the remedy.
    """
    return _notes(printed.said) or [f"{asked} {_end(printed.status)}: it may have needed too much memory. {remedy}"]


def _end(status: int) -> str:
    return f"ended by {words.signal_name(-status)}" if status < 0 else f"ended with status {status}"


def _notes(said: str) -> list[str]:
    """Split the stderr of a verb into notes of one or two sentences, without the usage text and the name prefix."""
    if "Traceback (most recent call last)" in said:
        return ["framedex failed: " + said.strip().splitlines()[-1]]
    said = said.rpartition(_USAGE)[2]
    notes: list[str] = []
    for line in said.splitlines():
        if notes and line.startswith("  "):
            notes[-1] += f"\n{line.strip()}"
        elif line.strip():
            notes.append(line.removeprefix(_NAME).strip())
    return notes
