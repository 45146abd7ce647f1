"""The process and the capture that a user means: a process id, a capture, or the newest recording of this folder."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from framedex.base.errors import FramedexError
from framedex.base.folders import iterate_folders_upwards
from framedex.base.memory_maps import read_maps
from framedex.base.regularfile import host_name
from framedex.captures.folders import capture_folders, find_captures_within, project_captures_folder
from framedex.captures.metadata import read_metadata
from framedex.live.model import ProcessState
from framedex.live.tasks import read_process_state, started_unix_ns
from framedex.model.metadata import Metadata

_CLOCK_TOLERANCE_NS = 2_000_000_000  # the wall clock may be set while a program runs; a kernel tick is 10 ms


@dataclass(frozen=True, slots=True)
class Target:
    """A process, and its capture if it is recorded. `is_here`: the process may be running on this machine."""

    pid: int
    is_here: bool
    started_unix_ns: int | None
    capture: Path | None = None
    metadata: Metadata | None = None


def find_target(named: str | None, folder: Path) -> Target:
    """The target that a user named: a process id, a capture or a folder of captures; by default that of a folder.

    Of several captures the newest one of a living process counts, otherwise the newest one. Raises FramedexError if
    there is none.
    """
    if named is not None and named.isdecimal() and not os.path.lexists(folder / named):
        return find_target_of_process(int(named))
    if named is not None:
        return _newest(find_captures_within(folder / named))
    captures = next(filter(None, map(_find_project_captures, iterate_folders_upwards(str(folder)))), [])
    if not captures:
        raise FramedexError(
            "There is no recording in this folder or in a folder above.",
            "Record a program with `framedex run SCRIPT`, or name a process id or a capture.",
        )
    return _newest(captures)


def _find_project_captures(folder: str) -> list[Path]:
    return capture_folders(project_captures_folder(Path(folder)))


def find_target_of_process(pid: int) -> Target:
    """The target of a process id. Raises FramedexError if there is no such process."""
    if read_process_state(pid) is ProcessState.ENDED:
        raise FramedexError(
            f"There is no process {pid}.", "Name a process of this machine, or the capture of a process that has ended."
        )
    return _find_mapped_capture(pid) or Target(pid, True, started_unix_ns(pid))


def _find_mapped_capture(pid: int) -> Target | None:
    """The target of the newest capture that a process has mapped; None without one, or if its memory is unreadable."""
    with suppress(OSError):
        folders = {Path(each.path).parent for each in read_maps(pid) if _is_stream(each.path)}
        return max(_readable_targets(folders), key=lambda each: each.started_unix_ns or 0, default=None)
    return None


def _is_stream(path: str) -> bool:
    return path.startswith("/") and path.endswith(".fdx")


def _readable_targets(captures: Iterable[Path]) -> Iterator[Target]:
    for capture in captures:
        with suppress(FramedexError):
            yield find_target_of_capture(capture)


def _newest(captures: Sequence[Path]) -> Target:
    latest: Target | None = None
    for target in _readable_targets(reversed(captures)):
        if target.is_here:
            return target
        latest = latest or target
    return latest or find_target_of_capture(captures[-1])


def find_target_of_capture(capture: Path) -> Target:
    """The target of a capture. Raises FramedexError if the folder is not a capture."""
    metadata = read_metadata(capture)
    return Target(metadata.pid or 0, _may_be_running(metadata), metadata.started_unix_ns, capture, metadata)


def _may_be_running(metadata: Metadata) -> bool:
    """Whether the recorded process is running on this machine: a process of its id that is older than the recording."""
    if not metadata.pid or metadata.host != host_name() or read_process_state(metadata.pid) is ProcessState.ENDED:
        return False
    started = started_unix_ns(metadata.pid)
    recorded = metadata.started_unix_ns
    return started is not None and recorded is not None and started <= recorded + _CLOCK_TOLERANCE_NS
