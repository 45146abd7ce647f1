"""The captures that an answer covers."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from framedex.model.rows import CaptureRow


class CaptureScope(enum.Enum):
    """The captures that an answer covers if several match a query."""

    LATEST = "latest"
    """The captures of the latest matching run; a run is one `framedex run`."""
    ALL = "all"
    CHOSEN = "chosen"
    """The captures that the user named."""


@dataclass(frozen=True, slots=True)
class AnswerScope:
    """The captures with calls that an answer covers, oldest first; `among` is the number of captures in the index.

    `is_about_location`: the query was about a line or function. `has_others`: other captures match too. `is_compiled`:
    no call of these captures passes there, but compiled programs have ops from it. `has_later`: later runs exist but
    have no match. `on_mock` has the ids of the captures that were recorded on the mock TPU, and `partly_on_mock` those
    of them that also have another plug-in, only for answers about whole runs.
    """

    captures: tuple[CaptureRow, ...]
    counted: CaptureScope
    among: int
    is_about_location: bool = False
    has_others: bool = False
    is_compiled: bool = False
    has_later: bool = False
    on_mock: tuple[int, ...] = ()
    partly_on_mock: tuple[int, ...] = ()
