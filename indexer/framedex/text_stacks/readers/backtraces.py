"""Parsers of frames with a binary and an address, and of lists of symbols below a heading.

Sources of frames with a binary and an address:
- glibc, debug/backtracesyms.c and backtracesymsfd.c
- Open MPI's opal/util/stacktrace.c, dmlc's logging.h and Ray's logging.cc, which number and demangle those lines
- Apple's backtrace_symbols(3), crash reports and sample(1)
- LLVM, lib/Support/Unix/Signals.inc (PrintStackTrace without a symbolizer); UCX, src/ucs/debug/debug.c

Sources of lists:
- TSL's stacktrace.h, which PyTorch/XLA prints (`*** Begin stack trace ***`)
- tt-metal's assert.hpp (`backtrace:`, then ` --- f()`)
- PyTorch/XLA's debug_utils (`Python Frame Triggered Execution:`)
- pybind11's error_string (`At:`, then `  /a.py(31): f`)
"""

from __future__ import annotations

import re
from dataclasses import replace
from enum import Enum, auto

from framedex.base.lazy import compile_on_use
from framedex.model import Language
from framedex.text_stacks.frames import (
    Span,
    add_offset,
    build_native_frame,
    find_opening_parenthesis,
    find_source_spans,
    set_offset,
    strip_span,
)
from framedex.text_stacks.model import ParsedLine, PartKind, StackFormat, TextFrame
from framedex.text_stacks.readers.symbolized import is_symbol

_BRACKETED_ADDRESS = compile_on_use(r"\) ?\[(?P<address>0x[0-9a-f]{1,16})\](?: (?P<function>\S.*))?$")
_BARE = compile_on_use(r"\s*(?P<module>\.{0,2}/[^()\[\]\s]{1,4096})\[(?P<address>0x[0-9a-f]{1,16})\]$")
_MARK = compile_on_use(
    r"\s*(?:\[ ?(?P<number>\d{1,4})\] +|\[bt\] \((?P<bt>\d{1,4})\) +|-+ +|(?:frame )?#(?P<hash>\d{1,4}):? +)?"
)
_IN_LIBRARY = compile_on_use(r"(?P<function>[^+]*)\+(?P<offset>0x[0-9a-f]{1,16})$")
_MAX_NAME_LENGTH = 4096  # maximum length of a demangled name after the address

_FRAME_NUMBER = compile_on_use(r"\s*(?P<number>\d{1,4})\s+(?=\S)")
_APPLE_ADDRESS = compile_on_use(r"(?P<address>0x[0-9a-fA-F]{6,16})(?=\s|$)")
_PLUS = compile_on_use(r" \+ (?P<offset>\d{1,12})$")
_LOADED = compile_on_use(r"(?:0x[0-9a-fA-F]{1,16}|\d{1,20})$")
_BARE_ADDRESS = compile_on_use(r"\s*(?:\[ ?\d{1,4}\] +)?\[(?P<address>0x[0-9a-f]{4,16})\]$")
_MAX_MODULE_LENGTH = 256

_TREE = compile_on_use(r"[ \t+!:|*]*\d{1,9} (?=\S)")
_IN_MODULE = compile_on_use(
    r"  \(in (?P<module>[^()]{1,256})\)"
    r"(?: \+ [\d,.]{1,40}|  load address 0x[0-9a-f]{1,16} \+ (?P<offset>0x[0-9a-f]{1,16}))?"
    r"  \[(?P<address>0x[0-9a-f]{1,16})[^\[\]]{0,80}\](?:  (?P<path>[^\s:]+):(?P<line>\d{1,9}))?$"
)


class BacktraceLines:
    """Parser of all these forms; one object per text."""

    is_rare = False
    state_attributes = ()
    triggers = ("  (in ", ")[0x", ") [0x", "0x00", "  0x", "\t0x", "Stack dump:")

    def parse_line(self, number: int, line: str, *, is_in_stack: bool) -> ParsedLine | None:
        """Return the frame on a line, or LLVM's heading."""
        if "0x" not in line:
            return (
                ParsedLine(StackFormat.BACKTRACE, opening_title="Stack dump")
                if line.startswith("Stack dump:")
                else None
            )
        text = line.rstrip()
        frame = (
            _parse_sample_frame(number, text)
            or parse_glibc_frame(number, text)
            or _parse_apple_frame(number, text)
            or (_parse_bare_address(number, text) if is_in_stack else None)
        )
        is_inward = "  (in " in text  # the tree of `sample` is outermost first
        return ParsedLine(StackFormat.BACKTRACE, (frame,), innermost_first=not is_inward) if frame is not None else None

    def extend_frame(self, frame: TextFrame, number: int, line: str) -> TextFrame | None:
        """Return None: a frame has one line."""
        return None

    def belongs_to_stack(self, line: str) -> bool:
        """Whether the line is one that LLVM prints between its heading and the frames."""
        return bool(re.match(r"\d{1,3}\.\t", line))


