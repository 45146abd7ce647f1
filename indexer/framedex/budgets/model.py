"""What a budget is, and what is told of one."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

from framedex.budgets.patterns import Pattern

if TYPE_CHECKING:
    from framedex.model import Compiles, DeviceMemory, Transfers

    Row = Compiles | Transfers | DeviceMemory


class Subject(enum.Enum):
    """What is limited."""

    COMPILES = "compiles"
    IMPLICIT_TRANSFERS = "implicit-transfers"
    MEMORY = "memory"


@dataclass(frozen=True, slots=True)
class Budget:
    """At most `most` compilations, implicit transfers, or bytes of a device, of what the pattern fits.

    `text` is how its user wrote it.
    """

    subject: Subject
    most: int
    pattern: Pattern
    text: str


@dataclass(frozen=True, slots=True)
class Broken:
    """Something that is over a budget: what was found (compilations, transfers, bytes), and the rows that it is of.

    The rows are of one kind, those of most first.
    """

    found: int
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a recording says of a budget.

    `fits` is how many lines, functions or devices its pattern fits, `most` the most that was found of one that no later
    budget is about. `broken` are those over it, most first. `problem` says in a sentence why nothing is judged,
    `doubt` what is not in the figures.
    """

    budget: Budget
    fits: int
    most: int
    broken: tuple[Broken, ...]
    problem: str = ""
    doubt: str = ""

    @property
    def is_kept(self) -> bool:
        """Whether the recording keeps to the budget, as far as it tells."""
        return not self.broken and not self.problem
