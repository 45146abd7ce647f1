"""Run `framedex run` as a user does, and programs without it for comparison."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.running import PROGRAMS, TIMEOUT, plain_environment

FRAMEDEX = str(Path(sys.executable).with_name("framedex"))
# Non-ASCII text, for programs that read their environment.
ENVIRONMENT = {"LANG_OF_THE_TEST": "größe", "PYTHONPATH": str(PROGRAMS)}


@dataclass(frozen=True)
class Ended:
    """A finished program."""

    status: int
    stdout: bytes
    stderr: bytes

    @property
    def said(self) -> list[str]:
        """The lines that framedex itself printed."""
        return [line for line in self.stderr.decode().splitlines() if line.startswith("framedex: ")]

    @property
    def of_the_program(self) -> tuple[int, bytes, bytes]:
        """Status, stdout and stderr without framedex's lines: must be the same as without framedex."""
        lines = self.stderr.splitlines(keepends=True)
        return self.status, self.stdout, b"".join(line for line in lines if not line.startswith(b"framedex: "))

    @property
    def capture(self) -> Path:
        """The capture in framedex's message, as printed."""
        match = re.search(
            r"recorded [\d,]+ calls on [\d,]+ threads? in (\S+)\. Next: \S*framedex index( \S+)?$", self.said[-1]
        )
        assert match, self.said
        return Path(match[1])


def framedex_run(*arguments: str, folder: Path, stdin: bytes = b"", **environment: str) -> Ended:
    """`framedex run ARGUMENTS...` in `folder`."""
    return _run([FRAMEDEX, "run", *arguments], folder, stdin, environment)


def plain_run(*arguments: str, folder: Path, stdin: bytes = b"") -> Ended:
    """`python ARGUMENTS...` in `folder`, with JAX on the CPU."""
    return _run([sys.executable, *arguments], folder, stdin, {"JAX_PLATFORMS": "cpu"})


def program(name: str) -> str:
    """The path of a program of `tests/programs`."""
    return str(PROGRAMS / name)


def environment(**more: str) -> dict[str, str]:
    """The environment of every run here."""
    return plain_environment() | ENVIRONMENT | more


def _run(command: list[str], folder: Path, stdin: bytes, more: dict[str, str]) -> Ended:
    done = subprocess.run(
        command, cwd=folder, env=environment(**more), input=stdin, capture_output=True, timeout=TIMEOUT
    )
    return Ended(done.returncode, done.stdout, done.stderr)
