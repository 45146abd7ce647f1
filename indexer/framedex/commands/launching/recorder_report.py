"""Reports from the recorders of a program to its launcher: started captures, failures, and cells that ran.

The recorders write to memory of the launcher by its path below /proc. So a full disk does not matter, and the program
has no additional open file.
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
"""The name by which the recorder recognises the memory: another process may have taken the launcher's pid."""


@dataclass(frozen=True, slots=True)
class Told:
    """The folders of started captures, reasons for failed ones, and the cells that ran, by process id."""

    began: tuple[Path, ...] = ()
    failures: tuple[str, ...] = ()
    cells: Mapping[int, Sequence[Cell]] = field(default_factory=dict)


class RecorderReport:
    """Memory for the reports of recorders, as a context manager. Without memfd support there are no reports."""

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
        """The variables that pass the memory to the program."""
        return {} if self._file is None else {VARIABLE: f"/proc/{os.getpid()}/fd/{self._file}"}

    def read(self) -> Told:
        """Return the reports so far."""
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
    """The cells by process id. A repeated cell has one entry; malformed entries are skipped."""
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
