"""Parsers of native stacks from Windows debuggers, minidumps, the Linux kernel, and valgrind.

Sources:
- Microsoft's documentation of Visual Studio's Call Stack window and of WinDbg's `k`, `kn`, `kp` and `kv`. Visual Studio
  prints a line without a file: such a frame has no location.
- Breakpad's processor/stackwalk_common.cc, which rust-minidump follows, for Breakpad, Chromium, Firefox and Sentry
- the kernel's Documentation/admin-guide/bug-hunting.rst; arch/x86/kernel/dumpstack.c. An entry with a question mark was
  on the stack but may not be a caller.
- valgrind's coregrind/m_execontext.c and m_debuginfo/debuginfo.c
"""

from __future__ import annotations

import re
from dataclasses import replace

from framedex.base.lazy import compile_on_use
from framedex.model import Language
from framedex.text_stacks.frames import (
    Margin,
    build_frame,
    build_native_frame,
    build_parts,
    find_opening_parenthesis,
    find_source_spans,
    strip_span,
)
from framedex.text_stacks.model import ParsedLine, PartKind, StackFormat, TextFrame
from framedex.text_stacks.readers.symbolized import is_symbol

_LINE_START = r"(?:^|(?<=[\s\]:>|)]))"
_BINARY = compile_on_use(
    _LINE_START + r"(?P<module>[\w.+-]+\.(?:dll|exe|pyd|sys|ocx|drv))!(?P<function>[^\t]*[^\t ])(?:\t.*)?$",
    re.IGNORECASE,
)
_ADDRESS = r"[0-9a-f]{8}(?:`?[0-9a-f]{8})?"
_WINDBG = compile_on_use(
    _LINE_START + rf"(?:(?P<position>[0-9a-f]{{2,4}}) )?(?:{_ADDRESS} {_ADDRESS}|\(Inline Function\) -{{8}}`-{{8}}) +"
    r"(?:: (?:[0-9a-f`]{8,17} ){1,8}: +)?(?P<module>\w[\w.+-]{0,99})!(?P<function>[^\[]*[^\[ ])"
    r"(?: +\[(?P<path>[^\[\]]+) @ (?P<line>\d{1,9})\])?$"
)
_NAMELESS = compile_on_use(
    _LINE_START + rf"(?:(?P<position>[0-9a-f]{{2,4}}) )?{_ADDRESS} {_ADDRESS} +(?:: (?:[0-9a-f`]{{8,17}} ){{1,8}}: +)?"
    r"(?:(?P<module>\w[\w.-]{0,99})\+)?(?P<address>0x[0-9a-f`]{1,17})$"
)
_HEADING = compile_on_use(r"(?:Child-SP|ChildEBP) +RetAddr\b.*$")
_AFTER_NAME = compile_on_use(r"(?: +Line \d{1,9}(?: \+ 0x[0-9a-fA-F]+ bytes)?| ?\+ ?0x[0-9a-fA-F]{1,16})$")


class WindowsStacks:
    """Parser of all three; one object per text."""

    is_rare = True
    state_attributes = ()
    triggers = (".dll!", ".exe!", ".pyd!", ".sys!", ".DLL!", ".EXE!", "RetAddr")

    def parse_line(self, number: int, line: str, *, is_in_stack: bool) -> ParsedLine | None:
        """Return the heading of WinDbg's table, or a frame."""
        heading = _HEADING.search(line.rstrip()) if "RetAddr" in line else None
        if heading is not None:
            return ParsedLine(StackFormat.WINDOWS, opening_title=heading[0])
        text = line.rstrip()
        if "!" not in line:
            nameless = _NAMELESS.search(text) if is_in_stack else None
            return (
                ParsedLine(StackFormat.WINDOWS, (_build_nameless_frame(number, nameless),))
                if nameless is not None
                else None
            )
        match = _WINDBG.search(text) if is_in_stack else None
        match = match or _BINARY.search(text)
        frame = _parse_frame(number, match) if match is not None else None
        # Further words beside the name make it a sentence.
        if frame is None or not is_symbol(frame.function):
            return None
        return ParsedLine(StackFormat.WINDOWS, (frame,))

    def extend_frame(self, frame: TextFrame, number: int, line: str) -> TextFrame | None:
        """Return None: a frame has one line."""
        return None

    def belongs_to_stack(self, line: str) -> bool:
        """Whether the line stands for code that the debugger does not show."""
        return "[External Code]" in line or "[Frames below may be incorrect" in line


