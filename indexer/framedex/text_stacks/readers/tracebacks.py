"""Parsers of plain Python stacks: tracebacks, fault reports, debuggers, and crashes of FFI handlers.

Sources:
- tracebacks: CPython's Lib/traceback.py and Python/traceback.c; pystack's traceback_formatter.py
- debuggers: CPython's Lib/bdb.py (format_stack_entry), Lib/pdb.py, Lib/trace.py; numba/core/errors.py and ir.py (Loc)
- crashes of FFI handlers: native/ffi/crash_report.cc
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from framedex.base.lazy import compile_on_use
from framedex.model import Language
from framedex.text_stacks.frames import add_offset, build_frame, build_parts, parse_location
from framedex.text_stacks.model import ParsedLine, PartKind, StackFormat, TextFrame

_FRAME = compile_on_use(
    r'(?:\((?P<kind>Python|C)\) )?File "(?P<path>[^"]+)", line(?:no)? (?:(?P<line>\d{1,9})|\?{3})'
    r"(?:(?P<comma>,)? in (?P<function>.*)|:)?$"
)
_C_FRAME = compile_on_use(
    r"""Binary file (?P<quote>["'])(?P<module>[^"]+?)(?P=quote)"""
    r"(?:, at (?P<function>[^+\s]*)\+?(?P<behind>0x[0-9a-f]{1,16})?)? \[(?P<address>0x[0-9a-f]{1,16})\]"
)
# A traceback in a string, as in JSON logs and `repr`: all its lines are on one line.
_IN_STRING = compile_on_use(
    r'File (?P<escape>\\{0,8})"(?P<path>[^"\\]+)(?P=escape)", line (?P<line>\d{1,9})'
    r"(?:, in (?P<function>[^\\\"]+))?(?=\\{1,8}n|$)"
)
_NEW_LINE = compile_on_use(r"\\{1,8}n")
_LIBRARY = compile_on_use(r" \((?P<module>/[^()]*|\[\w+\])\)$")
_INLINED = " (inlined)"
_EXCEPTION = compile_on_use(r"[\w.]+(?::|$)")


class FileLines:
    """Parser of these tracebacks; one object per text."""

    is_rare = False
    state_attributes = ("_prefix", "_is_traceback")
    triggers = ('File "', "File \\", "Binary file ", "(most recent call ")

    def __init__(self) -> None:
        self._prefix = ""  # the prefix of every line, of a log or an exception group
        self._is_traceback = False  # not faulthandler's or pystack's, which print no exception below

    def parse_line(self, number: int, line: str, *, is_in_stack: bool) -> ParsedLine | None:
        """Return a heading, a frame, or the exception below the frames."""
        if 'ile "' in line or "ile \\" in line or "Binary file " in line:
            return self._parse_frame(number, line)
        # PyTorch prints the origin of an exception above the native frames: see `numbered_frames.py`.
        if "(most recent call " in line and line.rstrip().endswith(":") and "Exception raised from " not in line:
            title = line.strip(" +|\r")
            if title.startswith("Traceback for thread"):
                return ParsedLine(StackFormat.PYSTACK, opening_title=title, innermost_first="call first" in title)
            faulting = "call first" in title
            return ParsedLine(
                StackFormat.FAULTHANDLER if faulting else StackFormat.PYTHON,
                opening_title=title,
                innermost_first=faulting,
            )
        if is_in_stack and line.startswith(self._prefix) and line[len(self._prefix) :][:1].strip():
            ends = line[len(self._prefix) :].strip()
            if self._is_traceback and _EXCEPTION.match(ends):
                return ParsedLine(StackFormat.PYTHON, closing_title=ends)
        return None

    def extend_frame(self, frame: TextFrame, number: int, line: str) -> TextFrame | None:
        """Return None: a frame has one line, and its source lines only belong to the stack."""
        return None

    def belongs_to_stack(self, line: str) -> bool:
        """Whether the line has source, carets or a repetition count."""
        if line.startswith(self._prefix) and line[len(self._prefix) :].startswith("    "):
            return True
        return "[Previous line repeated " in line or line.strip() in ("...", "<no Python frame>")

    def _parse_frame(self, number: int, line: str) -> ParsedLine | None:
        if "\\n" in line or 'File \\"' in line:
            frames = tuple(
                build_frame(StackFormat.PYTHON, number, each, Language.PYTHON) for each in _IN_STRING.finditer(line)
            )
            if frames and "\\n" not in line:
                self._prefix, self._is_traceback = "", True
                return ParsedLine(StackFormat.PYTHON, frames, innermost_first=False)
            if frames:
                return ParsedLine(
                    StackFormat.PYTHON, frames, closing_title=_find_exception_in_string(line), innermost_first=False
                )
        match = _FRAME.search(line)
        if match is None:
            return self._parse_c_frame(number, line)
        self._is_traceback = match["kind"] is None and (match["comma"] is not None or match["function"] is None)
        if match["kind"]:
            return self._parse_pystack_frame(number, line, match)
        self._prefix = line[: max(match.start() - 2, 0)]
        form = StackFormat.PYTHON if self._is_traceback else StackFormat.FAULTHANDLER
        frame = TextFrame(
            form,
            number,
            match.start(),
            number,
            len(line.rstrip()),
            build_parts(number, match),
            function=match["function"] or "",
            place=parse_location(match["path"], match["line"]),
            language=Language.PYTHON,
        )
        return ParsedLine(form, (frame,), innermost_first=form is StackFormat.FAULTHANDLER)

    def _parse_pystack_frame(self, number: int, line: str, match: re.Match[str]) -> ParsedLine:
        self._prefix = line[: match.start()]
        function, module = (match["function"] or "").rstrip(), ""
        labels: tuple[str, ...] = ()
        pieces = list(build_parts(number, match))
        library = _LIBRARY.search(function) if match["kind"] == "C" else None
        if library is not None:
            module = library["module"]
            pieces += build_parts(number, library, match.start("function"))
            function = function[: library.start()]
        if function.endswith(_INLINED):
            function, labels = function.removesuffix(_INLINED), ("inlined",)
        end = match.start("function") + len(function)
        pieces = [replace(part, end=end) if part.kind is PartKind.FUNCTION else part for part in pieces]
        frame = TextFrame(
            StackFormat.PYSTACK,
            number,
            match.start(),
            number,
            len(line.rstrip()),
            tuple(pieces),
            function=function,
            place=parse_location(match["path"], match["line"]) if match["path"] != "???" else None,
            language=Language.PYTHON if match["kind"] == "Python" else Language.NATIVE,
            module=module,
            labels=labels,
        )
        return ParsedLine(StackFormat.PYSTACK, (frame,), innermost_first=False)

    def _parse_c_frame(self, number: int, line: str) -> ParsedLine | None:
        match = _C_FRAME.search(line)
        if match is None:
            return None
        self._prefix = line[: max(match.start() - 2, 0)]
        is_unknown = match["module"] == "<unknown>"
        pieces = build_parts(number, match)
        frame = TextFrame(
            StackFormat.FAULTHANDLER,
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
        return ParsedLine(StackFormat.FAULTHANDLER, (add_offset(frame, match["behind"]),))


def _find_exception_in_string(line: str) -> str:
    """Return the exception after the last frame of a traceback in a string."""
    lines = _NEW_LINE.split(line[line.rfind("File ") :])
    raised = next((text for text in lines if _EXCEPTION.match(text)), "")
    return raised.partition('"')[0].rstrip("\\' ")


_LINE_START = r"(?:^|(?<=[\s\]:>|)]))"
_PATH = r"(?P<path>(?:[A-Za-z]:)?[^\s:()\[\]|<>\"']+\.pyx?|<\w+>)\((?P<line>\d{1,9})\)"
_PDB = compile_on_use(_LINE_START + r"(?:> +)?" + _PATH + r"(?P<function><\w+>|[\w.]+)\(\)(?:->.*)?$")
_TRACED = compile_on_use(_LINE_START + _PATH + r": ")
_NUMBA = compile_on_use(r" at (?P<path>(?:[/.<]|[A-Za-z]:\\).*) \((?P<line>\d{1,9})\)$")
_MODULE = compile_on_use(r"(?:^|\s)--- modulename: [\w.]+, funcname: [\w.<>]+$")
_CONTINUATION = compile_on_use(r"\s*(?:-> |\(\(?Pdb\)+ |ipdb> )|\s*(?:-+> ?)?\d+ ")


class PythonDebuggers:
    """Parser of all four; one object per text."""

    is_rare = True
    state_attributes = ()
    triggers = (".py(", ".pyx(", "<string>(", "<stdin>(", "During: ", " --- modulename: ")

    def parse_line(self, number: int, line: str, *, is_in_stack: bool) -> ParsedLine | None:
        """Return a frame of a debugger, a traced line, or the location of a numba error."""
        text = line.rstrip()
        if "(" not in text:
            heading = _MODULE.search(text) if "--- modulename: " in text and not is_in_stack else None
            return (
                ParsedLine(StackFormat.PYTHON_TRACE, opening_title=heading[0].strip(" -"))
                if heading is not None
                else None
            )
        form, match = StackFormat.PDB, None
        if "During: " in text:
            start = text.rfind(" at ")
            form, match = StackFormat.NUMBA, _NUMBA.match(text, start) if start >= 0 else None
        elif ")" in text:
            match = _PDB.search(text) if "()" in text else None
            if match is None and is_in_stack and "): " in text:
                form, match = StackFormat.PYTHON_TRACE, _TRACED.search(text)
        if match is None:
            return None
        return ParsedLine(form, (build_frame(form, number, match, Language.PYTHON),), innermost_first=False)

    def extend_frame(self, frame: TextFrame, number: int, line: str) -> TextFrame | None:
        """Return None: a frame has one line."""
        return None

    def belongs_to_stack(self, line: str) -> bool:
        """Whether the line is a debugger's source line or prompt, or the heading of a function."""
        return _CONTINUATION.match(line) is not None or (
            "--- modulename: " in line and _MODULE.search(line) is not None
        )


