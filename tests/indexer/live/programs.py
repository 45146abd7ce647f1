"""Programs of `tests/programs/hangs` and `tests/programs/slow`, started under `framedex run` and left alone."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from click.testing import CliRunner

from framedex.base.errors import FramedexError
from framedex.commands.main import cli
from framedex.live.model import Activity, LiveThread, ProcessSnapshot
from framedex.live.snapshot import take_snapshot
from framedex.live.targets import Target, find_target
from framedex.live.waits import python_frames
from tests.running import PROGRAMS, TIMEOUT, plain_environment

FRAMEDEX = [sys.executable, "-c", "from framedex.commands.main import cli; cli(prog_name='framedex')"]
_POLL_S = 0.02
Found = TypeVar("Found")
_STABLE_SNAPSHOTS = 5  # a thread that compiles also sleeps for moments
_WAITING = ("blocks", "waits", "sleeps", "polls")  # comments of lines whose thread does not run
_ASLEEP = {Activity.FUTEX, Activity.SLEEP, Activity.INPUT}


@dataclass(frozen=True)
class LiveProgram:
    """A running program: its file, and how to find its process."""

    file: Path
    folder: Path
    target: Target

    def line(self, comment: str) -> int:
        """The number of the line that ends with `# COMMENT`."""
        lines = self.file.read_text().splitlines()
        (number,) = (number for number, line in enumerate(lines, 1) if line.endswith(f"# {comment}"))
        return number

    def wait_at(self, *comments: str, holds: Callable[[ProcessSnapshot], bool] = lambda _: True) -> ProcessSnapshot:
        """Wait until a thread is at each of these lines; asleep and without new calls for a while, if all say so."""
        wanted = {self.line(comment): comment.endswith(_WAITING) for comment in comments}
        calls: int | None = -1
        snapshots = 0

        def is_there(snapshot: ProcessSnapshot) -> bool:
            nonlocal calls, snapshots
            found = {number: thread for thread in snapshot.threads if (number := self._line_of(thread)) in wanted}
            asleep = {number for number, thread in found.items() if thread.task and thread.task.activity in _ASLEEP}
            is_quiet = snapshot.calls == calls or not all(wanted.values())
            calls = snapshot.calls
            is_so = found.keys() == wanted.keys() and all(wanted[each] <= (each in asleep) for each in found)
            snapshots = snapshots + 1 if is_so and is_quiet else 0
            return snapshots >= (_STABLE_SNAPSHOTS if all(wanted.values()) else 1)

        return wait_for(lambda: take_snapshot(self.target), lambda snapshot: is_there(snapshot) and holds(snapshot))

    def _line_of(self, thread: LiveThread) -> int | None:
        """The line of this program's file where a thread is."""
        frames = (frame for frame in python_frames(thread) if frame.file == str(self.file))
        return next((frame.line for frame in frames), None)

    def ask(self, *arguments: str) -> str:
        """The output of the command line."""
        done = CliRunner().invoke(cli, [arguments[0], str(self.target.pid), *arguments[1:]], catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return done.stdout


@contextmanager
def started_process(*command: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A process and the first line of its output; it is killed at the end."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process, process.stdout.readline()
        finally:
            process.kill()


def wait_for(snapshot: Callable[[], Found], holds: Callable[[Found], bool]) -> Found:
    """Poll until the condition holds. Raises AssertionError with the last result if it never does."""
    end = time.monotonic() + TIMEOUT
    while not holds(found := snapshot()):
        assert time.monotonic() < end, found
        time.sleep(_POLL_S)
    return found


@contextmanager
def started(
    program: str, *arguments: str, folder: Path, options: tuple[str, ...] = (), **environment: str
) -> Iterator[LiveProgram]:
    """Run a program under `framedex run` in `folder`; kill it at the end."""
    file = PROGRAMS / program
    with (folder / "output.txt").open("w") as output:
        run = subprocess.Popen(
            [*FRAMEDEX, "run", *options, str(file), *arguments],
            cwd=folder,
            env=plain_environment() | environment,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        yield LiveProgram(file, folder, _find(folder, run))
    finally:
        for pid in _find_descendants(run.pid):
            os.kill(pid, signal.SIGKILL)
        run.wait(TIMEOUT)


def _find(folder: Path, run: subprocess.Popen[bytes]) -> Target:
    """The recorded process, once its capture exists."""
    end = time.monotonic() + TIMEOUT
    while time.monotonic() < end:
        try:
            return find_target(None, folder)
        except FramedexError:
            assert run.poll() is None, (folder / "output.txt").read_text()
            time.sleep(_POLL_S)
    raise AssertionError((folder / "output.txt").read_text())


def _find_descendants(pid: int) -> list[int]:
    """The child processes of a process, and their own."""
    lists = [task.read_text() for task in Path(f"/proc/{pid}/task").glob("*/children")]
    children = [int(number) for text in lists for number in re.findall(r"\d+", text)]
    return children + [each for child in children for each in _find_descendants(child)]
