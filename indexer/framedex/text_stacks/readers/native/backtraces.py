"""Parser of frames with a binary and an address, as printed by the handlers of glibc, Apple and LLVM.

Sources:
- glibc, debug/backtracesyms.c and backtracesymsfd.c
- Open MPI's opal/util/stacktrace.c, dmlc's logging.h and Ray's logging.cc, which number and demangle those lines
- Apple's backtrace_symbols(3), crash reports and sample(1)
- LLVM, lib/Support/Unix/Signals.inc (PrintStackTrace without a symbolizer); UCX, src/ucs/debug/debug.c
"""

from __future__ import annotations

import re
from dataclasses import replace

from framedex.patterns import compiled_on_use
from framedex.text_stacks.model import Format, PartKind, Piece, TextFrame
from framedex.text_stacks.readers.native.frames import (
    Span,
    at_offset,
    behind,
    native_frame,
    opening,
    source_spans,
    without_blanks,
)

_AT = compiled_on_use(r"\) ?\[(?P<address>0x[0-9a-f]{1,16})\](?: (?P<function>\S.*))?$")
_BARE = compiled_on_use(r"\s*(?P<module>\.{0,2}/[^()\[\]\s]{1,4096})\[(?P<address>0x[0-9a-f]{1,16})\]$")
_MARK = compiled_on_use(
    r"\s*(?:\[ ?(?P<number>\d{1,4})\] +|\[bt\] \((?P<bt>\d{1,4})\) +|-+ +|(?:frame )?#(?P<hash>\d{1,4}):? +)?"
)
_IN_LIBRARY = compiled_on_use(r"(?P<function>[^+]*)\+(?P<offset>0x[0-9a-f]{1,16})$")
_MOST_AFTER = 4096  # maximum length of a demangled name after the address

_COUNTED = compiled_on_use(r"\s*(?P<number>\d{1,4})\s+(?=\S)")
_APPLE_ADDRESS = compiled_on_use(r"(?P<address>0x[0-9a-fA-F]{6,16})(?=\s|$)")
_PLUS = compiled_on_use(r" \+ (?P<offset>\d{1,12})$")
_LOADED = compiled_on_use(r"(?:0x[0-9a-fA-F]{1,16}|\d{1,20})$")
_ALONE = compiled_on_use(r"\s*(?:\[ ?\d{1,4}\] +)?\[(?P<address>0x[0-9a-f]{4,16})\]$")
_LONGEST_MODULE = 256

_TREE = compiled_on_use(r"[ \t+!:|*]*\d{1,9} (?=\S)")
_IN_MODULE = compiled_on_use(
    r"  \(in (?P<module>[^()]{1,256})\)"
    r"(?: \+ [\d,.]{1,40}|  load address 0x[0-9a-f]{1,16} \+ (?P<offset>0x[0-9a-f]{1,16}))?"
    r"  \[(?P<address>0x[0-9a-f]{1,16})[^\[\]]{0,80}\](?:  (?P<path>[^\s:]+):(?P<line>\d{1,9}))?$"
)


class BacktraceLines:
    """Parser of all these forms; one object per text."""

    is_seldom = False
    remembers = ()
    triggers = ("  (in ", ")[0x", ") [0x", "0x00", "  0x", "\t0x", "Stack dump:")

    def piece(self, number: int, line: str, *, inside: bool) -> Piece | None:
        """Return the frame on a line, or LLVM's heading."""
        if "0x" not in line:
            return Piece(Format.BACKTRACE, begins="Stack dump") if line.startswith("Stack dump:") else None
        text = line.rstrip()
        frame = (
            _of_sample(number, text)
            or frame_of_glibc(number, text)
            or _of_apple(number, text)
            or (_of_nothing(number, text) if inside else None)
        )
        is_inward = "  (in " in text  # the tree of `sample` is outermost first
        return Piece(Format.BACKTRACE, (frame,), innermost_first=not is_inward) if frame is not None else None

    def extended(self, frame: TextFrame, number: int, line: str) -> TextFrame | None:
        """Return None: a frame has one line."""
        return None

    def belongs(self, line: str) -> bool:
        """Whether the line is one that LLVM prints between its heading and the frames."""
        return bool(re.match(r"\d{1,3}\.\t", line))