def parse_glibc_frame(number: int, text: str) -> TextFrame | None:
    """Parse `/lib/libc.so.6(abort+0x12) [0x7f12]`, `./a.out(+0x1139)[0x55d0]`, `./a.out() [0x401136]`."""
    bare = _BARE.match(text)
    if bare is not None:
        spans = {PartKind.MODULE: bare.span("module"), PartKind.ADDRESS: bare.span("address")}
        frame = build_native_frame(StackFormat.BACKTRACE, number, text, (bare.start("module"), bare.end()), spans)
        return replace(frame, is_return_address=True)
    column = max(text.find(")[0x"), text.find(") [0x"))
    match = _BRACKETED_ADDRESS.match(text, column) if column >= 0 and len(text) - column < _MAX_NAME_LENGTH else None
    begin = find_opening_parenthesis(text, column) if match is not None else -1
    if match is None or begin <= 0:
        return None
    mark = _MARK.match(text)
    start = _find_module_start(text, mark.end() if mark is not None else 0, begin)
    module = start, begin
    inner = text[begin + 1 : column]
    place = _IN_LIBRARY.match(inner)
    if not inner:
        is_counted = mark is not None and mark.lastgroup is not None and mark.end() == start
        if not is_counted and not {"/", "."} & set(text[slice(*module)]):
            return None
    elif place is None:
        return None
    spans = {PartKind.MODULE: module, PartKind.ADDRESS: match.span("address")}
    if match["function"] is not None and match["function"] != "()":
        spans[PartKind.FUNCTION] = match.span("function")
    elif place is not None and place["function"]:
        spans[PartKind.FUNCTION] = begin + 1, begin + 1 + place.end("function")
    number_of_frame = None
    if mark is not None and mark.lastgroup is not None:
        spans[PartKind.NUMBER] = mark.span(mark.lastgroup)
        number_of_frame = int(mark[mark.lastgroup])
    frame = build_native_frame(
        StackFormat.BACKTRACE, number, text, (_find_first_column(spans), len(text)), spans, number=number_of_frame
    )
    frame = replace(frame, is_return_address=True)
    return add_offset(frame, place["offset"]) if place is not None else frame


def _parse_bare_address(number: int, text: str) -> TextFrame | None:
    """Parse `[0x7f12]`, glibc's form for an address outside all binaries."""
    match = _BARE_ADDRESS.match(text)
    if match is None:
        return None
    spans = {PartKind.ADDRESS: match.span("address")}
    return replace(build_native_frame(StackFormat.BACKTRACE, number, text, match.span(), spans), is_return_address=True)


def _find_module_start(text: str, least: int, end: int) -> int:
    """Return the start column of the path that ends at a column, after any log prefix."""
    if text.startswith(("/", "./", "../"), least):
        return least
    column = max(text.rfind(" /", least, end), text.rfind(" ./", least, end))
    return (column if column >= 0 else max(text.rfind(" ", least, end), least - 1)) + 1


def _parse_ucx_frame(number: int, text: str, counted: re.Match[str], column: int) -> TextFrame | None:
    """Parse `1 0x000000000001bb4f ncclGroupEnd()  /nccl/src/group.cc:12`; an unknown location is `???:0`."""
    address = _APPLE_ADDRESS.match(text, column)
    gap = text.rfind("  ", column)
    source = find_source_spans(text, gap + 2, len(text)) if gap > column else {}
    if address is None or not source or gap <= address.end():
        return None
    spans = {
        PartKind.NUMBER: counted.span("number"),
        PartKind.ADDRESS: address.span("address"),
        PartKind.FUNCTION: strip_span(text, address.end(), gap),
        **source,
        PartKind.PATH: (gap + 2, source[PartKind.PATH][1]),
    }
    bounds = counted.start("number"), len(text)
    return build_native_frame(StackFormat.BACKTRACE, number, text, bounds, spans, number=int(counted["number"]))


