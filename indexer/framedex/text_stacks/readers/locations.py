"""Parsers of framedex's own trace documents, and of plain `file:line` and `file:line:column` in any text.

`framedex.texts.traces` writes trace documents and describes their format.
"""

from __future__ import annotations

import re
from dataclasses import replace

from framedex.base.lazy import compile_on_use
from framedex.base.plaintext import restore
from framedex.model import Language
from framedex.text_stacks.frames import build_parts
from framedex.text_stacks.model import ParsedLine, PartKind, StackFormat, TextFrame, TextLocation, TextPart
from framedex.texts.traces import HEADING

# A local path, a source map path (`xla@5a9e73cbd925:xla/shape.cc`), or Python's name of a string (`<string>`).
_PATH = r"(?P<path>(?:/|<|[A-Za-z0-9][\w.-]{0,99}@[0-9a-f]{12}[+a-z]*:).*)"
_LABELS = r"(?: \[(?P<label>[a-z0-9, -]+)\])?$"
_LOCATED = compile_on_use(
    r" *(?P<number>\d{1,9}) (?P<language>[PN]) (?P<function>.*?) at " + _PATH + r":(?P<line>\d{1,9})" + _LABELS
)
_UNLOCATED = compile_on_use(
    r" *(?P<number>\d{1,9}) (?P<language>[PN]) (?P<function>.*) in (?P<module>.*)\+(?P<address>0x[0-9a-f]{1,16})"
    + _LABELS
)
_CANDIDATE = compile_on_use(r" +or " + _PATH + r":(?P<line>\d{1,9})" + _LABELS)
_RECORDED = compile_on_use(r" +(?P<recorded>as recorded: .+)$")
_SECTION = ", most recent call last:"
_VALUE = "  "
"""The indentation of header lines with a value of the call, which may have any text."""


class TraceText:
    """Parser of trace documents; one object per text."""

    is_rare = False
    state_attributes = ("_call", "_function", "_language")
    triggers = (HEADING, " at /")

    def __init__(self) -> None:
        self._call = ""
        self._function = ""
        self._language = Language.NATIVE

    def parse_line(self, number: int, line: str, *, is_in_stack: bool) -> ParsedLine | None:
        """Return the heading, the heading of a section, a frame, or another candidate for it."""
        if line == HEADING:
            return ParsedLine(StackFormat.TRACE, opening_title=line)
        if not is_in_stack:  # a copied excerpt may have no heading
            match = _LOCATED.match(line) if line[:4].lstrip()[:1].isdigit() else None
            return self._frame_piece(number, match) if match is not None else None
        if line.startswith("call "):
            self._call = line
        if line.endswith(_SECTION) and not line.startswith(_VALUE):
            title = line.removesuffix(_SECTION)
            return ParsedLine(
                StackFormat.TRACE,
                opening_title=self._call if title == "frames" and self._call else title,
                innermost_first=False,
            )
        match = _LOCATED.match(line) or _UNLOCATED.match(line)
        if match is not None:
            return self._frame_piece(number, match)
        match = _CANDIDATE.match(line)
        return (
            ParsedLine(StackFormat.TRACE, (self._build_frame(number, match, None),), innermost_first=False)
            if match
            else None
        )

    def extend_frame(self, frame: TextFrame, number: int, line: str) -> TextFrame | None:
        """Return the frame with its recorded source line, printed below it if the source changed since; else None."""
        match = _RECORDED.match(line)
        return None if match is None else replace(frame, labels=(*frame.labels, match["recorded"]))

    def belongs_to_stack(self, line: str) -> bool:
        """Whether the line is a fact of the header."""
        return ": " in line[:40]

    def _frame_piece(self, number: int, match: re.Match[str]) -> ParsedLine:
        self._function = restore(match["function"])
        self._language = Language.PYTHON if match["language"] == "P" else Language.NATIVE
        return ParsedLine(
            StackFormat.TRACE, (self._build_frame(number, match, int(match["number"])),), innermost_first=False
        )

    def _build_frame(self, number: int, match: re.Match[str], position: int | None) -> TextFrame:
        groups = match.groupdict()
        path, offset = groups.get("path"), groups.get("address")
        return TextFrame(
            StackFormat.TRACE,
            number,
            len(match[0]) - len(match[0].lstrip()),
            number,
            match.end(),
            build_parts(number, match),
            number=position,
            function=self._function,
            language=self._language,
            place=TextLocation(restore(path), int(match["line"])) if path else None,
            module=restore(groups.get("module") or ""),
            offset=int(offset, 16) if offset else None,
            is_return_address=True,
            labels=tuple((match["label"] or "").split(", ")) if match["label"] else (),
            is_alternative=position is None,
        )


_SUFFIXES = "py|pyi|pyx|c|cc|cpp|cxx|cu|h|hh|hpp|cuh|inc|td|proto|mlir|rs|go|java|ts|js|sh|bzl|BUILD"
_TAIL = compile_on_use(rf"\.(?:{_SUFFIXES}):(?P<line>\d{{1,8}})(?::(?P<column>\d{{1,8}}))?(?![\w])")
_NO_PATH = compile_on_use(r"""[\s"'`()<>\[\]{},;=|:]""")
_MAX_PATH_LENGTH = 4096


class LocationsInText:
    """Parser of locations in any text. The least specific reader, so it is called last."""

    is_rare = False
    state_attributes = ()
    triggers = tuple(f".{suffix}:" for suffix in _SUFFIXES.split("|"))

    def parse_line(self, number: int, line: str, *, is_in_stack: bool) -> ParsedLine | None:
        """Return every location on the line."""
        frames, before = [], 0
        for match in _TAIL.finditer(line):
            dot = match.start()
            least = max(before, dot - _MAX_PATH_LENGTH)
            delimiter = _NO_PATH.search(line[least:dot][::-1])
            start = dot - delimiter.start() if delimiter else least
            if start == dot or not int(match["line"]):  # only a suffix
                continue
            frames.append(_build_location_frame(number, line, start, match))
            before = match.end()
        return ParsedLine(StackFormat.PLAIN, tuple(frames)) if frames else None

    def extend_frame(self, frame: TextFrame, number: int, line: str) -> TextFrame | None:
        """Return None: a location has one line."""
        return None

    def belongs_to_stack(self, line: str) -> bool:
        """Return False: lines between locations may be unrelated."""
        return False


def _build_location_frame(number: int, line: str, start: int, match: re.Match[str]) -> TextFrame:
    end = match.start("line") - 1
    parts = [TextPart(PartKind.PATH, number, start, end), TextPart(PartKind.LINE, number, *match.span("line"))]
    if match["column"]:
        parts.append(TextPart(PartKind.COLUMN, number, *match.span("column")))
    place = TextLocation(line[start:end], int(match["line"]), int(match["column"] or 0))
    return TextFrame(StackFormat.PLAIN, number, start, number, match.end(), tuple(parts), place=place)
