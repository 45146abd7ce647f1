"""What a run of `framedex index` has to tell."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from framedex.errors import FramedexError
from framedex.index.totals import Totals


@dataclass(frozen=True, slots=True)
class CaptureReport:
    """A capture that was read: what it held, and what could not be read or named, as sentences."""

    path: Path
    calls: int
    stacks: int
    problems: tuple[str, ...]


@dataclass(slots=True)
class TreeReport:
    """What reading the source trees came to: files looked at, read anew and dropped; problems as sentences."""

    files: int = 0
    parsed: int = 0
    removed: int = 0
    definitions: int = 0
    problems: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Report:
    """What one run did. `refused` are captures that could not be read at all, with the reason."""

    captures: tuple[CaptureReport, ...]
    refused: tuple[tuple[Path, FramedexError], ...]
    sources: TreeReport
    totals: Totals