def _parse_frame(number: int, match: re.Match[str]) -> TextFrame:
    frame = build_frame(StackFormat.WINDOWS, number, match, Language.NATIVE)
    behind = _AFTER_NAME.search(frame.function)
    name = frame.function[: behind.start()] if behind is not None else frame.function
    name = name[: _find_name_end(name)]
    parts = tuple(
        replace(part, end=part.start + len(name)) if part.kind is PartKind.FUNCTION else part for part in frame.parts
    )
    position = match.groupdict().get("position")
    return replace(frame, function=name, parts=parts, number=int(position, 16) if position else None)


def _build_nameless_frame(number: int, match: re.Match[str]) -> TextFrame:
    """Return a frame with only an address, or an offset in a module without symbols."""
    value, position = int(match["address"].replace("`", ""), 16), match["position"]
    return TextFrame(
        StackFormat.WINDOWS,
        number,
        match.start(),
        number,
        match.end(),
        build_parts(number, match),
        number=int(position, 16) if position else None,
        language=Language.NATIVE,
        module=match["module"] or "",
        address=None if match["module"] else value,
        offset=value if match["module"] else None,
    )


def _find_name_end(text: str) -> int:
    """Return the column where the arguments at the end of a function begin, else the end of the text."""
    if not text.endswith(")"):
        return len(text)
    depth = 0
    for index in range(len(text) - 1, 0, -1):
        depth += (text[index] == ")") - (text[index] == "(")
        if depth == 0:
            return index
    return len(text)


_THREAD = compile_on_use(r"(?:^|(?<=[\s\]:>|)]))Thread \d+(?: \S.*)? \(crashed\).*$")
_FRAME = compile_on_use(
    r" ?(?P<number>\d{1,4})  (?P<module>[\w.+-]{1,255})"
    r"(?:!(?P<function>[^\s\[+][^\[]*?)(?: \[(?P<path>[^\[\]]+) : (?P<line>\d{1,9}))?)?(?: \+ 0x[0-9a-f]{1,16}\]?)?$"
)
_CONTINUATION = compile_on_use(r" {4}|Thread \d+\b")


class MinidumpStacks:
    """Parser of minidump stacks; one object per text."""

    is_rare = True
    state_attributes = ("_margin",)
    triggers = (" (crashed)",)

    def __init__(self) -> None:
        self._margin = Margin()

    def parse_line(self, number: int, line: str, *, is_in_stack: bool) -> ParsedLine | None:
        """Return the heading of the crashed thread, or a frame of it or of a later thread."""
        text = line.rstrip()
        heading = _THREAD.search(text) if " (crashed)" in text else None
        if heading is not None:
            self._margin = Margin(line[: heading.start()])
            return ParsedLine(StackFormat.MINIDUMP, opening_title=heading[0])
        start = self._margin.column_after(text) if is_in_stack else None
        match = _FRAME.match(text, start) if start is not None else None
        if match is None:
            return None
        return ParsedLine(StackFormat.MINIDUMP, (build_frame(StackFormat.MINIDUMP, number, match, Language.NATIVE),))

    def extend_frame(self, frame: TextFrame, number: int, line: str) -> TextFrame | None:
        """Return None: a frame has one line, with registers below."""
        return None

    def belongs_to_stack(self, line: str) -> bool:
        """Whether the line has registers, the origin of a frame, or the heading of another thread."""
        start = self._margin.column_after(line)
        return start is not None and _CONTINUATION.match(line, start) is not None


_NAME = r"(?P<function>[A-Za-z_][\w.$]*)\+0x[0-9a-f]{1,16}/0x[0-9a-f]{1,16}(?: \[(?P<module>\w+)(?: [0-9a-f]+)?\])?"
_KERNEL_FRAME = compile_on_use(r"(?:^|(?<=[\s\]:|>)]))(?:(?P<label>\?) )?" + _NAME + "$")
_REGISTER = compile_on_use(r"(?:RIP: [0-9a-f]{4}:|\b(?:pc|lr) : |\bIP: )(?:\[<[0-9a-f]+>\] )?" + _NAME + "$")
_KERNEL_BELONGS = compile_on_use(
    r"</?(?:TASK|IRQ|NMI|SOFTIRQ|EOE)>$|\[ *\d+\.\d+\](?:\[ *[CT]\d+\])?\s*$|\bCode: |\bR[A-Z0-9]{2}: |\bRSP: "
)


