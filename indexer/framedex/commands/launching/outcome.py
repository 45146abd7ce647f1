"""The final report of `framedex run`: recorded calls, missing data with the reason, and the next command.

Recorders write their events to a memory file of the launcher, by its path below /proc. So events survive a full disk,
and the program has no additional open file.
"""

from __future__ import annotations

import json
import os
import resource
import signal
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from pathlib import Path

from framedex.base.errors import FramedexError
from framedex.base.plaintext import make_printable
from framedex.base.words import count, signal_name
from framedex.captures import Cell, RecordCounts, count_records, project_captures_folder, read_metadata
from framedex.commands.inputs.files import to_absolute_path, working_folder
from framedex.commands.launching.runtimes import Plugin
from framedex.commands.output.proposals import format_command
from framedex.model import StopReasons
from framedex.texts.captures import format_early_stop

_REPORT_VARIABLE = "FRAMEDEX_REPORT"
_INNER_RUN = b"inner-run"
REPORT_NAME = "framedex-report"
"""The name by which the recorder recognises the memory file: another process may have reused the launcher's pid."""


@dataclass(frozen=True, slots=True)
class RecorderEvents:
    """The folders of started captures, reasons for failed ones, and the cells that ran, by process id.

    `has_inner_run`: the program started another `framedex run`, which reports its own recording.
    """

    started: tuple[Path, ...] = ()
    failures: tuple[str, ...] = ()
    cells: Mapping[int, Sequence[Cell]] = field(default_factory=dict)
    has_inner_run: bool = False


class RecorderEventFile:
    """A memory file for the events of recorders, as a context manager. Without memfd support there are no events."""

    def __init__(self) -> None:
        _report_to_outer_run()
        try:
            self._file: int | None = os.memfd_create(REPORT_NAME)
        except OSError:
            self._file = None

    def __enter__(self) -> RecorderEventFile:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def variables(self) -> dict[str, str]:
        """The environment variables that pass the memory file to the program."""
        return {} if self._file is None else {_REPORT_VARIABLE: f"/proc/{os.getpid()}/fd/{self._file}"}

    def read(self) -> RecorderEvents:
        """Return the events so far."""
        if self._file is None:
            return RecorderEvents()
        entries = os.pread(self._file, os.fstat(self._file).st_size, 0).split(b"\0")
        events = [entry.partition(b" ") for entry in entries]
        return RecorderEvents(
            tuple(Path(os.fsdecode(text)) for kind, _, text in events if kind == b"began"),
            tuple(text.decode("utf-8", "replace") for kind, _, text in events if kind == b"failed"),
            _parse_cells(text for kind, _, text in events if kind == b"cell"),
            any(kind == _INNER_RUN for kind, _, _ in events),
        )


def _report_to_outer_run() -> None:
    """Report this run to the `framedex run` whose program started it, if any."""
    path = os.environ.get(_REPORT_VARIABLE)
    with suppress(OSError):
        if path and str(Path(path).readlink()).startswith(f"/memfd:{REPORT_NAME}"):
            file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
            try:
                os.write(file, _INNER_RUN + b" \0")
            finally:
                os.close(file)


