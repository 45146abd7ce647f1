"""Parser of frames numbered with `#`: debuggers, sanitizers, LLVM and others.

Sources: gdb/stack.c (print_frame) and CPython's Tools/gdb/libpython.py (py-bt); PyTorch,
c10/util/Exception.cpp; the other forms are in `symbolized`.
gdb wraps long frames and indents the continuation lines.
"""

from __future__ import annotations

import re
from dataclasses import replace

from framedex.base.lazy import compile_on_use
from framedex.model import Language
from framedex.text_stacks.frames import (
    Span,
    build_native_frame,
    build_parts,
    find_argument_list,
    find_source_at_end,
    find_source_spans,
)
from framedex.text_stacks.model import ParsedLine, PartKind, StackFormat, TextFrame, TextLocation, TextPart
from framedex.text_stacks.readers.symbolized import (
    FORMS,
    FrameHead,
    parse_boost_frame,
    parse_debugger_frame,
    parse_described_frame,
)

_FRAME = compile_on_use(
    r"(?:^|[\s\]|])#(?P<number>\d{1,6})\s+(?:(?P<address>0x[0-9a-fA-F]{1,16})(?=\s)\s+)?(?P<in>in )?(?=\S)"
)
_COLON = compile_on_use(r"(?:^|[\s\]|])(?P<mark>(?:\* )?frame )#(?P<number>\d{1,6}): (?=\S)")
_PYTHON = compile_on_use(
    r"#(?P<number>\d{1,6}) Frame 0x[0-9a-f]+, for file (?P<path>[^,]+), line (?P<line>\d{1,9}), "
    r"in (?P<function>[^\s(]+)"
)
_RUNTIME_ERROR = compile_on_use(
    r"(?:^|(?<=:))\s*(?P<path>[^\s:][^:]*):(?P<line>\d{1,9}):(?P<column>\d{1,9}): runtime error: "
)
_REPORT = compile_on_use(r"==\d+==\s?(?:ERROR|WARNING): \w+Sanitizer: .*|WARNING: ThreadSanitizer: .*")
_FURTHER_STACK = compile_on_use(r"(?:allocated|freed) by thread [TM]\d+.* here:$")
_THREAD = compile_on_use(r"Thread \d+ \((?:Thread|LWP) .*\):$|\*? *thread #\d+.*")
_ACCESS = compile_on_use(r" *(?:READ|WRITE|Read|Write|Atomic \w+) of size |\[Switching to |No (?:locals|symbol table)")
_RAISED_FROM, _FRAMES_FOLLOW = "Exception raised from ", " (most recent call first):"
_MAX_WRAPPED_LINES = 64