def _parse_sample_frame(number: int, text: str) -> TextFrame | None:
    """Parse ` + ! 260 f(int)  (in libfoo.dylib) + 12  [0x104b2c1f3]  foo.cc:12` in the tree printed by `sample`."""
    column = text.find("  (in ")
    tree = _TREE.match(text) if column >= 0 else None
    match = _IN_MODULE.match(text, column) if tree is not None and tree.end() < column else None
    if tree is None or match is None:
        return None
    spans = {
        PartKind(kind): match.span(kind) for kind, words in match.groupdict().items() if words and kind != "offset"
    }
    spans[PartKind.FUNCTION] = tree.end(), column
    frame = build_native_frame(StackFormat.BACKTRACE, number, text, (tree.end(), len(text)), spans)
    frame = replace(frame, is_return_address=True)
    return set_offset(frame, int(match["offset"], 16)) if match["offset"] else frame


def _find_first_column(spans: dict[PartKind, Span]) -> int:
    return min(start for start, _ in spans.values())


def _parse_apple_frame(number: int, text: str) -> TextFrame | None:
    """Parse `3   libfoo.dylib   0x0000000104b2c1f3 foo::bar(int) + 123 (foo.cc:12)`; LLVM's form is the same."""
    counted = _FRAME_NUMBER.match(text)
    if counted is None:
        return None
    column = text.find("0x", counted.end(), counted.end() + _MAX_MODULE_LENGTH)
    if column == counted.end():
        return _parse_ucx_frame(number, text, counted, column)
    address = _APPLE_ADDRESS.match(text, column) if column > counted.end() else None
    module = strip_span(text, counted.end(), column) if address is not None else (0, 0)
    if address is None or "  " in text[slice(*module)] or not text[column - 1].isspace():
        return None
    spans = {
        PartKind.NUMBER: counted.span("number"),
        PartKind.MODULE: module,
        PartKind.ADDRESS: address.span("address"),
    }
    start, end = address.end() + 1, len(text)
    source = {}
    if text.endswith(")") and (bracket := text.rfind(" (", start)) >= 0:
        source = find_source_spans(text, bracket + 2, end - 1)
        if source:
            source[PartKind.PATH] = bracket + 2, source[PartKind.PATH][1]
            spans |= source
            end = bracket
    plus = _PLUS.search(text, max(end - 18, address.end()), end)
    offset = None
    if plus is not None:
        name = strip_span(text, start, plus.start())
        if _LOADED.match(text[slice(*name)]):  # without a symbol, the offset counts from the binary's load address
            offset = int(plus["offset"])
        else:
            spans[PartKind.FUNCTION] = name
    elif text[start:end].strip() == "???":  # code outside all binaries
        pass
    elif start < end or address.end("address") - address.start("address") < len("0x") + 16:
        return None
    frame = build_native_frame(
        StackFormat.BACKTRACE, number, text, (counted.start("number"), len(text)), spans, number=int(counted["number"])
    )
    frame = replace(frame, is_return_address=frame.number != 0)
    return set_offset(frame, offset) if offset is not None else frame


_BEGIN_MARK, _END_MARK = "*** Begin stack trace ***", "*** End stack trace ***"
_DASHES = compile_on_use(r"\s*--- (?=\S)")
_CALL = compile_on_use(r"\((?P<line>\d{1,9})\): (?P<function>[\w.<>]+)$")
_FLAT = compile_on_use(r"(?<!\S)(?P<path>[^\s()]+\.py|<\w+>)\((?P<line>\d{1,9})\): (?P<function>[\w.<>]+)")
_CALLER = compile_on_use(r"(?:pt-xla-profiler:)?\s+(?P<function>[\w.<>]+) \((?P<path>.{1,4096}):(?P<line>\d{1,9})\)$")
_CERTAIN_NAME = compile_on_use(r"::|\w\(|^_\w*$")
_PYTHON = (".py", ".pyx", ".pyi", ">")


class _List(Enum):
    SYMBOLS = auto()
    DASHES = auto()
    CALLS = auto()
    CALLERS = auto()