class KernelTraces:
    """Parser of kernel traces; one object per text."""

    is_rare = True
    state_attributes = ()
    triggers = ("Call Trace:", "Call trace:", "RIP: 00", " pc : ", " lr : ")

    def parse_line(self, number: int, line: str, *, is_in_stack: bool) -> ParsedLine | None:
        """Return a heading, the failing instruction, or a frame."""
        text = line.rstrip()
        if text.endswith(("Call Trace:", "Call trace:")):
            return ParsedLine(StackFormat.KERNEL, opening_title="Call trace")
        if "+0x" not in text:
            return None
        match = _REGISTER.search(text) if " " in text and ("IP: " in text or " : " in text) else None
        if match is None and is_in_stack:
            match = _KERNEL_FRAME.search(text)
        return ParsedLine(StackFormat.KERNEL, (_parse_kernel_frame(number, match),)) if match is not None else None

    def extend_frame(self, frame: TextFrame, number: int, line: str) -> TextFrame | None:
        """Return None: a frame has one line."""
        return None

    def belongs_to_stack(self, line: str) -> bool:
        """Whether the line has registers, or marks another stack."""
        return _KERNEL_BELONGS.search(line.rstrip()) is not None


def _parse_kernel_frame(number: int, match: re.Match[str]) -> TextFrame:
    # Kernel names have no language, so they are never looked up: a function of the same name elsewhere is unrelated.
    unsure = match.groupdict().get("label") is not None
    return build_frame(StackFormat.KERNEL, number, match, labels=("may be no caller",) if unsure else ())


_LINE = compile_on_use(r"(?:==|--|\*\*)(?:[\d:.]+ )?\d{1,10}(?:==|--|\*\*)(?: |$)")
_VALGRIND_FRAME = compile_on_use(r" *(?:at|by) (?P<address>0x[0-9A-Fa-f]{1,16}): (?=\S)")


class ValgrindLines:
    """Parser of valgrind reports; one object per text."""

    is_rare = False
    state_attributes = ()
    triggers = (" at 0x", " by 0x", *(f"{digit}== " for digit in range(10)))

    def parse_line(self, number: int, line: str, *, is_in_stack: bool) -> ParsedLine | None:
        """Return a frame, or the title of the frames below."""
        start = line.find("==") if "==" in line else line.find("**")
        mark = _LINE.match(line, start) if start >= 0 else None
        if mark is None:
            return None
        match = _VALGRIND_FRAME.match(line, mark.end())
        if match is not None:
            return ParsedLine(StackFormat.VALGRIND, (_parse_valgrind_frame(number, line.rstrip(), start, match),))
        title = line[mark.end() :].strip()
        return ParsedLine(StackFormat.VALGRIND, opening_title=title) if title and "Sanitizer" not in title else None

    def extend_frame(self, frame: TextFrame, number: int, line: str) -> TextFrame | None:
        """Return None: a frame has one line."""
        return None

    def belongs_to_stack(self, line: str) -> bool:
        """Whether the line is another line of a valgrind tool."""
        return _LINE.match(line) is not None


def _parse_valgrind_frame(number: int, text: str, begin: int, match: re.Match[str]) -> TextFrame:
    start, end = match.end(), len(text)
    spans = {PartKind.ADDRESS: match.span("address")}
    column = find_opening_parenthesis(text, end - 1, start) if text.endswith(")") else -1
    if column > start and text[column - 1] == " ":
        source = find_source_spans(text, column + 1, end - 1)
        if source:
            spans |= {**source, PartKind.PATH: (column + 1, source[PartKind.PATH][1])}
            end = column
        elif text.startswith("(in ", column):
            spans[PartKind.MODULE] = column + len("(in "), end - 1
            end = column
    spans[PartKind.FUNCTION] = strip_span(text, start, end)
    return build_native_frame(StackFormat.VALGRIND, number, text, (begin, len(text)), spans)
