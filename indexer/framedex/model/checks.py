"""What a capture shows to be wrong."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from framedex.model.rows import CaptureRow, PythonLine


class Severity(StrEnum):
    """How much a finding matters: what the C API forbids, what a program should look into, what is good to know."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that a capture shows to be wrong or remarkable, once for all `count` calls of which it is the same.

    `message` says it in a sentence, `kind` in a word. `call` is the latest of those calls, `earlier_call`
    the one that made it wrong, `line` the Python that led to `call`. `objects` names a few of the objects, `size` is
    their bytes together, None where no call tells.
    """

    kind: str
    severity: Severity
    message: str
    function: str
    count: int
    call: int
    earlier_call: int | None = None
    line: PythonLine | None = None
    objects: tuple[str, ...] = ()
    size: int | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """The findings of a capture, gravest first; `unjudged` says in sentences what could not be looked into and why."""

    capture: CaptureRow
    findings: tuple[Finding, ...]
    unjudged: tuple[str, ...] = ()
