"""Findings of `framedex check`: errors, leaks and misuse in a capture."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from framedex.model.rows import CaptureRow, PythonLine


class Severity(StrEnum):
    """The importance of a finding: a violation of the C API, a likely problem of the program, or information."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Finding:
    """An error or remarkable fact in a capture, reported once for all `count` calls that show it.

    `message` is a sentence, `kind` a word. `call` is the latest of those calls, `earlier_call` the call that caused the
    error. `line` and `earlier_line` are the Python lines that led to them. `objects` names a few of the objects; `size`
    is their total in bytes, None if no call reports it. `broken_by` is the side of the C API that broke the rule `kind`
    (see `framedex.plugins.validation`); None if the kind is not a rule. `plugin` is the name of the plug-in, if the
    capture has several.
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
    earlier_line: PythonLine | None = None
    broken_by: str | None = None
    plugin: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """The findings of a capture, most severe first; `unjudged` lists the skipped checks and reasons, as sentences."""

    capture: CaptureRow
    findings: tuple[Finding, ...]
    unjudged: tuple[str, ...] = ()
