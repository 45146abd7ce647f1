"""Programs that print lines and wait for an answer to each, so that tests can inspect the recording meanwhile."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from framedex.captures import capture_folders
from tests.running import PROGRAMS, mock_environment


class Conversation:
    """A recorded, running program of `tests/programs`."""

    def __init__(self, program: str, *arguments: str, folder: Path, **environment: str) -> None:
        self._folder = folder
        self._process = subprocess.Popen(
            [sys.executable, str(PROGRAMS / program), *arguments],
            cwd=folder,
            env=mock_environment(folder) | environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def listen(self) -> list[str]:
        """The words of the next line."""
        assert self._process.stdout is not None
        return self._process.stdout.readline().split()

    def answer(self, line: str = "") -> None:
        """Send a line."""
        assert self._process.stdin is not None
        print(line, file=self._process.stdin, flush=True)

    @property
    def capture(self) -> Path:
        """The only capture."""
        (capture,) = capture_folders(self._folder / "captures")
        return capture

    def kill(self) -> None:
        """Kill the program."""
        self._process.kill()
        self._process.communicate()


@contextmanager
def conversation(program: str, *arguments: str, folder: Path, **environment: str) -> Iterator[Conversation]:
    """The program, which is killed at the end of the block."""
    started = Conversation(program, *arguments, folder=folder, **environment)
    try:
        yield started
    finally:
        started.kill()