def frame_of_glibc(number: int, text: str) -> TextFrame | None:
    """Parse `/lib/libc.so.6(abort+0x12) [0x7f12]`, `./a.out(+0x1139)[0x55d0]`, `./a.out() [0x401136]`."""
    bare = _BARE.match(text)
    if bare is not None:
        spans = {PartKind.MODULE: bare.span("module"), PartKind.ADDRESS: bare.span("address")}
        frame = native_frame(Format.BACKTRACE, number, text, (bare.start("module"), bare.end()), spans)
        return replace(frame, is_return_address=True)
    column = max(text.find(")[0x"), text.find(") [0x"))
    match = _AT.match(text, column) if column >= 0 and len(text) - column < _MOST_AFTER else None
    begin = opening(text, column) if match is not None else -1
    if match is None or begin <= 0:
        return None
    mark = _MARK.match(text)
    start = _module_start(text, mark.end() if mark is not None else 0, begin)
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
    frame = native_frame(Format.BACKTRACE, number, text, (_first(spans), len(text)), spans, number=number_of_frame)
    frame = replace(frame, is_return_address=True)
    return behind(frame, place["offset"]) if place is not None else frame


def _of_nothing(number: int, text: str) -> TextFrame | None:
    """Parse `[0x7f12]`, glibc's form for an address outside all binaries."""
    match = _ALONE.match(text)
    if match is None:
        return None
    spans = {PartKind.ADDRESS: match.span("address")}
    return replace(native_frame(Format.BACKTRACE, number, text, match.span(), spans), is_return_address=True)


def _module_start(text: str, least: int, end: int) -> int:
    """Return the start column of the path that ends at a column, after any log prefix."""
    if text.startswith(("/", "./", "../"), least):
        return least
    column = max(text.rfind(" /", least, end), text.rfind(" ./", least, end))
    return (column if column >= 0 else max(text.rfind(" ", least, end), least - 1)) + 1


def _of_ucx(number: int, text: str, counted: re.Match[str], column: int) -> TextFrame | None:
    """Parse `1 0x000000000001bb4f ncclGroupEnd()  /nccl/src/group.cc:12`; an unknown location is `???:0`."""
    address = _APPLE_ADDRESS.match(text, column)
    gap = text.rfind("  ", column)
    source = source_spans(text, gap + 2, len(text)) if gap > column else {}
    if address is None or not source or gap <= address.end():
        return None
    spans = {
        PartKind.NUMBER: counted.span("number"),
        PartKind.ADDRESS: address.span("address"),
        PartKind.FUNCTION: without_blanks(text, address.end(), gap),
        **source,
        PartKind.PATH: (gap + 2, source[PartKind.PATH][1]),
    }
    bounds = counted.start("number"), len(text)
    return native_frame(Format.BACKTRACE, number, text, bounds, spans, number=int(counted["number"]))


def _of_sample(number: int, text: str) -> TextFrame | None:
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
    frame = native_frame(Format.BACKTRACE, number, text, (tree.end(), len(text)), spans)
    frame = replace(frame, is_return_address=True)
    return at_offset(frame, int(match["offset"], 16)) if match["offset"] else frame


def _first(spans: dict[PartKind, Span]) -> int:
    return min(start for start, _ in spans.values())


def _of_apple(number: int, text: str) -> TextFrame | None:
    """Parse `3   libfoo.dylib   0x0000000104b2c1f3 foo::bar(int) + 123 (foo.cc:12)`; LLVM's form is the same."""
    counted = _COUNTED.match(text)
    if counted is None:
        return None
    column = text.find("0x", counted.end(), counted.end() + _LONGEST_MODULE)
    if column == counted.end():
        return _of_ucx(number, text, counted, column)
    address = _APPLE_ADDRESS.match(text, column) if column > counted.end() else None
    module = without_blanks(text, counted.end(), column) if address is not None else (0, 0)
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
        source = source_spans(text, bracket + 2, end - 1)
        if source:
            source[PartKind.PATH] = bracket + 2, source[PartKind.PATH][1]
            spans |= source
            end = bracket
    plus = _PLUS.search(text, max(end - 18, address.end()), end)
    offset = None
    if plus is not None:
        name = without_blanks(text, start, plus.start())
        if _LOADED.match(text[slice(*name)]):  # without a symbol, the offset counts from the binary's load address
            offset = int(plus["offset"])
        else:
            spans[PartKind.FUNCTION] = name
    elif text[start:end].strip() == "???":  # code outside all binaries
        pass
    elif start < end or address.end("address") - address.start("address") < len("0x") + 16:
        return None
    frame = native_frame(
        Format.BACKTRACE, number, text, (counted.start("number"), len(text)), spans, number=int(counted["number"])
    )
    frame = replace(frame, is_return_address=frame.number != 0)
    return at_offset(frame, offset) if offset is not None else frame
