"""What a run of `framedex index` has to tell."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from framedex.errors import FramedexError
from framedex.index.write.totals import Totals


@dataclass(frozen=True, slots=True)
class CaptureReport:
    """A capture that was read: what it held, and what could not be read or named, as sentences.

    `grown`: it was indexed before and is read again because it has grown, `renamed`: because more is known of its
    binaries. `still_written`: it will grow further.
    """

    path: Path
    calls: int
    stacks: int
    problems: tuple[str, ...]
    grown: bool = False
    renamed: bool = False
    still_written: bool = False


@dataclass(frozen=True, slots=True)
class GoneCapture:
    """A capture that was in the index and cannot be read again: the folder where it was, and how many calls it had."""

    path: Path
    calls: int


@dataclass(slots=True)
class TreeReport:
    """What reading the source trees came to: files looked at, read anew and dropped; problems as sentences."""

    files: int = 0
    parsed: int = 0
    removed: int = 0
    definitions: int = 0
    problems: list[str] = field(default_factory=list)

    def tell(self, problems: Iterable[str]) -> None:
        """Add problems, those only that were not told before."""
        self.problems.extend(problem for problem in problems if problem not in self.problems)

    def unreadable(self, folder: str) -> None:
        """Add the problem that a folder cannot be read."""
        self.problems.append(f"The folder {folder} cannot be read; what is in it is left out.")


@dataclass(frozen=True, slots=True)
class Report:
    """What one run did.

    `refused` are captures that could not be read at all, with the reason; `moved` are known captures in new places;
    `gone` are those that a rebuild had to leave out, as their folders are no longer there. `moved_from` is where the
    project was, if it was moved since the index was last opened.
    """

    captures: tuple[CaptureReport, ...]
    refused: tuple[tuple[Path, FramedexError], ...]
    sources: TreeReport
    totals: Totals
    moved: tuple[Path, ...] = ()
    gone: tuple[GoneCapture, ...] = ()
    moved_from: str | None = None
