"""Making frames from regular expressions whose groups are named for the kinds of parts."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from operator import attrgetter

from framedex.interchange.model import Format, Part, PartKind, Place, TextFrame
from framedex.model import Language
from framedex.patterns import compiled_on_use


def parts(number: int, match: re.Match[str], shift: int = 0) -> tuple[Part, ...]:
    """The named groups of a match on a line as parts, from left to right; the line's text began `shift` before."""
    found = []
    for kind, group in _groups(match.re):
        start, end = match.span(group)
        if start < end:
            found.append(Part(kind, number, start + shift, end + shift))
    return tuple(sorted(found, key=_start_of)) if len(found) > 1 else tuple(found)


_start_of = attrgetter("start")


@cache
def _groups(pattern: re.Pattern[str]) -> tuple[tuple[PartKind, int], ...]:
    """The kinds of parts that an expression has groups for, with the groups' numbers."""
    return tuple((kind, pattern.groupindex[kind.value]) for kind in PartKind if kind.value in pattern.groupindex)


def place(path: str | None, line: str | None, column: str | None = None, function: str = "") -> Place | None:
    """A place from its texts; None without a path or a line."""
    if not path or not line or not int(line):
        return None
    return Place(path, int(line), int(column or 0), function)


def bounds(line: str) -> tuple[int, int]:
    """The columns of a line's text without the blanks around it."""
    return len(line) - len(line.lstrip()), len(line.rstrip())


_ENDS = {"<": ">", "(": ")", "[": "]", "{": "}"}
# Names with brackets of their own, which pair with nothing.
_OPERATOR = compiled_on_use(r"\boperator ?(?:<=>|<<=?|>>=?|<=?|>=?|->\*?)")


def argument_list(text: str) -> int:
    """Where ` (`, outside all brackets, begins the arguments of a call as gdb prints it; -1 for nowhere."""
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
    """The start and the end of the path in `... PATH:LINE[:COLUMN]`, and the match of what follows it."""
    tail = _SOURCE_TAIL.search(text)
    if tail is None:
        return None
    head = text[: tail.start()]
    # A path may hold blanks, a relative one without a folder hardly does.
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
    """The frame of a match whose groups are named for the kinds of parts; the line's text began `shift` before."""
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
    """The frame with the place, or the binary, that a match on its next line names."""
    groups = match.groupdict()
    return replace(
        frame,
        last_line=number,
        end=match.end() + shift,
        parts=(*frame.parts, *parts(number, match, shift)),
        place=place(groups.get("path"), groups.get("line"), groups.get("column")) or frame.place,
        module=groups.get("module") or frame.module,
    )