def _parse_cells(entries: Iterable[bytes]) -> dict[int, list[Cell]]:
    """The cells by process id. A repeated cell has one entry; malformed entries are skipped."""
    cells_by_pid: dict[int, dict[str, Cell]] = {}
    for entry in entries:
        try:
            fields = json.loads(entry)
            pid, number = int(fields["pid"]), int(fields["number"])
            cell = Cell(str(fields["file"]), f"In[{number}]", str(fields["text"]), str(fields["notebook"]))
        except (ValueError, LookupError, TypeError):
            continue
        cells_by_pid.setdefault(pid, {})[cell.recorded_name] = cell
    return {pid: list(cells.values()) for pid, cells in cells_by_pid.items()}


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of a program, and its captures.

    `status` is negative after a signal. `plugin` is the recorded plug-in. `output` is the folder that the user named
    for captures. `events` are those of the recorders in its processes.
    """

    status: int
    captures: tuple[Path, ...]
    plugin: Plugin | None = None
    output: Path | None = None
    events: RecorderEvents = field(default_factory=RecorderEvents)

    def summary(self) -> str:
        """Return the number of recorded calls and the next command, or the reason for an empty recording.

        Lines about missing calls come first.
        """
        counts = [count_records(capture) for capture in self.captures]
        return "\n".join([*self._render_missing_data_lines(counts), self._recorded_calls_line(counts)])

    def raise_signal(self) -> None:
        """End this process with the signal that ended the program, without a second core file."""
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if -self.status not in (signal.SIGKILL, signal.SIGSTOP):  # these two signals cannot have handlers
            signal.signal(-self.status, signal.SIG_DFL)
        os.kill(os.getpid(), -self.status)

    def _recorded_calls_line(self, counts: Sequence[RecordCounts]) -> str:
        ended = f"the program was ended by {signal_name(-self.status)}; " if self.status < 0 else ""
        if os.environ.get("FRAMEDEX_RECORD") == "0":
            return f"{ended}nothing is recorded (FRAMEDEX_RECORD=0)."
        if not self.captures and self.events.has_inner_run and not self.events.failures:
            return f"{ended}the run inside the program reports the recording."
        if not self.captures:
            return f"{ended}nothing was recorded: {self.empty_reason()}"
        calls, threads = sum(each.calls for each in counts), sum(each.threads for each in counts)
        where = make_printable(_shorten_path(self.captures[0]))
        more = f" and {len(self.captures) - 1} more" if len(self.captures) > 1 else ""
        if not calls and (chosen := self._format_selection_options()):
            return f"{ended}recorded no calls in {where}{more}: none matches {' and '.join(chosen)}."
        counted = f"{count(calls, 'call')} on {count(threads, 'thread')}"
        return f"{ended}recorded {counted} in {where}{more}. Next: {self._next_command()}"

    def _render_missing_data_lines(self, counts: Iterable[RecordCounts]) -> Iterator[str]:
        stops = reduce(or_, (each.stops for each in counts), StopReasons())
        if stops:
            yield f"NOT ALL CALLS ARE RECORDED. {format_early_stop(stops)}"
        if self.captures and self.events.failures:
            failed = len(self.events.failures)
            processes = "one of its processes" if failed == 1 else f"{failed} of its processes"
            yield (
                f"NOT ALL CALLS ARE RECORDED. Recording failed in {processes}: "
                f"{make_printable(self.events.failures[0])}"
            )
        if self.captures and (gone := self._removed_captures()):
            yield f"NOT ALL CALLS ARE RECORDED. {_format_removed(gone)}"

    def _format_selection_options(self) -> list[str]:
        """The options that selected the calls to record, such as `--include`."""
        variables = {name for capture in self.captures for name in read_metadata(capture).selected_by}
        return sorted(name.replace("FRAMEDEX_", "--").lower() for name in variables)

    def empty_reason(self) -> str:
        """Return the reason why there are no captures, and the remedy."""
        if self.events.failures:
            return make_printable(self.events.failures[0])
        if gone := self._removed_captures():
            return _format_removed(gone)
        if self.plugin:
            return f"the program never loaded {make_printable(os.fspath(self.plugin.path))}, or ended before that."
        platforms = os.environ.get("JAX_PLATFORMS", "")
        if platforms and "tpu" not in platforms.split(","):
            chosen = make_printable(platforms)
            return f"JAX_PLATFORMS={chosen} keeps JAX off the TPU. Unset it, or use JAX_PLATFORMS=tpu,cpu."
        return "the program never opened JAX's TPU (jax.devices() or jax.device_put does), or ended before that."

    def _removed_captures(self) -> list[Path]:
        """The captures that were started and no longer exist."""
        return [folder for folder in self.events.started if not os.path.lexists(folder)]

    def _next_command(self) -> str:
        """The command that indexes the captures, as the user types it."""
        with suppress(FramedexError):
            if self.output is None or to_absolute_path(self.output) == project_captures_folder(working_folder()):
                return format_command("index")
        assert self.output is not None
        folder = os.fspath(self.output)
        return format_command("index", f"./{folder}" if folder.startswith("-") else folder)


def _format_removed(folders: list[Path]) -> str:
    more = f" and {len(folders) - 1} more" if len(folders) > 1 else ""
    capture = make_printable(_shorten_path(folders[0]))
    return f"The capture {capture}{more} was removed while the program ran. Run the program again."


def _shorten_path(path: Path) -> str:
    """The path relative to the working folder if it is below it, otherwise the whole path."""
    with suppress(FramedexError):
        here = working_folder()
        return os.fspath(path.relative_to(here) if path.is_relative_to(here) else path)
    return os.fspath(path)