class NumberedLines:
    """Parser of all numbered forms; one object per text."""

    is_rare = False
    state_attributes = ("_shows_locals", "_is_cut")
    triggers = (
        *(f"#{digit}" for digit in range(10)),
        *(f"{digit}# " for digit in range(10)),
        *(": runtime error: ", "Sanitizer: ", " by thread ", "| Source ", "   Source "),
        _RAISED_FROM,
    )

    def __init__(self) -> None:
        self._shows_locals = False  # whether gdb prints locals below each frame
        self._is_cut = False  # whether gdb continues the frame on the next line

    def parse_line(self, number: int, line: str, *, is_in_stack: bool) -> ParsedLine | None:
        """Return a frame, the heading of a thread or a report, or the location of a UBSan error or a c10 exception."""
        found = self._parse_numbered(number, line, is_in_stack) if "#" in line or 'Source "' in line else None
        if found is not None:
            self._shows_locals = found.format is StackFormat.GDB
            self._is_cut = not line.rstrip().endswith((")", "<signal handler called>"))
            return found
        if _RAISED_FROM in line:
            return _parse_raised(number, line.rstrip())
        if ": runtime error: " in line:
            return _parse_runtime_error(number, line)
        report = _REPORT.search(line) if "Sanitizer: " in line else None
        if report is not None:
            return ParsedLine(StackFormat.SANITIZER, opening_title=report[0].strip())
        # Further stacks of one report: allocation and deallocation.
        if " by thread " in line and _FURTHER_STACK.search(line):
            return ParsedLine(StackFormat.SANITIZER, opening_title=line.strip())
        if "hread " in line[:12] and _THREAD.match(line):
            return ParsedLine(StackFormat.LLDB if "#" in line[:12] else StackFormat.GDB, opening_title=line.strip())
        return None

    def extend_frame(self, frame: TextFrame, number: int, line: str) -> TextFrame | None:
        """Return the frame with a line wrapped by gdb. The location or the library ends it."""
        is_wrapped = frame.format is StackFormat.GDB and _measure_indentation(line) >= 3
        if not is_wrapped or frame.place or frame.module or number - frame.first_line > _MAX_WRAPPED_LINES:
            return None
        text = line.rstrip()
        if not self._is_cut and not text.lstrip().startswith(("at ", "from ", "(")):
            return None
        self._is_cut = not text.endswith(")")
        longer = replace(frame, last_line=number, end=len(text))
        return _add_gdb_location(longer, number, text, 0) or longer

    def belongs_to_stack(self, line: str) -> bool:
        """Whether the line is gdb's final message, a local, or the access in a sanitizer report."""
        if line.startswith(("Backtrace stopped", "(More stack frames follow")) or _ACCESS.match(line) is not None:
            return True
        return self._shows_locals and _measure_indentation(line) >= 4

    def _parse_numbered(self, number: int, line: str, is_in_stack: bool) -> ParsedLine | None:
        """Return the frame on a line, if any."""
        text = line.rstrip()
        match = _FRAME.search(text)
        if match is not None and not _is_quoted(text, match.start("number")):
            return self._parse_frame(number, text, match, is_in_stack)
        match = _COLON.search(text)
        if match is not None:
            head = FrameHead(_number_span(match), int(match["number"]), None, has_in=False, end=match.end())
            frame = parse_debugger_frame(head, number, text)
            frame = replace(frame, start=match.start("mark")) if frame is not None else None
        else:
            frame = parse_boost_frame(number, text) if "# " in text else None
        if frame is None and 'Source "' in text:
            frame = parse_described_frame(None, number, text, 0)
        return ParsedLine(frame.format, (frame,)) if frame is not None else None

    def _parse_frame(self, number: int, text: str, match: re.Match[str], is_in_stack: bool) -> ParsedLine | None:
        begin, start = match.start("number") - 1, match.end()
        python = _PYTHON.match(text, begin) if text.startswith("Frame 0x", start) else None
        if python is not None:
            return _build_python_frame(number, text, python)
        head = FrameHead(
            _number_span(match),
            int(match["number"]),
            match.span("address") if match["address"] else None,
            has_in=match["in"] is not None,
            end=start,
        )
        if text[start:].strip() == "in":  # the name was truncated
            return None
        arguments = find_argument_list(text[start:])
        frame = None
        if arguments > 0:
            bare = _build_gdb_frame(head, number, text, (start, start + arguments))
            frame = _add_gdb_location(bare, number, text, start)
        for form in FORMS:
            frame = frame or form(head, number, text)
        if frame is not None:
            # backward-cpp prints the outermost frame, with the highest number, first.
            return ParsedLine(
                frame.format, (frame,), innermost_first=not text.startswith(("Object ", "Source "), start)
            )
        is_cut = arguments > 0 and text.endswith(",") and "=" in text[start + arguments :]
        if (head.address or is_in_stack or is_cut) and (arguments > 0 or text.startswith("<", start) or head.has_in):
            return ParsedLine(
                StackFormat.GDB,
                (_build_gdb_frame(head, number, text, (start, _find_name_end(text, start, arguments))),),
            )
        return None


def _number_span(match: re.Match[str]) -> Span:
    return match.start("number") - 1, match.end("number")


def _build_gdb_frame(head: FrameHead, number: int, text: str, name: Span) -> TextFrame:
    spans = {**head.spans(), PartKind.FUNCTION: name}
    frame = build_native_frame(StackFormat.GDB, number, text, (head.begin, len(text)), spans, number=head.number)
    # gdb prints return addresses, except for frame 0, where it stopped.
    return replace(frame, is_return_address=head.number != 0)


