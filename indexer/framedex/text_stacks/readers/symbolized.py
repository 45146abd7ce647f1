"""Parsers of numbered, already symbolized frames: sanitizers, LLVM, PyTorch, coredumpctl, lldb, boost and others.

Sources:
- compiler-rt, lib/sanitizer_common/sanitizer_stacktrace_printer.cpp and sanitizer_symbolizer_report.cpp
- LLVM, lib/Support/Signals.cpp; Chromium, base/debug/stack_trace_posix.cc
- PyTorch, c10/util/Backtrace.cpp and torch/csrc/profiler/combined_traceback.cpp
- systemd, src/shared/elf-util.c; Android, libunwindstack (FormatFrame); LLDB's default frame-format
- Boost.Stacktrace (to_string); backward-cpp (Printer); cpptrace (formatting.cpp)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

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
from framedex.text_stacks.model import PartKind, StackFormat, TextFrame

_BUILD_ID = compile_on_use(r" *\(BuildId: (?P<build_id>[0-9a-fA-F]{2,64})\)$")
_OFFSET = compile_on_use(r" ?\+ ?(?P<offset>0x[0-9a-fA-F]{1,16})\)")
_MODULE = compile_on_use(r"[^\s()+=,:]+\)$")
_IN_LIBRARY = compile_on_use(
    r" \+ (?P<behind>(?:0x)?[0-9a-f]{1,16}) \((?P<address>0x[0-9a-f]{1,16}) in (?P<module>.+)\)$"
)
_ADDRESS = compile_on_use(r"0x[0-9a-fA-F]{1,16}(?=\s|$)")
_SOURCE_FILE = compile_on_use(r"\.(?:c|cc|cpp|cxx|cu|h|hh|hpp|inc|S|rs|swift|m|mm)$")
_PC = compile_on_use(r"pc (?P<offset>[0-9a-f]{8,16})\s+")
_PLUS = compile_on_use(r" \+ \d{1,12}$")
_BOOST = compile_on_use(r"\s*(?P<number>\d{1,4})# (?=\S)")
_OBJECT = compile_on_use(r'Object "(?P<module>[^"]*)", at (?P<address>0x[0-9a-f]{1,16})(?:, in (?P<function>\S.*))?$')
_SOURCE = compile_on_use(r'(?:\| *)?Source "(?P<path>[^"]+)", line (?P<line>\d{1,9})(?:, in (?P<function>\S.*))?')
_ADDRESS_AT_END = compile_on_use(r" \[(?P<address>0x[0-9a-f]{1,16})\]$")
_SUFFIXES = (" [opt]", " [artificial]", " [inlined]")
_INLINED = " [inlined] "
_BRACKETS = {"(": ")", "<": ">", "[": "]", "{": "}"}
_PADDED = len("0x") + 16


@dataclass(frozen=True, slots=True)
class FrameHead:
    """The head of a numbered frame (`#3 0x7f12 in `); `span` is the number with its mark, `end` the column after it."""

    span: Span
    number: int
    address: Span | None
    has_in: bool
    end: int

    @property
    def begin(self) -> int:
        """The start column of the frame."""
        return self.span[0]

    def spans(self) -> dict[PartKind, Span]:
        """Return the spans of number and address."""
        known = {PartKind.NUMBER: self.span}
        return known if self.address is None else {**known, PartKind.ADDRESS: self.address}


def _parse_sanitizer(head: FrameHead, number: int, text: str) -> TextFrame | None:
    """Parse `in f(int) /a.cc:3:4`, `f /a.cc:3 (lib+0x12)`, `in f (lib+0x12) (BuildId: ab)`."""
    start, end = head.end, len(text)
    spans = head.spans()
    build_id = _BUILD_ID.search(text, max(start, end - 90))
    if build_id is not None:
        end = build_id.start()
    offset = None
    if text.endswith(")", 0, end) and (column := find_opening_parenthesis(text, end - 1, start)) >= 0:
        plus = _OFFSET.match(text, text.rfind("+", column, end))
        if plus is not None and plus.end() == end and plus.start() > column + 1:
            spans[PartKind.MODULE] = column + 1, plus.start()
            offset, end = int(plus["offset"], 16), column
        elif text[column:end] == "(<unknown module>)" and head.address is not None:
            end = column
            offset = -1
    end = strip_span(text, start, end)[1]
    source = find_source_spans(text, start, end)
    if head.address is None and offset is None:  # a number, some words and a location: this is prose
        return None
    if source:
        spans |= source
        end = strip_span(text, start, source[PartKind.PATH][0])[1]
    elif offset is None:
        word = text.rfind(" ", start, end)
        if not head.has_in or word < 0 or _SOURCE_FILE.search(text, word, end) is None:
            return None
        end = strip_span(text, start, word)[1]  # the file is known, but not the line
    elif text.endswith(" <null>", start, end):
        end -= len(" <null>")
    spans[PartKind.FUNCTION] = start, end
    frame = build_native_frame(StackFormat.SANITIZER, number, text, (head.begin, len(text)), spans, number=head.number)
    # The sanitizers print return addresses minus one. LLVM, which pads addresses, prints return addresses.
    is_llvm = head.address is not None and head.address[1] - head.address[0] == _PADDED and not head.has_in
    frame = replace(frame, is_return_address=is_llvm and head.number != 0)
    return set_offset(frame, offset, build_id=build_id[1] if build_id else "") if offset and offset > 0 else frame


def _parse_chromium(head: FrameHead, number: int, text: str) -> TextFrame | None:
    """Parse `0x55d0 base::f() [../../base/f.cc:12:3]`, or the name alone."""
    if head.address is None or head.has_in:
        return None
    spans = head.spans()
    end = len(text)
    bracket = text.rfind(" [", head.end)
    if bracket >= 0 and text.endswith("]") and (source := find_source_spans(text, bracket + 2, len(text) - 1)):
        spans |= source
        end = bracket
    elif not is_symbol(text[head.end :]) or " (" in text[head.end :]:
        return None
    spans[PartKind.FUNCTION] = strip_span(text, head.end, end)
    frame = build_native_frame(StackFormat.SANITIZER, number, text, (head.begin, len(text)), spans, number=head.number)
    return replace(frame, is_return_address=head.number != 0)


def _parse_coredumpctl(head: FrameHead, number: int, text: str) -> TextFrame | None:
    """Parse `0x00007f12 raise (libc.so.6 + 0x3bfb2)`, or `0x00007f12 raise (libc.so.6)` of old versions."""
    if head.address is None or head.has_in or not text.endswith(")"):
        return None
    column = find_opening_parenthesis(text, len(text) - 1, head.end)
    if column <= head.end or text[column - 1] != " ":
        return None
    plus = _OFFSET.match(text, text.rfind(" + 0x", column))
    is_old = head.address[1] - head.address[0] == _PADDED and _MODULE.match(text, column + 1) is not None
    if (plus is None or plus.end() != len(text)) and not is_old:
        return None
    spans = head.spans()
    spans[PartKind.FUNCTION] = strip_span(text, head.end, column)
    spans[PartKind.MODULE] = column + 1, plus.start() if plus is not None else len(text) - 1
    frame = build_native_frame(
        StackFormat.COREDUMPCTL, number, text, (head.begin, len(text)), spans, number=head.number
    )
    frame = replace(frame, is_return_address=head.number != 0)
    return set_offset(frame, int(plus["offset"], 16)) if frame.module and plus is not None else frame


def _parse_torch(head: FrameHead, number: int, text: str) -> TextFrame | None:
    """Parse `f(int) + 0x1a (0x7f12 in /lib/libc10.so)`, or `f(int) from /a.cpp:12` with line tables."""
    column = text.rfind(" (0x", head.end)
    plus = text.rfind(" + ", head.end, column) if column >= 0 else -1
    match = _IN_LIBRARY.match(text, plus) if plus >= 0 else None
    spans = head.spans()
    if match is not None:
        spans[PartKind.FUNCTION] = head.end, plus
        spans[PartKind.ADDRESS] = match.span("address")
        spans[PartKind.MODULE] = match.span("module")
        frame = build_native_frame(StackFormat.TORCH, number, text, (head.begin, len(text)), spans, number=head.number)
        frame = replace(frame, is_return_address=True)
        return add_offset(frame, match["behind"]) if match["behind"].startswith("0x") else frame
    column = text.rfind(" from ", head.end)
    source = find_source_spans(text, column + len(" from "), len(text)) if column > head.end else {}
    path = text[slice(*source[PartKind.PATH])] if source else ""
    if head.address is not None or not source or not is_symbol(text[head.end : column]):
        return None
    if path != "??" and ("." not in path or PartKind.COLUMN in source or source[PartKind.PATH][0] != column + 6):
        return None
    frame = build_native_frame(
        StackFormat.TORCH,
        *(number, text, (head.begin, len(text))),
        {**spans, **source, PartKind.FUNCTION: (head.end, column)},
        number=head.number,
    )
    return replace(frame, language=Language.PYTHON) if path.endswith(".py") else frame


def _parse_tombstone(head: FrameHead, number: int, text: str) -> TextFrame | None:
    """Parse `pc 0000000000012345  /system/lib64/libc.so (abort+164) (BuildId: ab)`."""
    pc = _PC.match(text, head.end)
    if pc is None:
        return None
    end = len(text)
    build_id = _BUILD_ID.search(text, max(pc.end(), end - 90))
    if build_id is not None:
        end = build_id.start()
    spans = head.spans()
    for _ in range(2):  # the symbol, and the library's offset in an archive
        column = find_opening_parenthesis(text, end - 1, pc.end()) if text.endswith(")", 0, end) else -1
        if column <= pc.end() or text[column - 1] != " ":
            break
        if not text.startswith("(offset ", column):
            plus = text.rfind("+", column, end)
            if plus < 0 or not text[plus + 1 : end - 1].isdigit():
                break
            spans[PartKind.FUNCTION] = column + 1, plus
        end = column - 1
    spans[PartKind.MODULE] = strip_span(text, pc.end(), end)
    frame = build_native_frame(StackFormat.TOMBSTONE, number, text, (head.begin, len(text)), spans, number=head.number)
    return set_offset(frame, int(pc["offset"], 16), build_id=build_id[1] if build_id else "")


def parse_debugger_frame(head: FrameHead, number: int, text: str) -> TextFrame | None:
    """Parse the text after `frame #N: `, of lldb or PyTorch."""
    address = _ADDRESS.match(text, head.end)
    if address is None or text.startswith(" + ", address.end()):
        return _parse_torch(head, number, text)
    spans = {**head.spans(), PartKind.ADDRESS: address.span()}
    end, labels = len(text), []
    while text.endswith(_SUFFIXES, 0, end):
        suffix = next(each for each in _SUFFIXES if text.endswith(each, 0, end))
        labels.append(suffix[2:-1])
        end -= len(suffix)
    tick = text.find("`", address.end(), end)
    if tick >= 0:
        spans[PartKind.MODULE] = strip_span(text, address.end(), tick)
        column = text.rfind(" at ", tick, end)
        source = find_source_spans(text, column + 4, end) if column >= 0 else {}
        if source:
            source[PartKind.PATH] = column + 4, source[PartKind.PATH][1]
            spans |= source
            end = column
        plus = _PLUS.search(text, max(end - 16, tick), end)
        end = plus.start() if plus is not None else end
        inlined = text.rfind(_INLINED, tick, end)
        if inlined >= 0:
            labels.append("inlined")
        start = inlined + len(_INLINED) if inlined >= 0 else tick + 1
        spans[PartKind.FUNCTION] = start, _find_name_end(text, start, end)
    frame = build_native_frame(StackFormat.LLDB, number, text, (head.begin, len(text)), spans, number=head.number)
    return replace(frame, is_return_address=head.number != 0, labels=tuple(labels[::-1]))


def _find_name_end(text: str, start: int, end: int) -> int:
    """Return the end column of a name printed by lldb with argument values: `f(x=1)`."""
    closing = text.rfind(")", start, end)
    column = find_opening_parenthesis(text, closing, start) if closing > start else -1
    return column if column > start and "=" in text[column:closing] else end


def parse_boost_frame(number: int, text: str) -> TextFrame | None:
    """Parse ` 0# f(int) at /a.cc:12`, ` 1# 0x000055 in ./a.out` or ` 2# f(int) at :0`."""
    match = _BOOST.match(text)
    if match is None:
        return None
    start, end = match.end(), len(text)
    head_span = match.start("number"), match.end("number") + 1
    spans = {PartKind.NUMBER: head_span}
    column = text.rfind(" at ", start)
    source = find_source_spans(text, column + 4, end) if column > start else {}
    if source:
        spans |= {**source, PartKind.PATH: (column + 4, source[PartKind.PATH][1])}
    elif text.endswith(" at :0"):  # libstdc++ without line tables
        column = end - len(" at :0")
    else:
        column = text.rfind(" in ", start)
        if column <= start:
            return None
        spans[PartKind.MODULE] = column + 4, end
        if not re.search(r"[/.]", text[column + 4 :]):
            return None
    if not is_symbol(text[start:column]):
        return None
    address = _ADDRESS.match(text, start)
    is_address = address is not None and address.end() == column
    spans[PartKind.ADDRESS if is_address else PartKind.FUNCTION] = start, column
    frame = build_native_frame(
        StackFormat.BACKTRACE, number, text, (head_span[0], end), spans, number=int(match["number"])
    )
    return replace(frame, is_return_address=True)


def parse_described_frame(head: FrameHead | None, number: int, text: str, start: int) -> TextFrame | None:
    """Parse backward-cpp's `Object "a.out", at 0x55d0, in f` or `Source "/a.cc", line 12, in f`.

    Inlined frames have no head.
    """
    start, end = strip_span(text, start, len(text))
    spans = head.spans() if head is not None else {}
    address = _ADDRESS_AT_END.search(text, max(end - 24, start))
    if address is not None:
        spans[PartKind.ADDRESS] = address.span("address")
    match = _OBJECT.match(text, start) or _SOURCE.match(text, start, address.start() if address is not None else end)
    if match is None:
        return None
    spans |= {PartKind(kind): match.span(kind) for kind, words in match.groupdict().items() if words}
    number_of_frame = head.number if head is not None else None
    bounds = head.begin if head is not None else start, end
    frame = build_native_frame(StackFormat.BACKTRACE, number, text, bounds, spans, number=number_of_frame)
    return replace(frame, is_return_address=True)


def _parse_cpptrace(head: FrameHead, number: int, text: str) -> TextFrame | None:
    """Parse `0x000055d0 in f(int) at /a.cc:3:4`, `(inlined) in f(int) at /a.cc:3:4`, `0x000055d0 at /lib/libc.so.6`."""
    spans, start = head.spans(), head.end
    if text.startswith("(inlined) ", start):
        start = strip_span(text, start + len("(inlined)"), len(text))[0]
        start += len("in ") if text.startswith("in ", start) else 0
    elif head.address is None:
        return None
    column = start - 1 if text.startswith("at ", start) else text.rfind(" at ", start)
    if column < start - 1 or not (head.has_in or start != head.end or column < start):
        return None
    source = find_source_spans(text, column + len(" at "), len(text))
    if source:
        spans |= {**source, PartKind.PATH: (column + len(" at "), source[PartKind.PATH][1])}
    elif column < start:
        spans[PartKind.MODULE] = column + len(" at "), len(text)
    else:
        return None
    if column > start:
        spans[PartKind.FUNCTION] = start, column
    frame = build_native_frame(StackFormat.BACKTRACE, number, text, (head.begin, len(text)), spans, number=head.number)
    return replace(frame, is_return_address=head.number != 0)


def _parse_backward(head: FrameHead, number: int, text: str) -> TextFrame | None:
    is_one = text.startswith(("Object ", "Source ", "| Source "), head.end)
    return parse_described_frame(head, number, text, head.end) if is_one else None


def is_symbol(text: str) -> bool:
    """Whether a text may be a function name rather than prose: its blanks are in brackets, or few."""
    if "\t" in text or ": " in text:
        return False
    depth, blanks = 0, 0
    for character in text:
        if character in _BRACKETS:
            depth += 1
        elif depth and character in ")]}>":
            depth -= 1
        elif character == " " and not depth:
            blanks += 1
    return bool(text) and (
        not blanks or "::" in text or (blanks <= _MAX_WORDS and re.search(r"\w[<(]", text) is not None)
    )


_MAX_WORDS = 3  # `non-virtual thunk to f(int) const`

FORMS: Sequence[Callable[[FrameHead, int, str], TextFrame | None]] = (
    _parse_tombstone,
    _parse_backward,
    _parse_cpptrace,
    _parse_torch,
    _parse_coredumpctl,
    _parse_sanitizer,
    _parse_chromium,
)
"""Parsers of the text after `#N`, in call order."""
