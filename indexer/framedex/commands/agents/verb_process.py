"""Run a verb or an SQL query in a separate process, with limits.

A malformed index or text can only crash that process, and a time limit always ends it.
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

from framedex.base import words
from framedex.base.errors import FramedexError
from framedex.base.interpreters import build_own_code_command, build_own_module_command
from framedex.commands.agents.query_process import FEWER_ROWS, TIMEOUT_STATUS
from framedex.commands.agents.tools import ToolAnswer

VERB_TIMEOUT_S = 60.0
QUERY_TIMEOUT_S = 5.0
MAX_OUTPUT_BYTES = 4 << 20
"""Maximum size of a verb's stdout; more output is cut."""

_MAX_PROCESSES = 3
_NARROWER_QUERY = "Select one capture (`capture`) or fewer calls (`since`, `until`, `function`)."
_CLI_CODE = """\
import sys
sys.stdin.reconfigure(encoding="utf-8", errors="surrogateescape")
sys.stdout.reconfigure(encoding="utf-8")
sys.stderr.reconfigure(encoding="utf-8")
from framedex.commands.main import cli
cli(prog_name="framedex")
"""
_USAGE_END = "\n\nError: "
_NOTE_PREFIX = "framedex: "


@dataclass(frozen=True, slots=True)
class _ProcessOutput:
    """The output of a process: whole lines of stdout, stderr, and the exit status.

    `is_cut`: stdout exceeded `MAX_OUTPUT_BYTES` bytes and was truncated.
    """

    lines: Sequence[str]
    stderr: str
    status: int
    is_cut: bool


class VerbRunner:
    """Read-only verbs on one index, run for agents in separate processes, at most `_MAX_PROCESSES` at a time."""

    def __init__(self, index: Path | None) -> None:
        """`index` is the value of --index; None uses the nearest index, as on the command line."""
        self._leading_words = ["--read-only", *(["--index", str(index)] if index is not None else [])]
        self._process_limiter = anyio.CapacityLimiter(_MAX_PROCESSES)

    async def run(self, command: Iterable[str], stdin: str) -> ToolAnswer:
        """Run a verb with the text `stdin`, and return its output. Raises FramedexError on a timeout."""
        return await self._with_limits(partial(self._run_verb, command, stdin))

    async def query(self, index: Path, text: str | None) -> ToolAnswer:
        """Return the rows of an SQL query on an index, or its views if `text` is None.

        Raises FramedexError on a timeout.
        """
        return await self._with_limits(partial(_run_query, index, text))

    async def _with_limits(self, answer: Callable[[], Awaitable[ToolAnswer]]) -> ToolAnswer:
        async with self._process_limiter:
            with anyio.move_on_after(VERB_TIMEOUT_S) as limit:
                return await answer()
        assert limit.cancelled_caught
        raise FramedexError(
            f"The command took more than {words.format_duration(round(VERB_TIMEOUT_S * 1e9))} and was stopped.",
            _NARROWER_QUERY,
        )

    async def _run_verb(self, command: Iterable[str], stdin: str) -> ToolAnswer:
        output = await _run_process([*build_own_code_command(_CLI_CODE, ()), *self._leading_words, *command], stdin)
        is_failure = output.status != 0 and not output.is_cut
        return ToolAnswer(
            tuple(line for line in output.lines if line.strip()),
            tuple(
                _build_failure_notes(output, "The command", _NARROWER_QUERY)
                if is_failure
                else _split_notes(output.stderr)
            ),
            is_failure=is_failure,
            is_cut=output.is_cut,
        )


async def _run_query(index: Path, text: str | None) -> ToolAnswer:
    request = {"index": os.fspath(index), "query": text, "seconds": QUERY_TIMEOUT_S}
    output = await _run_process(
        build_own_module_command("framedex.commands.agents.query_process", ()), json.dumps(request)
    )
    if output.status == TIMEOUT_STATUS:
        raise FramedexError(
            f"The query took more than {words.format_duration(round(QUERY_TIMEOUT_S * 1e9))} and was stopped.",
            "Select fewer rows: `calls` has many, `call_kinds` few.",
        )
    if output.status and not output.is_cut:
        return ToolAnswer(notes=tuple(_build_failure_notes(output, "The query", FEWER_ROWS)), is_failure=True)
    values = [json.loads(line) for line in output.lines if line]
    lines = tuple(line for line in values if isinstance(line, str))
    return ToolAnswer(lines, is_cut=True) if output.is_cut else ToolAnswer(lines, **values[-1])


async def _run_process(command: Sequence[str], text: str) -> _ProcessOutput:
    printed, errors = bytearray(), bytearray()
    async with await anyio.open_process(command) as process:  # noqa: TID251
        assert process.stdout is not None and process.stderr is not None
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_write_stdin, process, text)
            tasks.start_soon(_read_stream, process, process.stdout, printed)
            tasks.start_soon(_read_stream, process, process.stderr, errors)
        status = await process.wait()
    is_cut = len(printed) > MAX_OUTPUT_BYTES
    whole = printed[:MAX_OUTPUT_BYTES].rpartition(b"\n")[0] if is_cut else printed
    lines = whole.decode("utf-8", "replace").split("\n")
    return _ProcessOutput(lines, errors[:MAX_OUTPUT_BYTES].decode("utf-8", "replace"), status, is_cut)


async def _write_stdin(process: Process, text: str) -> None:
    assert process.stdin is not None
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        await process.stdin.send(text.encode("utf-8", "surrogateescape"))
    await process.stdin.aclose()


async def _read_stream(process: Process, stream: ByteReceiveStream, read: bytearray) -> None:
    """Append the output of a process to `read`; kill a process that prints more than `MAX_OUTPUT_BYTES` bytes."""
    async for chunk in stream:
        read += chunk
        if len(read) > MAX_OUTPUT_BYTES:
            with suppress(ProcessLookupError):
                process.kill()
            return


def _build_failure_notes(output: _ProcessOutput, subject: str, remedy: str) -> list[str]:
    """Return the stderr of a failed process.

    A killed process has no stderr: report its signal or status, with the remedy.
    """
    return _split_notes(output.stderr) or [
        f"{subject} {_describe_end(output.status)}: it may have needed too much memory. {remedy}"
    ]


def _describe_end(status: int) -> str:
    return f"ended by {words.signal_name(-status)}" if status < 0 else f"ended with status {status}"


def _split_notes(stderr: str) -> list[str]:
    """Split the stderr of a verb into notes of one or two sentences, without the usage text and the name prefix."""
    if "Traceback (most recent call last)" in stderr:
        return ["framedex failed: " + stderr.strip().splitlines()[-1]]
    stderr = stderr.rpartition(_USAGE_END)[2]
    notes: list[str] = []
    for line in stderr.splitlines():
        if notes and line.startswith("  "):
            notes[-1] += f"\n{line.strip()}"
        elif line.strip():
            notes.append(line.removeprefix(_NOTE_PREFIX).strip())
    return notes
