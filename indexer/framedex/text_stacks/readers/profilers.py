"""Parsers of profilers and tracers: py-spy, `perf script`, `strace -k`, bpftrace, and bcc's memleak.

Sources:
- `py-spy dump` as text and with `--json`: benfred/py-spy, src/dump.rs and src/stack_trace.rs
- tools/perf/util/evsel_fprintf.c (sample__fprintf_callchain); strace's src/unwind.c
- bpftrace's documentation of kstack and ustack; bcc's tools/memleak.py

The native tools print no load addresses, so only symbols can be looked up.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace

from framedex.base.lazy import compile_on_use
from framedex.model import Language
from framedex.text_stacks.frames import (
    Margin,
    add_location,
    add_offset,
    build_frame,
    build_parts,
    find_text_columns,
    parse_location,
)
from framedex.text_stacks.model import ParsedLine, PartKind, StackFormat, TextFrame, TextLocation, TextPart

_THREAD = compile_on_use(r'Thread (?:0x)?[\da-fA-F]+ \([\w+ -]+\)(?:: ".*")?$')
_FRAME = compile_on_use(r" {4}(?P<function>\S.*?) \((?P<path>[^()]+?)(?::(?P<line>\d{1,9}))?\)$")
_ADDRESS = compile_on_use(r"0x[0-9a-f]{1,16}")
_PYTHON = (".py", ".pyx", ".pyi", ">")


class PySpyText:
    """Parser of the text form, which prints only the last component of file paths."""

    is_rare = False
    state_attributes = ("_margin",)
    triggers = ("Thread ",)

    def __init__(self) -> None:
        self._margin = Margin()

    def parse_line(self, number: int, line: str, *, is_in_stack: bool) -> ParsedLine | None:
        """Return the heading of a thread, or a frame below it."""
        begin = self._margin.column_after(line) if is_in_stack else None
        if begin is not None and line.startswith("    ", begin):
            match = _FRAME.match(line, begin)
            if match is None:
                return None
            is_python = match["path"].endswith(_PYTHON)
            return ParsedLine(StackFormat.PY_SPY, (_build_py_spy_frame(number, match, is_python),))
        start = len(line) - len(line.lstrip())
        if not line.startswith("Thread ", start) or _THREAD.match(line, start) is None:
            return None
        self._margin = Margin(line[:start])
        return ParsedLine(StackFormat.PY_SPY, opening_title=line.strip())

    def extend_frame(self, frame: TextFrame, number: int, line: str) -> TextFrame | None:
        """Return None: a frame has one line."""
        return None

    def belongs_to_stack(self, line: str) -> bool:
        """Whether the line is an argument or local below its frame, as printed with `--locals`."""
        start = self._margin.column_after(line)
        return start is not None and line.startswith("        ", start)


def _build_py_spy_frame(number: int, match: re.Match[str], is_python: bool) -> TextFrame:
    frame = _build_named_frame(number, match, is_python)
    if is_python or _ADDRESS.fullmatch(frame.function) is None:
        return frame
    # A frame of a library without symbols.
    parts = tuple(
        replace(part, kind=PartKind.ADDRESS) if part.kind is PartKind.FUNCTION else part for part in frame.parts
    )
    return replace(frame, function="", address=int(frame.function, 16), parts=parts)


def _build_named_frame(number: int, match: re.Match[str], is_python: bool) -> TextFrame:
    return TextFrame(
        StackFormat.PY_SPY,
        number,
        match.start("function"),
        number,
        match.end(),
        build_parts(number, match),
        function=match["function"],
        place=parse_location(match["path"], match["line"]),
        language=Language.PYTHON if is_python else Language.NATIVE,
        module="" if match["line"] or is_python else match["path"],
    )


_FIELD = compile_on_use(
    r'(?P<indent> *)"(?P<key>\w+)": (?P<value>"(?:[^"\\]|\\.)*"|\d{1,18}|null|true|false)?,?(?:\[)?$'
)


class PySpyJson:
    """Parser of the JSON form as printed by py-spy: one field per line, so each frame has its own lines in the text."""

    is_rare = False
    state_attributes = ("_thread", "_indent")
    triggers = ('"frames": [', '"thread_name": ')

    def __init__(self) -> None:
        self._thread = ""
        self._indent: int | None = None

    def parse_line(self, number: int, line: str, *, is_in_stack: bool) -> ParsedLine | None:
        """Return the beginning of a thread's frames, or of one frame."""
        match = _FIELD.match(line) if line[:1] == " " else None
        if match is None:
            return None
        if match["key"] == "frames":
            return ParsedLine(StackFormat.PY_SPY_JSON, opening_title=f"Thread {self._thread}")
        if match["key"] == "thread_name" and match["value"]:
            self._thread = match["value"].strip('"')
        if not is_in_stack or match["key"] != "name" or not match["value"]:
            return None
        if self._indent is None:
            self._indent = len(match["indent"])
        if len(match["indent"]) != self._indent:  # a local variable of the frame
            return None
        start, end = find_text_columns(line)
        part = TextPart(PartKind.FUNCTION, number, match.start("value") + 1, match.end("value") - 1)
        frame = TextFrame(
            StackFormat.PY_SPY_JSON,
            number,
            start,
            number,
            end,
            (part,),
            function=_decode_name(match["value"]),
            language=Language.PYTHON,
        )
        return ParsedLine(StackFormat.PY_SPY_JSON, (frame,))

    def extend_frame(self, frame: TextFrame, number: int, line: str) -> TextFrame | None:
        """Return the frame with the file or the line, which follow the name."""
        match = _FIELD.match(line)
        if match is None or len(match["indent"]) != self._indent or match["key"] == "name":
            return None
        longer = replace(frame, last_line=number, end=len(line.rstrip()))
        if match["key"] == "filename" and match["value"] and frame.place is None:
            part = TextPart(PartKind.PATH, number, match.start("value") + 1, match.end("value") - 1)
            return replace(longer, parts=(*frame.parts, part), place=TextLocation(_decode_name(match["value"]), 0))
        if match["key"] == "line" and frame.place and not frame.place.line and (match["value"] or "").isdigit():
            part = TextPart(PartKind.LINE, number, *match.span("value"))
            return replace(
                longer, parts=(*frame.parts, part), place=TextLocation(frame.place.path, int(match["value"]))
            )
        return longer

    def belongs_to_stack(self, line: str) -> bool:
        """Whether the line is inside the list of frames."""
        return self._indent is None or not line.startswith(" " * (self._indent - 4) + "]")


