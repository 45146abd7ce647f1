"""Build frames from regular expressions and column spans, and the margin of a stack.

The groups of an expression are named after the kinds of parts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from operator import attrgetter
from typing import NamedTuple

from framedex.base.lazy import compile_on_use
from framedex.model import Language
from framedex.text_stacks.model import PartKind, StackFormat, TextFrame, TextLocation, TextPart


def build_parts(number: int, match: re.Match[str], shift: int = 0) -> tuple[TextPart, ...]:
    """Return the named groups of a match as parts, from left to right; columns are moved right by `shift`."""
    found = []
    for kind, group in _groups_of_kinds(match.re):
        start, end = match.span(group)
        if start < end:
            found.append(TextPart(kind, number, start + shift, end + shift))
    return tuple(sorted(found, key=_start_of)) if len(found) > 1 else tuple(found)


_start_of = attrgetter("start")


@cache
def _groups_of_kinds(pattern: re.Pattern[str]) -> tuple[tuple[PartKind, int], ...]:
    """Return the kinds of parts that an expression has groups for, with the group numbers."""
    return tuple((kind, pattern.groupindex[kind.value]) for kind in PartKind if kind.value in pattern.groupindex)


def parse_location(
    path: str | None, line: str | None, column: str | None = None, function: str = ""
) -> TextLocation | None:
    """Return a location from its texts; None if the path or the line is missing."""
    if not path or not line or not int(line):
        return None
    return TextLocation(path, int(line), int(column or 0), function)


def find_text_columns(line: str) -> tuple[int, int]:
    """Return the columns of a line's text without surrounding blanks."""
    return len(line) - len(line.lstrip()), len(line.rstrip())


_ENDS = {"<": ">", "(": ")", "[": "]", "{": "}"}
# Operator names contain brackets that have no partner.
_OPERATOR = compile_on_use(r"\boperator ?(?:<=>|<<=?|>>=?|<=?|>=?|->\*?)")


def find_argument_list(text: str) -> int:
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


_SOURCE_TAIL = compile_on_use(r":(\d{1,9})(?::(\d{1,9}))?$")


def find_source_at_end(text: str) -> tuple[int, int, re.Match[str]] | None:
    """Return the start and end of the path in `... PATH:LINE[:COLUMN]`, and the match of what follows the path."""
    tail = _SOURCE_TAIL.search(text)
    if tail is None:
        return None
    head = text[: tail.start()]
    # A path may contain blanks, but hardly a relative one without a folder.
    start = max(head.rfind(" /"), head.rfind(" ../"), head.rfind(" ./"))
    start = (start if start >= 0 else head.rfind(" ")) + 1
    return (start, len(head), tail) if start < len(head) else None


def build_frame(
    form: StackFormat,
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
        build_parts(number, match, shift),
        number=int(groups["number"]) if groups.get("number") else None,
        function=groups.get("function") or "",
        place=parse_location(groups.get("path"), groups.get("line"), groups.get("column")),
        language=language,
        address=int(groups["address"], 16) if groups.get("address") else None,
        module=groups.get("module") or "",
        labels=labels,
    )


def add_location(frame: TextFrame, number: int, match: re.Match[str], shift: int = 0) -> TextFrame:
    """Return the frame with the location, or the binary, from a match on the next line."""
    groups = match.groupdict()
    return replace(
        frame,
        last_line=number,
        end=match.end() + shift,
        parts=(*frame.parts, *build_parts(number, match, shift)),
        place=parse_location(groups.get("path"), groups.get("line"), groups.get("column")) or frame.place,
        module=groups.get("module") or frame.module,
    )


class Margin(NamedTuple):
    """The margin of the open stack."""

    text: str = ""

    def column_after(self, line: str) -> int | None:
        """Return the column after the margin; None for a line without the margin."""
        return len(self.text) if line.startswith(self.text) else None


Span = tuple[int, int]
Spans = Mapping[PartKind, Span]

_UNKNOWN_VALUES = frozenset(
    (
        *("", "??", "???", "n/a", "(null)", "<null>", "(unknown)", "<unknown>", "<unknown function>"),
        *("<unknown module>", "[unknown]", "<unknown symbol>", "unknown"),
    )
)

_ADDRESS = compile_on_use(r"0x[0-9a-fA-F]+")


def build_native_frame(
    form: StackFormat, line_number: int, line: str, bounds: Span, spans: Spans, *, number: int | None = None
) -> TextFrame:
    """Return a frame on one line, with a part for each span that has a known value. Source line 0 means no location."""
    known = {kind: span for kind, span in spans.items() if line[slice(*span)] not in _UNKNOWN_VALUES}
    name = known.get(PartKind.FUNCTION)
    if name is not None and line.startswith("0x", name[0]) and _ADDRESS.fullmatch(line, *name):
        del known[PartKind.FUNCTION]
    texts = {kind: line[slice(*span)] for kind, span in known.items()}
    parts = [TextPart(kind, line_number, *span) for kind, span in known.items()]
    place = None
    if PartKind.PATH in texts and int(texts.get(PartKind.LINE, "0")):
        place = TextLocation(texts[PartKind.PATH], int(texts[PartKind.LINE]), int(texts.get(PartKind.COLUMN, "0")))
    return TextFrame(
        form,
        line_number,
        *(bounds[0], line_number, bounds[1]),
        tuple(sorted(parts, key=lambda part: part.start)),
        number=number,
        function=texts.get(PartKind.FUNCTION, ""),
        place=place,
        language=Language.NATIVE,
        address=int(texts[PartKind.ADDRESS], 16) if PartKind.ADDRESS in texts else None,
        module=texts.get(PartKind.MODULE, ""),
    )


def find_source_spans(line: str, start: int, end: int) -> dict[PartKind, Span]:
    """Return the spans of the location `PATH:LINE[:COLUMN]` at the end of a piece of a line; empty if there is none."""
    found = find_source_at_end(line[start:end])
    if found is None:
        return {}
    first, stop, tail = found
    spans = {PartKind.PATH: (start + first, start + stop), PartKind.LINE: _shift_span(tail.span(1), start)}
    if tail[2]:
        spans[PartKind.COLUMN] = _shift_span(tail.span(2), start)
    return spans


def set_offset(frame: TextFrame, offset: int, *, build_id: str = "") -> TextFrame:
    """Return the frame with its offset in its binary."""
    return replace(frame, offset=offset, build_id=build_id.lower())


def add_offset(frame: TextFrame, offset: str | None) -> TextFrame:
    """Return the frame with its offset (hex) from its function, or from its binary if it has no name."""
    if offset is None:
        return frame
    return replace(frame, function_offset=int(offset, 16)) if frame.function else set_offset(frame, int(offset, 16))


def find_opening_parenthesis(text: str, closing: int, least: int = 0) -> int:
    """Return the column of the parenthesis that matches the one at `closing`; -1 if none from column `least` on."""
    depth = 0
    for column in range(closing, least - 1, -1):
        if text[column] == ")":
            depth += 1
        elif text[column] == "(":
            depth -= 1
            if not depth:
                return column
    return -1


def strip_span(text: str, start: int, end: int) -> Span:
    """Return a span of a text without surrounding blanks."""
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip()) if piece.strip() else start


def _shift_span(span: Span, shift: int) -> Span:
    return span[0] + shift, span[1] + shift