_HEADINGS = {
    "backtrace:": _List.DASHES,
    "At:": _List.CALLS,
    "Python Frame Triggered Execution:": _List.CALLERS,
    "TensorsGraphInfo:": _List.CALLERS,
}
_HEADING = compile_on_use(rf"(?:^|\s)({'|'.join(_HEADINGS)})$")


class SymbolLists:
    """Parser of all these lists; one object per text."""

    is_rare = False
    state_attributes = ("_list", "_prefix")
    triggers = (_BEGIN_MARK, *_HEADINGS)

    def __init__(self) -> None:
        self._list = _List.SYMBOLS
        self._prefix = ""  # the prefix of every line, of an unknown log

    def parse_line(self, number: int, line: str, *, is_in_stack: bool) -> ParsedLine | None:
        """Return a heading, or an entry below it."""
        text = line.rstrip()
        if _BEGIN_MARK in text:
            self._list, self._prefix = _List.SYMBOLS, text[: text.find(_BEGIN_MARK)]
            return ParsedLine(StackFormat.TSL, opening_title=text[text.find(_BEGIN_MARK) :].strip())
        heading = _HEADING.search(text) if text.endswith(":") else None
        if heading is not None:
            self._list, self._prefix = _HEADINGS[heading[1]], text[: heading.start(1)]
            return ParsedLine(_FORMATS[self._list], opening_title=text.strip())
        if "At:" in text and (flat := self._parse_joined_lines(number, text)) is not None:
            return flat
        if not is_in_stack:
            return None
        if self._list is _List.SYMBOLS and _END_MARK in text:
            return ParsedLine(StackFormat.TSL, closing_title=_BEGIN_MARK)
        frame = self._parse_frame(number, text, len(self._prefix) if text.startswith(self._prefix) else 0)
        return ParsedLine(frame.format, (frame,)) if frame is not None else None

    def extend_frame(self, frame: TextFrame, number: int, line: str) -> TextFrame | None:
        """Return None: a frame has one line."""
        return None

    def belongs_to_stack(self, line: str) -> bool:
        """Return False: any other line ends the list."""
        return False

    def _parse_joined_lines(self, number: int, text: str) -> ParsedLine | None:
        """Return all calls of a message whose lines a log has joined."""
        matches = _FLAT.finditer(text, text.find("At:"))
        frames = [_build_python_frame(StackFormat.CALLBACK, number, text, 0, match) for match in matches]
        known = tuple(frame for frame in frames if frame is not None)
        return ParsedLine(StackFormat.CALLBACK, known, opening_title="At:", closing_title="At:") if known else None

    def _parse_frame(self, number: int, text: str, begin: int) -> TextFrame | None:
        form = _FORMATS[self._list]
        if self._list in (_List.CALLS, _List.CALLERS):
            match = _CALL.search(text, begin) if self._list is _List.CALLS else _CALLER.match(text, begin)
            return _build_python_frame(form, number, text, begin, match) if match is not None else None
        dashes = _DASHES.match(text, begin)
        if self._list is _List.DASHES and dashes is None:
            return None
        if (frame := parse_glibc_frame(number, text)) is not None:
            return frame
        start, end = strip_span(text, dashes.end() if dashes is not None else begin, len(text))
        if '"' in text or not is_symbol(text[start:end]):
            return None
        if start == begin and not _CERTAIN_NAME.search(text):  # an unrelated line: entries of the list are indented
            return None
        return build_native_frame(form, number, text, (start, end), {PartKind.FUNCTION: (start, end)})


def _build_python_frame(
    form: StackFormat, number: int, text: str, begin: int, match: re.Match[str]
) -> TextFrame | None:
    spans = {PartKind(kind): match.span(kind) for kind in match.groupdict()}
    path = spans.setdefault(PartKind.PATH, strip_span(text, begin, match.start()))  # all text before the call
    if not text[slice(*path)].endswith(_PYTHON):
        return None
    start = min(path[0], match.start("function"))
    return replace(build_native_frame(form, number, text, (start, match.end()), spans), language=Language.PYTHON)


_FORMATS = {
    _List.SYMBOLS: StackFormat.TSL,
    _List.DASHES: StackFormat.BACKTRACE,
    _List.CALLS: StackFormat.CALLBACK,
    _List.CALLERS: StackFormat.TORCH,
}