def _decode_name(text: str) -> str:
    try:
        return str(json.loads(text))
    except ValueError:
        return text.strip('"')


_PERF = compile_on_use(
    r"\t *(?P<address>[0-9a-f]{1,16}) (?P<function>\S.*?)(?:\+(?P<behind>0x[0-9a-f]{1,16}))? "
    r"\((?P<module>[/\[][^()]*|inlined)(?: \(deleted\))?\)$"
)
_PERF_WIDTH = 16  # width of an address, with leading blanks
_PERF_SOURCE = compile_on_use(r"\s+(?P<path>[^\s:]+\.\w{1,5}):(?P<line>\d{1,9})$")
_PERF_BINARY = compile_on_use(r"\s+(?:\[[\w.]+\]|\S+)\[[0-9a-f]+\]$")
_STRACE = compile_on_use(
    r"> (?P<module>/[^()]*|\[\w+\])\((?:(?P<function>[^()+\s].*)\+(?P<behind>0x[0-9a-f]{1,16}))?\) \[0x[0-9a-f]{1,16}\]"
    r"(?: (?P<path>\S+):(?P<line>\d{1,9}))?$"
)
_BPF_HEADING = compile_on_use(r"(?:^|(?<=[\s\]:>|)]))@\w{0,99}\[[^\[\]]*$")
_BPF = compile_on_use(r"\s+(?:(?P<function>[^\s\d+,\]].*)\+\d{1,9}|(?P<address>0x[0-9a-f]{1,16}))$")
_MEMLEAK_HEADING = compile_on_use(r"\d+ bytes in \d+ allocations from stack$")
_MEMLEAK = compile_on_use(
    r"\s+(?:(?P<address>0x[0-9a-f]{1,16})\s+)?"
    r"(?P<function>\[unknown\]|[^\s+\[].*(?=\+0x))(?:\+0x[0-9a-f]{1,16})? \[(?P<module>[^\[\]]*)\]$"
)
_UNKNOWN = "[unknown]"
_PERF_MAP = compile_on_use(r"py::(?P<function>[^:]+):(?P<path>.+)$")  # CPython's Python/perf_trampoline.c


