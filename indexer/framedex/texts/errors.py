"""Names of error codes, and readable error messages: on one line, and without the outer frames of a long traceback."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import IntEnum

from framedex.base import words

MAX_LINES = 12
"""The number of lines to show of one message among many."""

_TRACEBACK = "Traceback (most recent call last):"
_FRAME = re.compile(r'\s*File "(?P<path>.+)", line (?P<line>\d+)(?:, in (?P<function>.+))?')


def format_message_with_code(code: int, message: str) -> str:
    """The message after the name of its code, which PJRT plug-ins often include already."""
    name = name_error(code)
    if not message:
        return name
    return message if message.startswith(name) else f"{name}: {message}"


def format_headline(message: str) -> str:
    """The first line of a message; for a Python traceback, the exception and its source line."""
    text, place = split_headline(message)
    return f"{text} ({place})" if place else text


def split_headline(message: str) -> tuple[str, str]:
    """The two parts of `format_headline`: the error, and the innermost line of a traceback as `train.py:5 in loss`.

    The second part is empty without a traceback.
    """
    first, *others = message.split("\n")
    frames = [(number, found) for number, line in enumerate(others) if (found := _FRAME.fullmatch(line))]
    if not first.endswith(_TRACEBACK) or not frames:
        return first, ""
    number, frame = frames[-1]
    exception = next((line for line in others[number + 1 :] if line.strip() and not line.startswith(" ")), "")
    function = f" in {frame['function']}" if frame["function"] else ""
    return first.removesuffix(_TRACEBACK) + exception, f"{frame['path']}:{frame['line']}{function}"


def abbreviate_message(message: str, limit: int = MAX_LINES) -> Sequence[str]:
    """At most `limit` lines of a message: the first, and the last ones, which name the exception and its line."""
    lines = message.rstrip("\n").split("\n")
    if len(lines) <= limit:
        return lines
    left_out = len(lines) - limit + 1
    return [lines[0], f"  … {words.count(left_out, 'line')} left out", *lines[1 + left_out :]]


class ErrorCode(IntEnum):
    """PJRT_Error_Code of the PJRT C API, which follows absl::StatusCode."""

    OK = 0
    CANCELLED = 1
    UNKNOWN = 2
    INVALID_ARGUMENT = 3
    DEADLINE_EXCEEDED = 4
    NOT_FOUND = 5
    ALREADY_EXISTS = 6
    PERMISSION_DENIED = 7
    RESOURCE_EXHAUSTED = 8
    FAILED_PRECONDITION = 9
    ABORTED = 10
    OUT_OF_RANGE = 11
    UNIMPLEMENTED = 12
    INTERNAL = 13
    UNAVAILABLE = 14
    DATA_LOSS = 15
    UNAUTHENTICATED = 16


def name_error(code: int) -> str:
    """The name of a code (`RESOURCE_EXHAUSTED`), or its number if PJRT does not define it."""
    try:
        return ErrorCode(code).name
    except ValueError:
        return str(code)
