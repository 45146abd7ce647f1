"""The captures that an answer covers, as text for verbs and editors.

Examples:

    Capture 7 of train.py, 2026-11-23 07:12:01
    Capture 7 of train.py, 2026-11-23 07:12:01 (the latest of 3; --capture all for all of them)
    Capture 5 of train.py, 2026-11-23 07:12:01 (the latest of 7 that has any of this; --capture all for all of them)
    Captures 7 to 10 of train.py, 2026-11-23 07:12:01 (one run, the latest with calls here; --capture all for all)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from framedex import words
from framedex.model.scopes import Counted
from framedex.plaintext import printable

if TYPE_CHECKING:
    from framedex.model import AnswerOf, CaptureRow

OPTION = "--capture all for all of them"


def answer_heading(answer: AnswerOf, remedy: str = OPTION, quoted: Callable[[str], str] = str) -> str:
    """The first line of an answer: its captures, and whether others are excluded, with the remedy that includes them.

    `quoted` formats the program's name.
    """
    which = _which(answer, remedy)
    return _named(answer.captures, quoted) + (f" ({which})" if which else "")


def _named(captures: Sequence[CaptureRow], quoted: Callable[[str], str]) -> str:
    if not captures:
        return "No capture with calls"
    commands = dict.fromkeys(words.command_short(printable(capture.command)) for capture in captures)
    program = quoted(next(iter(commands))) if len(commands) == 1 else words.count(len(commands), "program")
    noun = "Capture" if len(captures) == 1 else "Captures"
    return f"{noun} {_ids(captures)} of {program}, {words.clock(captures[0].started)}"


def _which(answer: AnswerOf, remedy: str) -> str:
    count = len(answer.captures)
    if answer.counted is Counted.ALL and count > 1:
        return f"all {count}"
    if answer.counted is not Counted.LATEST or count >= answer.among:
        return ""
    run = "one run, " if count > 1 else ""
    if not answer.about_place:
        having = " that has any of this" if answer.has_later else ""
        return f"{run}the latest of {answer.among}{having}; {remedy}"
    having = "that has it" if answer.is_compiled else "with calls here"
    if answer.has_others:
        return f"{run}the latest {having}; {remedy}"
    return f"{run}of {answer.among} the only one {having}"


def _ids(captures: Sequence[CaptureRow]) -> str:
    ids = sorted(capture.id for capture in captures)
    if len(ids) > 2 and ids[-1] - ids[0] == len(ids) - 1:
        return f"{ids[0]} to {ids[-1]}"
    *others, last = map(str, ids)
    return f"{', '.join(others)} and {last}" if others else last
