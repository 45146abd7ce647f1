"""Parser of Windows call stacks: Visual Studio, `k` of WinDbg, and `module.dll!function+0x1a` anywhere.

Sources: Microsoft's documentation of the Call Stack window and of the commands `k`, `kn`, `kp` and `kv`. Visual Studio
prints a line without a file: such a frame has no location.
"""

from __future__ import annotations

import re
from dataclasses import replace

from framedex.model import Language
from framedex.patterns import compiled_on_use
from framedex.text_stacks.model import Format, PartKind, Piece, TextFrame
from framedex.text_stacks.readers.native.symbolized import is_symbol
from framedex.text_stacks.text.spans import matched, parts

_BEGINS = r"(?:^|(?<=[\s\]:>|)]))"
_BINARY = compiled_on_use(
    _BEGINS + r"(?P<module>[\w.+-]+\.(?:dll|exe|pyd|sys|ocx|drv))!(?P<function>[^\t]*[^\t ])(?:\t.*)?$", re.IGNORECASE
)
_ADDRESS = r"[0-9a-f]{8}(?:`?[0-9a-f]{8})?"
_WINDBG = compiled_on_use(
    _BEGINS + rf"(?:(?P<position>[0-9a-f]{{2,4}}) )?(?:{_ADDRESS} {_ADDRESS}|\(Inline Function\) -{{8}}`-{{8}}) +"
    r"(?:: (?:[0-9a-f`]{8,17} ){1,8}: +)?(?P<module>\w[\w.+-]{0,99})!(?P<function>[^\[]*[^\[ ])"
    r"(?: +\[(?P<path>[^\[\]]+) @ (?P<line>\d{1,9})\])?$"
)
_NAMELESS = compiled_on_use(
    _BEGINS + rf"(?:(?P<position>[0-9a-f]{{2,4}}) )?{_ADDRESS} {_ADDRESS} +(?:: (?:[0-9a-f`]{{8,17}} ){{1,8}}: +)?"
    r"(?:(?P<module>\w[\w.-]{0,99})\+)?(?P<address>0x[0-9a-f`]{1,17})$"
)
_HEADING = compiled_on_use(r"(?:Child-SP|ChildEBP) +RetAddr\b.*$")
_BEHIND_NAME = compiled_on_use(r"(?: +Line \d{1,9}(?: \+ 0x[0-9a-fA-F]+ bytes)?| ?\+ ?0x[0-9a-fA-F]{1,16})$")


class WindowsStacks:
    """Parser of all three; one object per text."""

    is_seldom = True
    remembers = ()
    triggers = (".dll!", ".exe!", ".pyd!", ".sys!", ".DLL!", ".EXE!", "RetAddr")

    def piece(self, number: int, line: str, *, inside: bool) -> Piece | None:
        """Return the heading of WinDbg's table, or a frame."""
        heading = _HEADING.search(line.rstrip()) if "RetAddr" in line else None
        if heading is not None:
            return Piece(Format.WINDOWS, begins=heading[0])
        text = line.rstrip()
        if "!" not in line:
            nameless = _NAMELESS.search(text) if inside else None
            return Piece(Format.WINDOWS, (_nameless_frame(number, nameless),)) if nameless is not None else None
        match = _WINDBG.search(text) if inside else None
        match = match or _BINARY.search(text)
        frame = _frame(number, match) if match is not None else None
        # Further words beside the name make it a sentence.
        if frame is None or not is_symbol(frame.function):
            return None
        return Piece(Format.WINDOWS, (frame,))

    def extended(self, frame: TextFrame, number: int, line: str) -> TextFrame | None:
        """Return None: a frame has one line."""
        return None

    def belongs(self, line: str) -> bool:
        """Whether the line stands for code that the debugger does not show."""
        return "[External Code]" in line or "[Frames below may be incorrect" in line


def _frame(number: int, match: re.Match[str]) -> TextFrame:
    frame = matched(Format.WINDOWS, number, match, Language.NATIVE)
    behind = _BEHIND_NAME.search(frame.function)
    name = frame.function[: behind.start()] if behind is not None else frame.function
    name = name[: _end_of_name(name)]
    parts = tuple(
        replace(part, end=part.start + len(name)) if part.kind is PartKind.FUNCTION else part for part in frame.parts
    )
    position = match.groupdict().get("position")
    return replace(frame, function=name, parts=parts, number=int(position, 16) if position else None)


def _nameless_frame(number: int, match: re.Match[str]) -> TextFrame:
    """Return a frame with only an address, or an offset in a module without symbols."""
    value, position = int(match["address"].replace("`", ""), 16), match["position"]
    return TextFrame(
        Format.WINDOWS,
        number,
        match.start(),
        number,
        match.end(),
        parts(number, match),
        number=int(position, 16) if position else None,
        language=Language.NATIVE,
        module=match["module"] or "",
        address=None if match["module"] else value,
        offset=value if match["module"] else None,
    )


def _end_of_name(text: str) -> int:
    """Return the column where the arguments at the end of a function begin, else the end of the text."""
    if not text.endswith(")"):
        return len(text)
    depth = 0
    for index in range(len(text) - 1, 0, -1):
        depth += (text[index] == ")") - (text[index] == "(")
        if depth == 0:
            return index
    return len(text)
