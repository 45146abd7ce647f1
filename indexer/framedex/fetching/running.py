"""Long-running git commands: progress, a timeout for silence, and termination of the whole process group."""

from __future__ import annotations

import os
import re
import selectors
import signal
import subprocess
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from framedex.git import started

PATIENCE = 90.0
"""Timeout for silence of a network command, in seconds. git reports progress every second."""

_PROGRESS = re.compile(r"(?:Receiving|Unpacking|Writing) objects:\s+\d+% \((\d+)/(\d+)\)")
_OF_NO_USE = re.compile(r".*: +\d+% \(|remote: (?:Enumerating|Counting|Compressing|Total)|warning: |hint: ")
_LINES = 6  # the last lines of output to keep

NOT_GIVEN = re.compile(r"not our ref|unadvertised object|(?:find|such) remote ref|does not support shallow")
"""git's messages for objects that a server does not have or does not serve."""

Told = Callable[[int, int], None]
"""A progress callback: number of received objects, and total."""


class GitFailedError(Exception):
    """A failed git command; the text is its output on one line."""


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository created by framedex, the working folder of commands. `held` are descriptors that they keep open."""

    folder: Path
    configuration: Mapping[str, str]
    held: Sequence[int] = ()

    def run(
        self,
        *arguments: str,
        given: bytes = b"",
        read_from: IO[bytes] | None = None,
        into: IO[bytes] | None = None,
        configuration: Mapping[str, str] | None = None,
        protocols: str = "",
        objects: Sequence[Path] = (),
        patience: float | None = None,
        told: Told = lambda _done, _total: None,
    ) -> None:
        """Run a command with `given` or a file as input, and optionally a file as output.

        Raises GitFailedError, also after `patience` seconds of silence. Any exception, such as an interruption,
        terminates the command.
        """
        with _readable(given) as text:
            try:
                command = started(
                    self.folder,
                    *arguments,
                    stdin=read_from or text,
                    stdout=into or subprocess.DEVNULL,
                    overruled={**self.configuration, **(configuration or {})},
                    protocols=protocols,
                    objects=objects,
                    held=self.held,
                )
            except OSError as error:
                raise GitFailedError(str(error)) from error
        try:
            said = _listen(command, patience, told)
        except BaseException:
            _end(command)
            raise
        finally:
            assert command.stderr is not None
            command.stderr.close()
        if command.wait() != 0:
            raise GitFailedError(said or f"git {arguments[0]} ended with status {command.returncode}")


def _readable(given: bytes) -> IO[bytes]:
    """Return a file in memory as the input of a command. A pipe would have to be filled while reading the output."""
    file = os.fdopen(os.memfd_create("given"), "w+b")
    file.write(given)
    file.seek(0)
    return file


def _listen(command: subprocess.Popen[bytes], patience: float | None, told: Told) -> str:  # noqa: TID251
    """Read a command's output until it ends, and return all but the progress, on one line."""
    assert command.stderr is not None
    source = command.stderr.fileno()
    said: deque[str] = deque(maxlen=_LINES)
    rest = b""
    with selectors.DefaultSelector() as ready:  # `select` does not support descriptors above 1,023
        ready.register(source, selectors.EVENT_READ)
        while True:
            if not ready.select(patience):
                raise GitFailedError(f"nothing came for {patience:.0f} s")
            piece = os.read(source, 1 << 16)
            *lines, rest = re.split(rb"[\r\n]", rest + piece)
            for line in [*lines, rest] if not piece else lines:
                text = line.decode(errors="replace").strip()
                if match := _PROGRESS.search(text):
                    told(int(match[1]), int(match[2]))
                elif text and not _OF_NO_USE.match(text):
                    said.append(text)
            if not piece:
                return " ".join(dict.fromkeys(said))


def _end(command: subprocess.Popen[bytes]) -> None:  # noqa: TID251
    """Terminate a command and its whole process group."""
    for number, seconds in ((signal.SIGTERM, 5.0), (signal.SIGKILL, None)):
        try:
            os.killpg(command.pid, number)
            command.wait(seconds)
        except ProcessLookupError:
            command.wait()
        except subprocess.TimeoutExpired:
            continue
        return