_REPORT = compile_on_use(
    r"(?P<title>SIG\w{1,8} in the FFI handler of '(?P<target>[^']{1,1024})' \((?P<stage>\w{1,16}) stage\))"
    r"(?:, called at (?P<several>one of: )?(?=\S)|\s*$)"
)
_PLACE = compile_on_use(r"(?P<path>[^\s:,;][^:\n]{0,4095}):(?P<line>\d{1,8})(?: in (?P<function>[^\s,;]{1,1024}))?")
_CALLER = ", from "
_SEPARATORS = (_CALLER, ", ", "; ")
_MAX_PLACES = 64
_MAX_REPORT_BYTES = 2047  # bytes; a longer report is truncated
_NAME = "framedex: "


class HandlerCrashes:
    """Parser of crash reports; one object per text."""

    is_rare = True
    state_attributes = ()
    triggers = (" in the FFI handler of '",)

    def parse_line(self, number: int, line: str, *, is_in_stack: bool) -> ParsedLine | None:
        """Return the stack of the call, innermost first. If several calls are possible, each is an alternative."""
        report = _REPORT.search(line)
        if report is None:
            return None
        frames = list(_parse_called_lines(number, line, report))
        if len(frames) > 1 and len(f"{_NAME}{line[report.start() :]}".encode()) >= _MAX_REPORT_BYTES:
            frames.pop()
        if not frames:
            frames = [TextFrame(StackFormat.PYTHON_TRACE, number, report.start(), number, report.end("title"))]
        frames[0] = replace(frames[0], ffi_target=report["target"], ffi_stage=report["stage"])
        return ParsedLine(
            StackFormat.PYTHON_TRACE, tuple(frames), opening_title=report["title"], closing_title=report["title"]
        )

    def extend_frame(self, frame: TextFrame, number: int, line: str) -> TextFrame | None:
        """Return None: a report has one line."""
        return None

    def belongs_to_stack(self, line: str) -> bool:
        """Return False: a report has one line."""
        return False


def _parse_called_lines(number: int, line: str, report: re.Match[str]) -> Iterator[TextFrame]:
    """Yield the lines of the calls, in report order."""
    position, separator = report.end(), ""
    for _ in range(_MAX_PLACES):
        found = _PLACE.match(line, position)
        if found is None:
            return
        frame = replace(build_frame(StackFormat.PYTHON_TRACE, number, found), language=Language.PYTHON)
        is_other_call = report["several"] is not None and separator not in ("", _CALLER)
        yield replace(frame, is_alternative=is_other_call)
        separator = next((each for each in _SEPARATORS if line.startswith(each, found.end())), "")
        if not separator:
            return
        position = found.end() + len(separator)
