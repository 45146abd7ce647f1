"""Build frames from regular expressions whose groups are named after the kinds of parts."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from operator import attrgetter

from framedex.model import Language
from framedex.patterns import compiled_on_use
from framedex.text_stacks.model import Format, Part, PartKind, Place, TextFrame


def parts(number: int, match: re.Match[str], shift: int = 0) -> tuple[Part, ...]:
    """Return the named groups of a match as parts, from left to right; columns are moved right by `shift`."""
    found = []
    for kind, group in _groups(match.re):
        start, end = match.span(group)
        if start < end:
            found.append(Part(kind, number, start + shift, end + shift))
    return tuple(sorted(found, key=_start_of)) if len(found) > 1 else tuple(found)


_start_of = attrgetter("start")


@cache
def _groups(pattern: re.Pattern[str]) -> tuple[tuple[PartKind, int], ...]:
    """Return the kinds of parts that an expression has groups for, with the group numbers."""
    return tuple((kind, pattern.groupindex[kind.value]) for kind in PartKind if kind.value in pattern.groupindex)


def place(path: str | None, line: str | None, column: str | None = None, function: str = "") -> Place | None:
    """Return a location from its texts; None if the path or the line is missing."""
    if not path or not line or not int(line):
        return None
    return Place(path, int(line), int(column or 0), function)


def bounds(line: str) -> tuple[int, int]:
    """Return the columns of a line's text without surrounding blanks."""
    return len(line) - len(line.lstrip()), len(line.rstrip())


_ENDS = {"<": ">", "(": ")", "[": "]", "{": "}"}
# Operator names contain brackets that have no partner.
_OPERATOR = compiled_on_use(r"\boperator ?(?:<=>|<<=?|>>=?|<=?|>=?|->\*?)")


def argument_list(text: str) -> int:
    """Return the position of the ` (`, outside brackets, that begins a call's arguments in gdb's output; -1 if none."""
    depth = 0
    text = _OPERATOR.sub(lambda match: "_" * len(match[0]), text)
    for index, character in enumerate(text):
        if character == "(" and depth == 0 and index and text[index - 1] == " ":
            return index - 1
        if character in _ENDS:
            depth += 1
        elif depth and character in ")]}>" and not text.startswith("->", index - 1):
            depth -= 1
    return -1


_SOURCE_TAIL = compiled_on_use(r":(\d{1,9})(?::(\d{1,9}))?$")


def source_at_end(text: str) -> tuple[int, int, re.Match[str]] | None:
    """Return the start and end of the path in `... PATH:LINE[:COLUMN]`, and the match of what follows the path."""
    tail = _SOURCE_TAIL.search(text)
    if tail is None:
        return None
    head = text[: tail.start()]
    # A path may contain blanks, but hardly a relative one without a folder.
    start = max(head.rfind(" /"), head.rfind(" ../"), head.rfind(" ./"))
    start = (start if start >= 0 else head.rfind(" ")) + 1
    return (start, len(head), tail) if start < len(head) else None


def matched(
    form: Format,
    number: int,
    match: re.Match[str],
    language: Language | None = None,
    *,
    shift: int = 0,
    labels: tuple[str, ...] = (),
) -> TextFrame:
    """Return the frame of a match with groups named after the kinds of parts; columns are moved right by `shift`."""
    groups = match.groupdict()
    text = match[0]
    return TextFrame(
        form,
        number,
        match.start() + shift + len(text) - len(text.lstrip()),
        number,
        match.end() + shift,
        parts(number, match, shift),
        number=int(groups["number"]) if groups.get("number") else None,
        function=groups.get("function") or "",
        place=place(groups.get("path"), groups.get("line"), groups.get("column")),
        language=language,
        address=int(groups["address"], 16) if groups.get("address") else None,
        module=groups.get("module") or "",
        labels=labels,
    )


def with_place(frame: TextFrame, number: int, match: re.Match[str], shift: int = 0) -> TextFrame:
    """Return the frame with the location, or the binary, from a match on the next line."""
    groups = match.groupdict()
    return replace(
        frame,
        last_line=number,
        end=match.end() + shift,
        parts=(*frame.parts, *parts(number, match, shift)),
        place=place(groups.get("path"), groups.get("line"), groups.get("column")) or frame.place,
        module=groups.get("module") or frame.module,
    )
