"""What the recorders of a program tell the launcher: which captures they began, and why there is none.

It is memory of the launcher that they write to by its path below /proc: nothing of it is on a disk that may be full,
and the program has no file more than without it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

VARIABLE = "FRAMEDEX_REPORT"
NAME = "framedex-report"
"""What the recorder knows the memory by: a process of another kind may have the launcher's number by then."""


@dataclass(frozen=True, slots=True)
class Told:
    """The folders of the captures that were begun, and why others could not be."""

    began: tuple[Path, ...] = ()
    failures: tuple[str, ...] = ()


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
        )
