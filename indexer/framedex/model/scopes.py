"""Of which captures an answer is."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from framedex.model.rows import CaptureRow


class Counted(enum.Enum):
    """Which captures count where several have what is asked for."""

    LATEST = "latest"
    """Those of the latest run that has it; a run is what one `framedex run` recorded."""
    ALL = "all"
    CHOSEN = "chosen"
    """Those that were named."""


@dataclass(frozen=True, slots=True)
class AnswerOf:
    """The captures with calls that an answer is of, oldest first; `among` is how many of them the index has.

    `about_place` says whether a line or a function was asked about, and `has_others` whether other captures have it,
    too. `is_compiled`: no call of these captures passes there, but compiled programs have ops of it. `has_later`: later
    runs tell nothing of what was asked.
    """

    captures: tuple[CaptureRow, ...]
    counted: Counted
    among: int
    about_place: bool = False
    has_others: bool = False
    is_compiled: bool = False
    has_later: bool = False
