"""A capture that was pulled from a store or imported from a shared file gives the answers of its own index."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner

from framedex.commands.main import cli
from tests.ffi_running import run_ffi
from tests.once import made_once
from tests.running import run

PROGRAMS = (
    *("costs/training.py", "donations.py", "host_callbacks.py", "devices.py", "awaiting.py", "misuse.py"),
    *("threads.py", "memory.py", "compiling.py", "failing.py", "costs/program_memory.py", "costs/collectives.py"),
)
ENVIRONMENTS = {
    "costs/program_memory.py": {"FRAMEDEX_DEVICES": "20"},
    "costs/collectives.py": {"FRAMEDEX_DEVICES": "8"},
}
FFI_PROGRAM = "ffi_calls.py"
VERBS = (
    *("summary", "check", "transfers", "memory", "waits", "ffi", "compiles", "compiles --all-lines"),
    *("compiles --startup", "calls --limit 300", "callees main", "find norm"),
)
TRACES = 10
"""Traced calls of each program, evenly spaced."""


def answers(index: Path) -> Mapping[str, str]:
    """What the verbs print for an index."""
    calls = [words[0] for words in map(str.split, _framedex(index, "calls --limit 2000").splitlines()) if words]
    calls = [number for number in calls if number.isdecimal()]
    traces = [f"trace {number}" for number in calls[:: max(1, len(calls) // TRACES)]]
    return {verb: _plain(_framedex(index, verb)) for verb in (*VERBS, *traces)}


def _plain(answer: str) -> str:
    """An answer without column padding, the mark of shared captures, and changes of files since the recording."""
    answer = re.sub(r", file changed since| \[(?:file changed since|moved from line \d+)\]", "", answer)
    answer = re.sub(r"(pjrt_traced_table\.cc):\d+", r"\1", answer)  # generated again by a build during the tests
    return "\n".join(" ".join(line.split()).replace(" shared ", " ") for line in answer.splitlines())


def _framedex(index: Path, command: str) -> str:
    result = CliRunner().invoke(cli, ["--index", str(index), *command.split()])
    assert result.exit_code in (0, 1) and not isinstance(result.exception, Exception), (command, result.output)
    return result.stdout


def _done(*arguments: object) -> None:
    result = CliRunner().invoke(cli, list(map(str, arguments)))
    assert result.exit_code == 0, result.output


def _record(program: str, folder: Path) -> Path:
    run_program = run_ffi if program == FFI_PROGRAM else run
    capture = run_program(program, folder=folder, **ENVIRONMENTS.get(program, {})).capture
    _done("--index", folder / "index.db", "index", capture)
    _done("fleet", "add", capture, "--store", folder / "store")
    _done("fleet", "pull", "--store", folder / "store", "-o", folder / "pulled" / "index.db")
    _done("--index", folder / "index.db", "share", "1", "-o", folder / "shared.fdx.zip", "--sources", "none")
    _done("--index", folder / "shared" / "index.db", "import", folder / "shared.fdx.zip")
    return folder


@pytest.mark.exhaustive(keep=["costs/training.py", FFI_PROGRAM])
@pytest.mark.parametrize("program", [pytest.param(program, id=program) for program in (*PROGRAMS, FFI_PROGRAM)])
def test_pulled_and_shared_captures_have_the_answers_of_their_own_index(program: str) -> None:
    folder = made_once(f"equal-answers-{program.replace('/', '-')}", lambda folder: _record(program, folder))

    expected = answers(folder / "index.db")

    assert len(expected) >= len(VERBS) + 1
    for way in ("pulled", "shared"):
        assert answers(folder / way / "index.db") == expected, way
