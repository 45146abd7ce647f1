"""Parsers of `py-spy dump` output, as text and with `--json` (benfred/py-spy, src/dump.rs and src/stack_trace.rs)."""

from __future__ import annotations

import json
import re
from dataclasses import replace

from framedex.model import Language
from framedex.patterns import compiled_on_use
from framedex.text_stacks.model import Format, Part, PartKind, Piece, Place, TextFrame
from framedex.text_stacks.text.margins import Margin
from framedex.text_stacks.text.spans import bounds, parts, place

_THREAD = compiled_on_use(r'Thread (?:0x)?[\da-fA-F]+ \([\w+ -]+\)(?:: ".*")?$')
_FRAME = compiled_on_use(r" {4}(?P<function>\S.*?) \((?P<path>[^()]+?)(?::(?P<line>\d{1,9}))?\)$")
_ADDRESS = compiled_on_use(r"0x[0-9a-f]{1,16}")
_PYTHON = (".py", ".pyx", ".pyi", ">")


class PySpyText:
    """Parser of the text form, which prints only the last component of file paths."""

    is_seldom = False
    remembers = ("_margin",)
    triggers = ("Thread ",)

    def __init__(self) -> None:
        self._margin = Margin()

    def piece(self, number: int, line: str, *, inside: bool) -> Piece | None:
        """Return the heading of a thread, or a frame below it."""
        begin = self._margin.behind(line) if inside else None
        if begin is not None and line.startswith("    ", begin):
            match = _FRAME.match(line, begin)
            if match is None:
                return None
            is_python = match["path"].endswith(_PYTHON)
            return Piece(Format.PY_SPY, (_frame(number, match, is_python),))
        start = len(line) - len(line.lstrip())
        if not line.startswith("Thread ", start) or _THREAD.match(line, start) is None:
            return None
        self._margin = Margin(line[:start])
        return Piece(Format.PY_SPY, begins=line.strip())

    def extended(self, frame: TextFrame, number: int, line: str) -> TextFrame | None:
        """Return None: a frame has one line."""
        return None

    def belongs(self, line: str) -> bool:
        """Whether the line is an argument or local below its frame, as printed with `--locals`."""
        start = self._margin.behind(line)
        return start is not None and line.startswith("        ", start)


def _frame(number: int, match: re.Match[str], is_python: bool) -> TextFrame:
    frame = _named(number, match, is_python)
    if is_python or _ADDRESS.fullmatch(frame.function) is None:
        return frame
    # A frame of a library without symbols.
    parts = tuple(
        replace(part, kind=PartKind.ADDRESS) if part.kind is PartKind.FUNCTION else part for part in frame.parts
    )
    return replace(frame, function="", address=int(frame.function, 16), parts=parts)


def _named(number: int, match: re.Match[str], is_python: bool) -> TextFrame:
    return TextFrame(
        Format.PY_SPY,
        number,
        match.start("function"),
        number,
        match.end(),
        parts(number, match),
        function=match["function"],
        place=place(match["path"], match["line"]),
        language=Language.PYTHON if is_python else Language.NATIVE,
        module="" if match["line"] or is_python else match["path"],
    )


_FIELD = compiled_on_use(
    r'(?P<indent> *)"(?P<key>\w+)": (?P<value>"(?:[^"\\]|\\.)*"|\d{1,18}|null|true|false)?,?(?:\[)?$'
)


class PySpyJson:
    """Parser of the JSON form as printed by py-spy: one field per line, so each frame has its own lines in the text."""

    is_seldom = False
    remembers = ("_thread", "_indent")
    triggers = ('"frames": [', '"thread_name": ')

    def __init__(self) -> None:
        self._thread = ""
        self._indent: int | None = None

    def piece(self, number: int, line: str, *, inside: bool) -> Piece | None:
        """Return the beginning of a thread's frames, or of one frame."""
        match = _FIELD.match(line) if line[:1] == " " else None
        if match is None:
            return None
        if match["key"] == "frames":
            return Piece(Format.PY_SPY_JSON, begins=f"Thread {self._thread}")
        if match["key"] == "thread_name" and match["value"]:
            self._thread = match["value"].strip('"')
        if not inside or match["key"] != "name" or not match["value"]:
            return None
        if self._indent is None:
            self._indent = len(match["indent"])
        if len(match["indent"]) != self._indent:  # a local variable of the frame
            return None
        start, end = bounds(line)
        part = Part(PartKind.FUNCTION, number, match.start("value") + 1, match.end("value") - 1)
        frame = TextFrame(
            Format.PY_SPY_JSON,
            number,
            start,
            number,
            end,
            (part,),
            function=_decoded(match["value"]),
            language=Language.PYTHON,
        )
        return Piece(Format.PY_SPY_JSON, (frame,))

    def extended(self, frame: TextFrame, number: int, line: str) -> TextFrame | None:
        """Return the frame with the file or the line, which follow the name."""
        match = _FIELD.match(line)
        if match is None or len(match["indent"]) != self._indent or match["key"] == "name":
            return None
        longer = replace(frame, last_line=number, end=len(line.rstrip()))
        if match["key"] == "filename" and match["value"] and frame.place is None:
            part = Part(PartKind.PATH, number, match.start("value") + 1, match.end("value") - 1)
            return replace(longer, parts=(*frame.parts, part), place=Place(_decoded(match["value"]), 0))
        if match["key"] == "line" and frame.place and not frame.place.line and (match["value"] or "").isdigit():
            part = Part(PartKind.LINE, number, *match.span("value"))
            return replace(longer, parts=(*frame.parts, part), place=Place(frame.place.path, int(match["value"])))
        return longer

    def belongs(self, line: str) -> bool:
        """Whether the line is inside the list of frames."""
        return self._indent is None or not line.startswith(" " * (self._indent - 4) + "]")


def _decoded(text: str) -> str:
    try:
        return str(json.loads(text))
    except ValueError:
        return text.strip('"')
