"""Parser of frames in Java VM error logs (`hs_err_pid123.log`): native, compiled and interpreted.

Source: OpenJDK's src/hotspot/share/runtime/frame.cpp (print_on_error, print_C_frame) and utilities/vmError.cpp.
"""

from __future__ import annotations

from dataclasses import replace

from framedex.model import Language
from framedex.patterns import compiled_on_use
from framedex.text_stacks.model import Format, Piece, TextFrame
from framedex.text_stacks.text.margins import Margin
from framedex.text_stacks.text.spans import matched

_HEADING = compiled_on_use(r"(?:(?P<kind>Native|Java) frames: \(J=.*\)|# Problematic frame:)$")
_NATIVE = compiled_on_use(
    r"(?:# )?[CV]  \[(?P<module>[^\[\]+]+)\+(?P<address>0x[0-9a-f]{1,16})\]"
    r"(?:  (?P<function>\S.*?)(?:\+0x[0-9a-f]{1,16})?)?(?:  \((?P<path>[^():]+):(?P<line>\d{1,9})\))?$"
)
_NAMELESS = compiled_on_use(r"(?:# )?[CV]  (?P<address>0x[0-9a-f]{1,16})$")
_COMPILED = compiled_on_use(r"(?:# )?[JA] \d+%? (?:[!sbn]+ )?(?:c[12] |jvmci )?(?P<function>[\w.$<>/]+)(?:\(.*)$")
_INTERPRETED = compiled_on_use(r"(?:# )?j  (?P<function>[\w.$<>/]+)\([^()]*\)\S*?\+\d+(?: .*)?$")
_STUB = compiled_on_use(r"(?:# )?v  ~(?:StubRoutines|RuntimeStub|BufferBlob|ExceptionBlob|[A-Z]\w+)\b")


class JvmErrors:
    """Parser of JVM error logs; one object per text."""

    is_seldom = True
    remembers = ("_margin",)
    triggers = ("frames: (J=", "# Problematic frame:")

    def __init__(self) -> None:
        self._margin = Margin()

    def piece(self, number: int, line: str, *, inside: bool) -> Piece | None:
        """Return a heading, or a frame below it."""
        text = line.rstrip()
        heading = _HEADING.search(text) if text.endswith((")", "frame:")) and "rame" in text else None
        if heading is not None:
            self._margin = Margin(line[: heading.start()])
            return Piece(Format.JVM_ERROR, begins=heading[0].partition(": (")[0].strip("# :"))
        start = self._margin.behind(text) if inside else None
        frame = _frame(number, text, start) if start is not None else None
        return Piece(Format.JVM_ERROR, (frame,)) if frame is not None else None

    def extended(self, frame: TextFrame, number: int, line: str) -> TextFrame | None:
        """Return None: a frame has one line."""
        return None

    def belongs(self, line: str) -> bool:
        """Whether the line is a stub, or an empty line of the log's head."""
        start = self._margin.behind(line)
        return start is not None and (not line[start:].strip("# \t\r") or _STUB.match(line, start) is not None)


def _frame(number: int, text: str, start: int) -> TextFrame | None:
    native = _NATIVE.match(text, start)
    if native is None:
        nameless = _NAMELESS.match(text, start)
        if nameless is not None:
            return matched(Format.JVM_ERROR, number, nameless, Language.NATIVE)
        java = _COMPILED.match(text, start) or _INTERPRETED.match(text, start)
        return matched(Format.JVM_ERROR, number, java) if java is not None else None
    frame = matched(Format.JVM_ERROR, number, native, Language.NATIVE)
    # The number in brackets is an offset in the library.
    return replace(frame, address=None, offset=frame.address)