class PerfScript:
    """Parser of `perf script` samples and `strace -k` calls; one object per text."""

    is_rare = True
    state_attributes = ("_margin", "_waits")
    triggers = ("\t    ", "\tffff", " > /", " > [")

    def __init__(self) -> None:
        self._margin = Margin()
        self._waits = False  # whether the source line of the last frame may follow

    def parse_line(self, number: int, line: str, *, is_in_stack: bool) -> ParsedLine | None:
        """Return the frame on a line."""
        text = line.rstrip()
        if not text.endswith(("]", ")")) and "[0x" not in text:
            return None
        tab = text.rfind("\t")
        match = _PERF.match(text, tab) if tab >= 0 and text.endswith(")") else None
        if match is not None and match.end("address") - tab - 1 == _PERF_WIDTH:
            self._margin = Margin(line[:tab])
            self._waits = True
            return ParsedLine(
                StackFormat.PERF,
                (
                    add_offset(
                        _drop_unknown_values(build_frame(StackFormat.PERF, number, match)),
                        match["behind"] if match["function"] != _UNKNOWN else None,
                    ),
                ),
            )
        start = text.find("> ") if "[0x" in text else -1
        match = _STRACE.match(text, start) if start >= 0 else None
        if match is None:
            return None
        self._waits = False
        return ParsedLine(
            StackFormat.STRACE,
            (add_offset(_drop_unknown_values(build_frame(StackFormat.STRACE, number, match)), match["behind"]),),
        )

    def extend_frame(self, frame: TextFrame, number: int, line: str) -> TextFrame | None:
        """Return the last frame with the source line below it."""
        start = self._margin.column_after(line) if self._waits else None
        self._waits = False
        match = _PERF_SOURCE.match(line.rstrip(), start) if start is not None else None
        return add_location(frame, number, match) if match is not None else None

    def belongs_to_stack(self, line: str) -> bool:
        """Whether the line is perf's output for a frame without a source line."""
        start = self._margin.column_after(line)
        return start is not None and _PERF_BINARY.match(line.rstrip(), start) is not None


class BpfMaps:
    """Parser of stacks that are keys of bpftrace maps, and of memleak's; one object per text."""

    is_rare = True
    state_attributes = ("_margin", "_frame")
    triggers = ("@", " allocations from stack")

    def __init__(self) -> None:
        self._margin = Margin()
        self._frame = _BPF

    def parse_line(self, number: int, line: str, *, is_in_stack: bool) -> ParsedLine | None:
        """Return the beginning of a key, or a frame."""
        text = line.rstrip()
        if "@" in text or text.endswith(" from stack"):
            of_bpf = _BPF_HEADING.search(text)
            heading = of_bpf or _MEMLEAK_HEADING.search(text)
            if heading is not None:
                self._margin = Margin(line[: heading.start()])
                self._frame = _BPF if of_bpf else _MEMLEAK
                return ParsedLine(StackFormat.BPF, opening_title=heading[0])
        start = self._margin.column_after(text) if is_in_stack else None
        match = self._frame.match(text, start) if start is not None else None
        return (
            ParsedLine(StackFormat.BPF, (_drop_unknown_values(build_frame(StackFormat.BPF, number, match)),))
            if match is not None
            else None
        )

    def extend_frame(self, frame: TextFrame, number: int, line: str) -> TextFrame | None:
        """Return None: a frame has one line."""
        return None

    def belongs_to_stack(self, line: str) -> bool:
        """Whether the line separates two stacks of one key."""
        start = self._margin.column_after(line)
        return start is not None and line[start:].strip() == ","


def _drop_unknown_values(frame: TextFrame) -> TextFrame:
    """Return the frame without words for unknown values, as native code if its name can be looked up.

    Names of the kernel, and plain names without a binary, are unrelated to functions of that name elsewhere.
    """
    if (python := _PERF_MAP.match(frame.function)) is not None:
        return _python_trampoline_frame(frame, python)
    function = "" if frame.function == _UNKNOWN else frame.function
    module = "" if frame.module in (_UNKNOWN, "inlined") else frame.module
    kept = [kind for kind, text in ((PartKind.FUNCTION, function), (PartKind.MODULE, module)) if text]
    parts = tuple(
        part for part in frame.parts if part.kind not in (PartKind.FUNCTION, PartKind.MODULE) or part.kind in kept
    )
    is_native = "::" in function or function.startswith("_Z") or module.startswith("/")
    language = Language.NATIVE if is_native else None
    return replace(frame, function=function, module=module, parts=parts, language=language)


def _python_trampoline_frame(frame: TextFrame, name: re.Match[str]) -> TextFrame:
    """Return the frame of a CPython trampoline, which is named after a function and its file.

    The perf map is not a binary.
    """
    word = next(part for part in frame.parts if part.kind is PartKind.FUNCTION)
    cut = replace(word, start=word.start + name.start("function"), end=word.start + name.end("function"))
    path = replace(word, kind=PartKind.PATH, start=word.start + name.start("path"), end=word.end)
    kept = [part for part in frame.parts if part.kind is PartKind.ADDRESS]
    parts = (*kept, cut, path)
    return replace(frame, function=name["function"], module="", parts=parts, language=Language.PYTHON)
