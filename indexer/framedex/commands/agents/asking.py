"""Asks a verb, in a process of its own: what an index or a text makes it do ends with that process, and in time."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import anyio
from anyio.abc import ByteReceiveStream, Process

from framedex import words
from framedex.commands.agents.model import Answer
from framedex.errors import FramedexError
from framedex.interpreters import own_code

PATIENCE = 60.0
"""Seconds that a verb may take."""

MOST_READ = 4 << 20
"""Bytes that are read of what a verb prints."""

_AT_ONCE = 3
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


class Verbs:
    """Verbs that write nothing, of one index, asked for agents: a few at once."""

    def __init__(self, index: Path | None) -> None:
        """`index` is that given with --index; None: the nearest one, as always."""
        self._before = ["--read-only", *(["--index", str(index)] if index is not None else [])]
        self._turns = anyio.CapacityLimiter(_AT_ONCE)

    async def ask(self, command: Iterable[str], given: str) -> Answer:
        """What a verb prints, given something to read. Raises FramedexError where it takes too long."""
        async with self._turns:
            with anyio.move_on_after(PATIENCE) as limit:
                return await self._answer(command, given)
        assert limit.cancelled_caught
        raise FramedexError(
            f"It took more than {words.duration(round(PATIENCE * 1e9))} and was stopped.",
            "Ask of one capture (`capture`), or of fewer calls (`since`, `until`, `function`).",
        )

    async def _answer(self, command: Iterable[str], given: str) -> Answer:
        printed, said = bytearray(), bytearray()
        async with await anyio.open_process([*own_code(_CODE, ()), *self._before, *command]) as process:  # noqa: TID251
            assert process.stdout is not None and process.stderr is not None
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_give, process, given)
                tasks.start_soon(_read, process, process.stdout, printed)
                tasks.start_soon(_read, process, process.stderr, said)
            status = await process.wait()
        is_cut = len(printed) > MOST_READ
        whole = printed[:MOST_READ].rpartition(b"\n")[0] if is_cut else printed
        lines = whole.decode("utf-8", "replace").split("\n")
        return Answer(
            tuple(line for line in lines if line.strip()),
            tuple(_notes(said[:MOST_READ].decode("utf-8", "replace"))),
            is_failure=status != 0 and not is_cut,
            is_cut=is_cut,
        )


async def _give(process: Process, text: str) -> None:
    assert process.stdin is not None
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        await process.stdin.send(text.encode("utf-8", "surrogateescape"))
    await process.stdin.aclose()


async def _read(process: Process, stream: ByteReceiveStream, read: bytearray) -> None:
    """Read what a process prints; one that prints without end is ended."""
    async for piece in stream:
        read += piece
        if len(read) > MOST_READ:
            with suppress(ProcessLookupError):
                process.kill()
            return


def _notes(said: str) -> list[str]:
    """What a verb said beside its answer, a sentence or two each, without what is for shells."""
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
