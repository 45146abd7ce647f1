"""The report of `framedex run` at the end: recorded calls, missing data with the reason, and the next command."""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from pathlib import Path

from framedex.captures import RecordCounts, captures_below, count_records, read_metadata
from framedex.commands.inputs.files import absolute, working_folder
from framedex.commands.launching.plugins import Plugin
from framedex.commands.launching.recorder_report import Told
from framedex.commands.output.proposals import command
from framedex.errors import FramedexError
from framedex.missing import stopped_early
from framedex.model import Stops
from framedex.plaintext import printable
from framedex.words import count, signal_name


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of a program, and its captures.

    `status` is negative after a signal. `plugin` is the plug-in of the launch. `output` is the folder that the user
    named for captures. `told` is the report of the recorders in its processes.
    """

    status: int
    captures: tuple[Path, ...]
    plugin: Plugin | None = None
    output: Path | None = None
    told: Told = field(default_factory=Told)

    def summary(self) -> str:
        """Return the number of recorded calls and the next command, or the reason for an empty recording.

        Lines about missing calls come first.
        """
        counts = [count_records(capture) for capture in self.captures]
        return "\n".join([*self._missing(counts), self._recorded(counts)])

    def raise_signal(self) -> None:
        """End this process by the signal that ended the program, without a second core file."""
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if -self.status not in (signal.SIGKILL, signal.SIGSTOP):  # these two have no handlers
            signal.signal(-self.status, signal.SIG_DFL)
        os.kill(os.getpid(), -self.status)

    def _recorded(self, counts: Sequence[RecordCounts]) -> str:
        ended = f"the program was ended by {signal_name(-self.status)}; " if self.status < 0 else ""
        if os.environ.get("FRAMEDEX_RECORD") == "0":
            return f"{ended}nothing is recorded (FRAMEDEX_RECORD=0)."
        if not self.captures:
            return f"{ended}nothing was recorded: {self._why_nothing()}"
        calls, threads = sum(each.calls for each in counts), sum(each.threads for each in counts)
        where = printable(_short(self.captures[0]))
        more = f" and {len(self.captures) - 1} more" if len(self.captures) > 1 else ""
        if not calls and (chosen := self._selected_by()):
            return f"{ended}recorded no call in {where}{more}: none fits {' and '.join(chosen)}."
        counted = f"{count(calls, 'call')} on {count(threads, 'thread')}"
        return f"{ended}recorded {counted} in {where}{more}. Next: {self._next()}"

    def _missing(self, counts: Iterable[RecordCounts]) -> Iterator[str]:
        stops = reduce(or_, (each.stops for each in counts), Stops())
        if stops:
            yield f"NOT ALL CALLS ARE RECORDED. {stopped_early(stops)}"
        if self.captures and self.told.failures:
            failed = len(self.told.failures)
            processes = "one of its processes" if failed == 1 else f"{failed} of its processes"
            yield f"NOT ALL CALLS ARE RECORDED. Nothing of {processes}: {printable(self.told.failures[0])}"
        if self.captures and (gone := self._gone()):
            yield f"NOT ALL CALLS ARE RECORDED. {_removed(gone)}"

    def _selected_by(self) -> list[str]:
        """The options that selected the calls to record, such as `--include`."""
        variables = {name for capture in self.captures for name in read_metadata(capture).selected_by}
        return sorted(name.replace("FRAMEDEX_", "--").lower() for name in variables)

    def _why_nothing(self) -> str:
        if self.told.failures:
            return printable(self.told.failures[0])
        if gone := self._gone():
            return _removed(gone)
        if self.plugin:
            return f"the program never loaded {printable(os.fspath(self.plugin.path))}, or ended before that."
        platforms = os.environ.get("JAX_PLATFORMS", "")
        if platforms and "tpu" not in platforms.split(","):
            chosen = printable(platforms)
            return f"JAX_PLATFORMS={chosen} keeps JAX off the TPU. Unset it, or use JAX_PLATFORMS=tpu,cpu."
        return "the program never opened JAX's TPU (jax.devices() or jax.device_put does), or ended before that."

    def _gone(self) -> list[Path]:
        """The captures that were started and have disappeared."""
        return [folder for folder in self.told.began if not os.path.lexists(folder)]

    def _next(self) -> str:
        """The command that indexes the captures, as the user types it."""
        with suppress(FramedexError):
            if self.output is None or absolute(self.output) == captures_below(working_folder()):
                return command("index")
        assert self.output is not None
        folder = os.fspath(self.output)
        return command("index", f"./{folder}" if folder.startswith("-") else folder)


def _removed(folders: list[Path]) -> str:
    more = f" and {len(folders) - 1} more" if len(folders) > 1 else ""
    return f"The capture {printable(_short(folders[0]))}{more} was removed while the program ran. Run it again."


def _short(path: Path) -> str:
    """The path relative to the working folder if it is below it, otherwise the whole path."""
    with suppress(FramedexError):
        here = working_folder()
        return os.fspath(path.relative_to(here) if path.is_relative_to(here) else path)
    return os.fspath(path)