def _find_name_end(text: str, start: int, arguments: int) -> int:
    return start + arguments if arguments > 0 else len(text)


def _add_gdb_location(frame: TextFrame, number: int, text: str, start: int) -> TextFrame | None:
    """Return the frame with the location or library at the end of gdb's text; None if there is neither."""
    column = text.rfind(") at ")
    indented = len(text) - len(text.lstrip())
    at = column + 1 if column >= 0 else (indented - 1 if text.startswith("at ", indented) and not start else -1)
    if at >= start and (found := find_source_at_end(text)) is not None:
        path, line = (at + 4, found[1]), found[2].span(1)
        pieces = [TextPart(PartKind.PATH, number, *path), TextPart(PartKind.LINE, number, *line)]
        if found[2][2]:
            pieces.append(TextPart(PartKind.COLUMN, number, *found[2].span(2)))
        place = TextLocation(text[slice(*path)], int(text[slice(*line)]), int(found[2][2] or 0))
        return replace(frame, parts=(*frame.parts, *pieces), place=place if place.line else None)
    column = text.rfind(") from ")
    library = column + 1 if column >= 0 else (indented - 1 if text.startswith("from ", indented) and not start else -1)
    if library >= start and text[library + 6 :].strip() and not find_source_at_end(text):
        part = TextPart(PartKind.MODULE, number, library + 6, len(text))
        return replace(frame, parts=(*frame.parts, part), module=text[library + 6 :])
    return None


def _build_python_frame(number: int, text: str, match: re.Match[str]) -> ParsedLine:
    place = TextLocation(match["path"], int(match["line"]))
    frame = TextFrame(
        StackFormat.GDB,
        *(number, match.start(), number, len(text)),
        build_parts(number, match),
        number=int(match["number"]),
        function=match["function"],
        place=place,
        language=Language.PYTHON,
    )
    return ParsedLine(StackFormat.GDB, (frame,))


def _is_quoted(text: str, column: int) -> bool:
    """Whether a column is inside a string, a value or a comment, as in locals and sources shown by debuggers."""
    before = text[:column]
    return any(mark in before for mark in ('"', " = ", "<<", "//", ";"))


def _measure_indentation(line: str) -> int:
    """Return the width of a line's indentation. A tab counts as 4 columns, more than the 3 of a wrapped line."""
    blanks = len(line) - len(line.lstrip())
    return blanks + 3 * line.count("\t", 0, blanks) if blanks < len(line) else 0


def _parse_raised(number: int, text: str) -> ParsedLine | None:
    """Parse the location of a c10 exception in its heading: `Exception raised from f at /a.cpp:3 (most ...`."""
    begin = text.find(_RAISED_FROM)
    at = text.rfind(" at ", begin + len(_RAISED_FROM))
    if at < 0 or not text.endswith(_FRAMES_FOLLOW):
        return None
    function = begin + len(_RAISED_FROM), at
    source = find_source_spans(text, at + len(" at "), len(text) - len(_FRAMES_FOLLOW))
    if not source:
        return None
    spans = {**source, PartKind.PATH: (at + len(" at "), source[PartKind.PATH][1]), PartKind.FUNCTION: function}
    bounds = function[0], len(text) - len(_FRAMES_FOLLOW)
    frame = build_native_frame(StackFormat.TORCH, number, text, bounds, spans)
    return ParsedLine(StackFormat.TORCH, (frame,), opening_title=text[begin:at])


def _parse_runtime_error(number: int, line: str) -> ParsedLine | None:
    match = _RUNTIME_ERROR.search(line)
    if match is None:
        return None
    place = TextLocation(match["path"], int(match["line"]), int(match["column"]))
    frame = TextFrame(
        StackFormat.SANITIZER,
        number,
        match.start("path"),
        number,
        match.end("column"),
        build_parts(number, match),
        place=place,
        language=Language.NATIVE,
    )
    return ParsedLine(StackFormat.SANITIZER, (frame,), opening_title=line.strip())
