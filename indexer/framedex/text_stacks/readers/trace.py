"""Parser of framedex's own trace documents; `framedex.tracetext` writes them and describes the format."""

from __future__ import annotations

import re
from dataclasses import replace

from framedex.model import Language
from framedex.patterns import compiled_on_use
from framedex.plaintext import restore
from framedex.text_stacks.model import Format, Piece, Place, TextFrame
from framedex.text_stacks.text.spans import parts
from framedex.tracetext import HEADING

# A local path, a source map path (`xla@5a9e73cbd925:xla/shape.cc`), or Python's name of a string (`<string>`).
_PATH = r"(?P<path>(?:/|<|[A-Za-z0-9][\w.-]{0,99}@[0-9a-f]{12}[+a-z]*:).*)"
_LABELS = r"(?: \[(?P<label>[a-z0-9, -]+)\])?$"
_LOCATED = compiled_on_use(
    r" *(?P<number>\d{1,9}) (?P<language>[PN]) (?P<function>.*?) at " + _PATH + r":(?P<line>\d{1,9})" + _LABELS
)
_UNLOCATED = compiled_on_use(
    r" *(?P<number>\d{1,9}) (?P<language>[PN]) (?P<function>.*) in (?P<module>.*)\+(?P<address>0x[0-9a-f]{1,16})"
    + _LABELS
)
_CANDIDATE = compiled_on_use(r" +or " + _PATH + r":(?P<line>\d{1,9})" + _LABELS)
_RECORDED = compiled_on_use(r" +(?P<recorded>as recorded: .+)$")
_SECTION = ", most recent call last:"
_VALUE = "  "
"""The indentation of header lines with a value of the call, which may have any text."""


class TraceText:
    """Parser of trace documents; one object per text."""

    is_seldom = False
    remembers = ("_call", "_function", "_language")
    triggers = (HEADING, " at /")

    def __init__(self) -> None:
        self._call = ""
        self._function = ""
        self._language = Language.NATIVE

    def piece(self, number: int, line: str, *, inside: bool) -> Piece | None:
        """Return the heading, the heading of a section, a frame, or another candidate for it."""
        if line == HEADING:
            return Piece(Format.TRACE, begins=line)
        if not inside:  # a copied excerpt may have no heading
            match = _LOCATED.match(line) if line[:4].lstrip()[:1].isdigit() else None
            return self._found(number, match) if match is not None else None
        if line.startswith("call "):
            self._call = line
        if line.endswith(_SECTION) and not line.startswith(_VALUE):
            title = line.removesuffix(_SECTION)
            return Piece(
                Format.TRACE, begins=self._call if title == "frames" and self._call else title, innermost_first=False
            )
        match = _LOCATED.match(line) or _UNLOCATED.match(line)
        if match is not None:
            return self._found(number, match)
        match = _CANDIDATE.match(line)
        return Piece(Format.TRACE, (self._frame(number, match, None),), innermost_first=False) if match else None

    def extended(self, frame: TextFrame, number: int, line: str) -> TextFrame | None:
        """Return the frame with its recorded source line, printed below it if the source changed since; else None."""
        match = _RECORDED.match(line)
        return None if match is None else replace(frame, labels=(*frame.labels, match["recorded"]))

    def belongs(self, line: str) -> bool:
        """Whether the line is a fact of the header."""
        return ": " in line[:40]

    def _found(self, number: int, match: re.Match[str]) -> Piece:
        self._function = restore(match["function"])
        self._language = Language.PYTHON if match["language"] == "P" else Language.NATIVE
        return Piece(Format.TRACE, (self._frame(number, match, int(match["number"])),), innermost_first=False)

    def _frame(self, number: int, match: re.Match[str], position: int | None) -> TextFrame:
        groups = match.groupdict()
        path, offset = groups.get("path"), groups.get("address")
        return TextFrame(
            Format.TRACE,
            number,
            len(match[0]) - len(match[0].lstrip()),
            number,
            match.end(),
            parts(number, match),
            number=position,
            function=self._function,
            language=self._language,
            place=Place(restore(path), int(match["line"])) if path else None,
            module=restore(groups.get("module") or ""),
            offset=int(offset, 16) if offset else None,
            is_return_address=True,
            labels=tuple((match["label"] or "").split(", ")) if match["label"] else (),
            is_alternative=position is None,
        )
