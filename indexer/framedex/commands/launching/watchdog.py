"""Watch a recorded program: report a hang once, run the user's command, and optionally end the program.

A thread polls all recorded processes of the run. It reports when none of them has made progress (`live.stalls`) for the
chosen time: `framedex hang`'s answer on each goes to stderr and into its capture.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from framedex.base import words
from framedex.base.errors import FramedexError
from framedex.captures.hang_reports import write_hang_report
from framedex.commands.output.render_live import render_diagnosis_lines
from framedex.commands.output.terminal import Terminal, paint
from framedex.live.stalls import StallWatch
from framedex.live.targets import find_target_of_capture, find_target_of_process

if TYPE_CHECKING:
    from framedex.commands.launching.options import HangPolicy
    from framedex.live.diagnosis import Diagnosis

_NS_PER_S = 1_000_000_000
_POLLS = 10  # polls in the time of --hang-after
_MAX_INTERVAL_S = 5.0
_GRACE_S = 10.0  # seconds between SIGTERM and SIGKILL
_PLAIN = Terminal(colors=False, links=False)


@contextmanager
def watch_for_hang(policy: HangPolicy, pid: int, started_captures: Callable[[], Sequence[Path]]) -> Iterator[None]:
    """Watch the launched process `pid` and the processes of the captures that have been started, during the block."""
    watchdog = _Watchdog(policy, pid, started_captures)
    watchdog.start()
    try:
        yield
    finally:
        watchdog.stop()


class _Watchdog(threading.Thread):
    def __init__(self, policy: HangPolicy, pid: int, started_captures: Callable[[], Sequence[Path]]) -> None:
        super().__init__(name="hang watchdog", daemon=True)
        self._policy, self._pid, self._started_captures = policy, pid, started_captures
        self._end = threading.Event()
        self._recorded: dict[Path, StallWatch] = {}
        self._launched: StallWatch | None = None

    def stop(self) -> None:
        """Stop watching. A report in progress is completed, and the user's command continues independently."""
        self._end.set()

    def run(self) -> None:
        """Poll until a hang was reported, or the program has ended."""
        interval_s = min(self._policy.after_ns / _NS_PER_S / _POLLS, _MAX_INTERVAL_S)
        while not self._end.wait(interval_s):
            if stalls := self._find_stalls():
                self._report_hang(stalls)
                return

    def _find_stalls(self) -> dict[StallWatch, Diagnosis]:
        """The diagnosis of each watched process if all stall, otherwise empty."""
        found = {watch: watch.poll() for watch in self._stall_watches()}
        stalls = {watch: diagnosis for watch, diagnosis in found.items() if diagnosis is not None}
        return stalls if len(stalls) == len(found) else {}

    def _stall_watches(self) -> list[StallWatch]:
        """The recorded processes that are alive, or the launched process if none is recorded yet."""
        for capture in self._started_captures():
            if capture not in self._recorded:
                with suppress(FramedexError):
                    self._recorded[capture] = StallWatch(find_target_of_capture(capture), self._policy.after_ns)
        if not self._recorded and self._launched is None:
            with suppress(FramedexError):
                self._launched = StallWatch(find_target_of_process(self._pid), self._policy.after_ns)
        watches = list(self._recorded.values()) or [each for each in (self._launched,) if each is not None]
        return [each for each in watches if not each.has_ended]

    def _report_hang(self, stalls: Mapping[StallWatch, Diagnosis]) -> None:
        texts = []
        for watch, diagnosis in stalls.items():
            assert watch.snapshot is not None
            text = "".join(f"{paint(line, _PLAIN)}\n" for line in render_diagnosis_lines(diagnosis, watch.snapshot))
            texts.append(text)
            if watch.target.capture is not None:
                with suppress(OSError):  # the disk is full; stderr has the report
                    write_hang_report(watch.target.capture, text)
        after = words.format_duration(self._policy.after_ns)
        answer = "\n".join(texts)
        with suppress(OSError):  # stderr is closed
            click.echo(f"framedex: no progress for {after}.\n{answer}", err=True, nl=False)
        pids = [watch.target.pid for watch in stalls]
        self._run_command(answer, pids, [watch.target.capture for watch in stalls if watch.target.capture is not None])
        if self._policy.ends_program:
            self._end_program(stalls)

    def _run_command(self, answer: str, pids: Sequence[int], captures: Sequence[Path]) -> None:
        """Run the user's command with the answer as its input, and wait for its end."""
        if not self._policy.command:
            return
        environment = os.environ | {
            "FRAMEDEX_HANG_PIDS": " ".join(map(str, pids)),
            "FRAMEDEX_HANG_CAPTURES": os.pathsep.join(map(os.fspath, captures)),
        }
        with suppress(OSError):
            subprocess.run(  # noqa: TID251 - a command line of the user for the user's own shell
                self._policy.command,
                shell=True,
                env=environment,
                input=answer,
                encoding="utf-8",
                errors="replace",
                check=False,
            )

    def _end_program(self, stalls: Iterable[StallWatch]) -> None:
        """Terminate the processes; kill those that have not ended after a while."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            living = [watch.target.pid for watch in stalls if _is_alive(watch)]
            for pid in dict.fromkeys([*living, self._pid]):
                with suppress(ProcessLookupError):
                    os.kill(pid, number)
            if self._end.wait(_GRACE_S):
                return


def _is_alive(watch: StallWatch) -> bool:
    """Whether the watched process still exists; its id may belong to another process by now."""
    if watch.target.capture is None:
        return True
    with suppress(FramedexError):
        return find_target_of_capture(watch.target.capture).is_here
    return False
