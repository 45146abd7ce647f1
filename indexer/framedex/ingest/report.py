"""The results of one `framedex index`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from framedex.base.errors import FramedexError
from framedex.index.write.records import FrameTotals


@dataclass(frozen=True, slots=True)
class CaptureReport:
    """A capture that was read: its counts, and its reading and naming problems, as sentences.

    `grown`: it was read again because it has grown. `renamed`: it was read again because better names of its binaries
    are available. `still_written`: it will grow further.
    """

    path: Path
    calls: int
    stacks: int
    problems: tuple[str, ...]
    grown: bool = False
    renamed: bool = False
    still_written: bool = False


@dataclass(frozen=True, slots=True)
class UnreadableCapture:
    """An indexed capture that cannot be read again, with its former folder and its number of calls."""

    path: Path
    calls: int


@dataclass(slots=True)
class TreeReport:
    """The result of reading the source trees: files found, parsed and removed; problems as sentences."""

    files: int = 0
    parsed: int = 0
    removed: int = 0
    definitions: int = 0
    problems: list[str] = field(default_factory=list)

    def add_problems(self, problems: Iterable[str]) -> None:
        """Add the problems that are not yet reported."""
        self.problems.extend(problem for problem in problems if problem not in self.problems)

    def add_unreadable_folder(self, folder: str) -> None:
        """Add the problem that a folder cannot be read."""
        self.problems.append(f"The folder {folder} cannot be read; its files are left out.")


@dataclass(frozen=True, slots=True)
class IndexingReport:
    """The results of one run.

    `refused` are captures that could not be read at all, with the reason. `moved` are known captures with new paths.
    `gone` are captures that a rebuild omitted because their folders are missing. `moved_from` is the project's former
    folder, if it was moved since the index was last opened.
    """

    captures: tuple[CaptureReport, ...]
    refused: tuple[tuple[Path, FramedexError], ...]
    sources: TreeReport
    totals: FrameTotals
    moved: tuple[Path, ...] = ()
    gone: tuple[UnreadableCapture, ...] = ()
    moved_from: str | None = None
