"""Parser of `File "f", line N` frames: Python tracebacks, faulthandler and pystack.

Sources: CPython's Lib/traceback.py and Python/traceback.c; pystack's traceback_formatter.py.
"""

from __future__ import annotations

import re
from dataclasses import replace

from framedex.model import Language
from framedex.patterns import compiled_on_use
from framedex.text_stacks.model import Format, PartKind, Piece, TextFrame
from framedex.text_stacks.readers.native.frames import behind
from framedex.text_stacks.text.spans import matched, parts, place

_FRAME = compiled_on_use(
    r'(?:\((?P<kind>Python|C)\) )?File "(?P<path>[^"]+)", line(?:no)? (?:(?P<line>\d{1,9})|\?{3})'
    r"(?:(?P<comma>,)? in (?P<function>.*)|:)?$"
)
_C_FRAME = compiled_on_use(
    r"""Binary file (?P<quote>["'])(?P<module>[^"]+?)(?P=quote)"""
    r"(?:, at (?P<function>[^+\s]*)\+?(?P<behind>0x[0-9a-f]{1,16})?)? \[(?P<address>0x[0-9a-f]{1,16})\]"
)
# A traceback in a string, as in JSON logs and `repr`: all its lines are on one line.
_IN_STRING = compiled_on_use(
    r'File (?P<escape>\\{0,8})"(?P<path>[^"\\]+)(?P=escape)", line (?P<line>\d{1,9})'
    r"(?:, in (?P<function>[^\\\"]+))?(?=\\{1,8}n|$)"
)
_NEW_LINE = compiled_on_use(r"\\{1,8}n")
_LIBRARY = compiled_on_use(r" \((?P<module>/[^()]*|\[\w+\])\)$")
_INLINED = " (inlined)"
_EXCEPTION = compiled_on_use(r"[\w.]+(?::|$)")


class FileLines:
    """Parser of these tracebacks; one object per text."""

    is_seldom = False
    remembers = ("_prefix", "_is_traceback")
    triggers = ('File "', "File \\", "Binary file ", "(most recent call ")

    def __init__(self) -> None:
        self._prefix = ""  # the prefix of every line, of a log or an exception group
        self._is_traceback = False  # not faulthandler's or pystack's, which print no exception below

    def piece(self, number: int, line: str, *, inside: bool) -> Piece | None:
        """Return a heading, a frame, or the exception below the frames."""
        if 'ile "' in line or "ile \\" in line or "Binary file " in line:
            return self._frame(number, line)
        # PyTorch prints the origin of an exception above the native frames, see `numbered`.
        if "(most recent call " in line and line.rstrip().endswith(":") and "Exception raised from " not in line:
            title = line.strip(" +|\r")
            if title.startswith("Traceback for thread"):
                return Piece(Format.PYSTACK, begins=title, innermost_first="call first" in title)
            faulting = "call first" in title
            return Piece(Format.FAULTHANDLER if faulting else Format.PYTHON, begins=title, innermost_first=faulting)
        if inside and line.startswith(self._prefix) and line[len(self._prefix) :][:1].strip():
            ends = line[len(self._prefix) :].strip()
            if self._is_traceback and _EXCEPTION.match(ends):
                return Piece(Format.PYTHON, ends=ends)
        return None

    def extended(self, frame: TextFrame, number: int, line: str) -> TextFrame | None:
        """Return None: a frame has one line, and its source lines only belong to the stack."""
        return None

    def belongs(self, line: str) -> bool:
        """Whether the line has source, carets or a repetition count."""
        if line.startswith(self._prefix) and line[len(self._prefix) :].startswith("    "):
            return True
        return "[Previous line repeated " in line or line.strip() in ("...", "<no Python frame>")

    def _frame(self, number: int, line: str) -> Piece | None:
        if "\\n" in line or 'File \\"' in line:
            frames = tuple(matched(Format.PYTHON, number, each, Language.PYTHON) for each in _IN_STRING.finditer(line))
            if frames and "\\n" not in line:
                self._prefix, self._is_traceback = "", True
                return Piece(Format.PYTHON, frames, innermost_first=False)
            if frames:
                return Piece(Format.PYTHON, frames, ends=_raised_in_string(line), innermost_first=False)
        match = _FRAME.search(line)
        if match is None:
            return self._c_frame(number, line)
        self._is_traceback = match["kind"] is None and (match["comma"] is not None or match["function"] is None)
        if match["kind"]:
            return self._pystack_frame(number, line, match)
        self._prefix = line[: max(match.start() - 2, 0)]
        form = Format.PYTHON if self._is_traceback else Format.FAULTHANDLER
        frame = TextFrame(
            form,
            number,
            match.start(),
            number,
            len(line.rstrip()),
            parts(number, match),
            function=match["function"] or "",
            place=place(match["path"], match["line"]),
            language=Language.PYTHON,
        )
        return Piece(form, (frame,), innermost_first=form is Format.FAULTHANDLER)

    def _pystack_frame(self, number: int, line: str, match: re.Match[str]) -> Piece:
        self._prefix = line[: match.start()]
        function, module = (match["function"] or "").rstrip(), ""
        labels: tuple[str, ...] = ()
        pieces = list(parts(number, match))
        library = _LIBRARY.search(function) if match["kind"] == "C" else None
        if library is not None:
            module = library["module"]
            pieces += parts(number, library, match.start("function"))
            function = function[: library.start()]
        if function.endswith(_INLINED):
            function, labels = function.removesuffix(_INLINED), ("inlined",)
        end = match.start("function") + len(function)
        pieces = [replace(part, end=end) if part.kind is PartKind.FUNCTION else part for part in pieces]
        frame = TextFrame(
            Format.PYSTACK,
            number,
            match.start(),
            number,
            len(line.rstrip()),
            tuple(pieces),
            function=function,
            place=place(match["path"], match["line"]) if match["path"] != "???" else None,
            language=Language.PYTHON if match["kind"] == "Python" else Language.NATIVE,
            module=module,
            labels=labels,
        )
        return Piece(Format.PYSTACK, (frame,), innermost_first=False)

    def _c_frame(self, number: int, line: str) -> Piece | None:
        match = _C_FRAME.search(line)
        if match is None:
            return None
        self._prefix = line[: max(match.start() - 2, 0)]
        is_unknown = match["module"] == "<unknown>"
        pieces = parts(number, match)
        frame = TextFrame(
            Format.FAULTHANDLER,
            number,
            match.start(),
            number,
            match.end(),
            tuple(part for part in pieces if part.kind is not PartKind.MODULE) if is_unknown else pieces,
            function=match["function"] or "",
            language=Language.NATIVE,
            module="" if is_unknown else match["module"],
            address=int(match["address"], 16),
            is_return_address=True,
        )
        return Piece(Format.FAULTHANDLER, (behind(frame, match["behind"]),))


def _raised_in_string(line: str) -> str:
    """Return the exception after the last frame of a traceback in a string."""
    lines = _NEW_LINE.split(line[line.rfind("File ") :])
    raised = next((text for text in lines if _EXCEPTION.match(text)), "")
    return raised.partition('"')[0].rstrip("\\' ")
