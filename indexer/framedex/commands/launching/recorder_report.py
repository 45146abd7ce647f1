"""What the recorders of a program tell the launcher: which captures they began, why there is none, and cells that ran.

It is memory of the launcher that they write to by its path below /proc: nothing of it is on a disk that may be full,
and the program has no file more than without it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from framedex.captures import Cell

VARIABLE = "FRAMEDEX_REPORT"
NAME = "framedex-report"
"""What the recorder knows the memory by: a process of another kind may have the launcher's number by then."""


@dataclass(frozen=True, slots=True)
class Told:
    """The folders of the captures that were begun, why others could not be, and the cells that ran, by process."""

    began: tuple[Path, ...] = ()
    failures: tuple[str, ...] = ()
    cells: Mapping[int, Sequence[Cell]] = field(default_factory=dict)


class RecorderReport:
    """Memory for what recorders tell; a context manager. Where the system has none, nothing is told."""

    def __init__(self) -> None:
        try:
            self._file: int | None = os.memfd_create(NAME)
        except OSError:
            self._file = None

    def __enter__(self) -> RecorderReport:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def variables(self) -> dict[str, str]:
        """What the environment of the program says of it."""
        return {} if self._file is None else {VARIABLE: f"/proc/{os.getpid()}/fd/{self._file}"}

    def read(self) -> Told:
        """What was told so far."""
        if self._file is None:
            return Told()
        entries = os.pread(self._file, os.fstat(self._file).st_size, 0).split(b"\0")
        told = [entry.partition(b" ") for entry in entries]
        return Told(
            tuple(Path(os.fsdecode(text)) for what, _, text in told if what == b"began"),
            tuple(text.decode("utf-8", "replace") for what, _, text in told if what == b"failed"),
            _cells(text for what, _, text in told if what == b"cell"),
        )


def _cells(entries: Iterable[bytes]) -> dict[int, list[Cell]]:
    """The cells by process. One that ran again has one entry; a malformed entry has none."""
    found: dict[int, dict[str, Cell]] = {}
    for entry in entries:
        try:
            told = json.loads(entry)
            pid, number = int(told["pid"]), int(told["number"])
            cell = Cell(str(told["file"]), f"In[{number}]", str(told["text"]), str(told["notebook"]))
        except (ValueError, LookupError, TypeError):
            continue
        found.setdefault(pid, {})[cell.recorded] = cell
    return {pid: list(cells.values()) for pid, cells in found.items()}
