"""The model of budgets and their verdicts."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

from framedex.budgets.patterns import Pattern

if TYPE_CHECKING:
    from framedex.model import Compiles, DeviceMemory, Transfers

    Row = Compiles | Transfers | DeviceMemory


class Subject(enum.Enum):
    """The limited quantity."""

    COMPILES = "compiles"
    IMPLICIT_TRANSFERS = "implicit-transfers"
    MEMORY = "memory"


@dataclass(frozen=True, slots=True)
class Budget:
    """An upper limit `most` of compilations, implicit transfers, or bytes per device, for the pattern's matches.

    `text` is the budget as the user wrote it.
    """

    subject: Subject
    most: int
    pattern: Pattern
    text: str


@dataclass(frozen=True, slots=True)
class Broken:
    """An exceeded budget: the amount (compilations, transfers, bytes), and its rows.

    The rows are of one type, largest first.
    """

    found: int
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of a budget for a recording.

    `fits` is the number of lines, functions or devices that match its pattern. `most` is the largest amount of a match
    that no later budget covers. `broken` are the exceeding amounts, largest first. `problem` is a sentence about a
    missing judgement, `doubt` one about data that the figures lack.
    """

    budget: Budget
    fits: int
    most: int
    broken: tuple[Broken, ...]
    problem: str = ""
    doubt: str = ""

    @property
    def is_kept(self) -> bool:
        """Whether the recording keeps to the budget, according to the recorded data."""
        return not self.broken and not self.problem
