"""Readable error messages: on one line, and without the outer frames of a long traceback."""

from __future__ import annotations

import re
from collections.abc import Sequence

from framedex.errorcodes import error_name

MOST_LINES = 12
"""Lines to show of a message that is one of many."""

_TRACEBACK = "Traceback (most recent call last):"
_FRAME = re.compile(r'\s*File "(?P<path>.+)", line (?P<line>\d+)(?:, in (?P<function>.+))?')


def full_message(code: int, message: str) -> str:
    """The message after the name of its code, which PJRT plug-ins often include already."""
    name = error_name(code)
    if not message:
        return name
    return message if message.startswith(name) else f"{name}: {message}"


def headline(message: str) -> str:
    """The first line of a message; for a Python traceback, the exception and its source line."""
    text, place = split_headline(message)
    return f"{text} ({place})" if place else text


def split_headline(message: str) -> tuple[str, str]:
    """The two parts of `headline`: the error, and the innermost line of a traceback as `train.py:5 in loss`.

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


def innermost_lines(message: str, most: int = MOST_LINES) -> Sequence[str]:
    """At most `most` lines of a message: the first, and the last ones, which name the exception and its source line."""
    lines = message.rstrip("\n").split("\n")
    if len(lines) <= most:
        return lines
    left_out = len(lines) - most + 1
    return [lines[0], f"  … {left_out:,} lines left out", *lines[1 + left_out :]]
