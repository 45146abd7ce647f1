"""Parsers of Linux profilers and tracers: `perf script`, `strace -k`, bpftrace, and bcc's memleak.

Sources: tools/perf/util/evsel_fprintf.c (sample__fprintf_callchain); strace's src/unwind.c; bpftrace's documentation of
kstack and ustack; bcc's tools/memleak.py. None prints load addresses, so only symbols can be looked up.
"""

from __future__ import annotations

import re
from dataclasses import replace

from framedex.model import Language
from framedex.patterns import compiled_on_use
from framedex.text_stacks.model import Format, PartKind, Piece, TextFrame
from framedex.text_stacks.readers.native.frames import behind
from framedex.text_stacks.text.margins import Margin
from framedex.text_stacks.text.spans import matched, with_place

_PERF = compiled_on_use(
    r"\t *(?P<address>[0-9a-f]{1,16}) (?P<function>\S.*?)(?:\+(?P<behind>0x[0-9a-f]{1,16}))? "
    r"\((?P<module>[/\[][^()]*|inlined)(?: \(deleted\))?\)$"
)
_PERF_WIDTH = 16  # width of an address, with leading blanks
_PERF_SOURCE = compiled_on_use(r"\s+(?P<path>[^\s:]+\.\w{1,5}):(?P<line>\d{1,9})$")
_PERF_BINARY = compiled_on_use(r"\s+(?:\[[\w.]+\]|\S+)\[[0-9a-f]+\]$")
_STRACE = compiled_on_use(
    r"> (?P<module>/[^()]*|\[\w+\])\((?:(?P<function>[^()+\s].*)\+(?P<behind>0x[0-9a-f]{1,16}))?\) \[0x[0-9a-f]{1,16}\]"
    r"(?: (?P<path>\S+):(?P<line>\d{1,9}))?$"
)
_BPF_HEADING = compiled_on_use(r"(?:^|(?<=[\s\]:>|)]))@\w{0,99}\[[^\[\]]*$")
_BPF = compiled_on_use(r"\s+(?:(?P<function>[^\s\d+,\]].*)\+\d{1,9}|(?P<address>0x[0-9a-f]{1,16}))$")
_MEMLEAK_HEADING = compiled_on_use(r"\d+ bytes in \d+ allocations from stack$")
_MEMLEAK = compiled_on_use(
    r"\s+(?:(?P<address>0x[0-9a-f]{1,16})\s+)?"
    r"(?P<function>\[unknown\]|[^\s+\[].*(?=\+0x))(?:\+0x[0-9a-f]{1,16})? \[(?P<module>[^\[\]]*)\]$"
)
_UNKNOWN = "[unknown]"
_PERF_MAP = compiled_on_use(r"py::(?P<function>[^:]+):(?P<path>.+)$")  # CPython's Python/perf_trampoline.c


class PerfScript:
    """Parser of `perf script` samples and `strace -k` calls; one object per text."""

    is_seldom = True
    remembers = ("_margin", "_waits")
    triggers = ("\t    ", "\tffff", " > /", " > [")

    def __init__(self) -> None:
        self._margin = Margin()
        self._waits = False  # whether the source line of the last frame may follow

    def piece(self, number: int, line: str, *, inside: bool) -> Piece | None:
        """Return the frame on a line."""
        text = line.rstrip()
        if not text.endswith(("]", ")")) and "[0x" not in text:
            return None
        tab = text.rfind("\t")
        match = _PERF.match(text, tab) if tab >= 0 and text.endswith(")") else None
        if match is not None and match.end("address") - tab - 1 == _PERF_WIDTH:
            self._margin = Margin(line[:tab])
            self._waits = True
            return Piece(
                Format.PERF,
                (
                    behind(
                        _known(matched(Format.PERF, number, match)),
                        match["behind"] if match["function"] != _UNKNOWN else None,
                    ),
                ),
            )
        start = text.find("> ") if "[0x" in text else -1
        match = _STRACE.match(text, start) if start >= 0 else None
        if match is None:
            return None
        self._waits = False
        return Piece(Format.STRACE, (behind(_known(matched(Format.STRACE, number, match)), match["behind"]),))

    def extended(self, frame: TextFrame, number: int, line: str) -> TextFrame | None:
        """Return the last frame with the source line below it."""
        start = self._margin.behind(line) if self._waits else None
        self._waits = False
        match = _PERF_SOURCE.match(line.rstrip(), start) if start is not None else None
        return with_place(frame, number, match) if match is not None else None

    def belongs(self, line: str) -> bool:
        """Whether the line is perf's output for a frame without a source line."""
        start = self._margin.behind(line)
        return start is not None and _PERF_BINARY.match(line.rstrip(), start) is not None


class BpfMaps:
    """Parser of stacks that are keys of bpftrace maps, and of memleak's; one object per text."""

    is_seldom = True
    remembers = ("_margin", "_frame")
    triggers = ("@", " allocations from stack")

    def __init__(self) -> None:
        self._margin = Margin()
        self._frame = _BPF

    def piece(self, number: int, line: str, *, inside: bool) -> Piece | None:
        """Return the beginning of a key, or a frame."""
        text = line.rstrip()
        if "@" in text or text.endswith(" from stack"):
            of_bpf = _BPF_HEADING.search(text)
            heading = of_bpf or _MEMLEAK_HEADING.search(text)
            if heading is not None:
                self._margin = Margin(line[: heading.start()])
                self._frame = _BPF if of_bpf else _MEMLEAK
                return Piece(Format.BPF, begins=heading[0])
        start = self._margin.behind(text) if inside else None
        match = self._frame.match(text, start) if start is not None else None
        return Piece(Format.BPF, (_known(matched(Format.BPF, number, match)),)) if match is not None else None

    def extended(self, frame: TextFrame, number: int, line: str) -> TextFrame | None:
        """Return None: a frame has one line."""
        return None

    def belongs(self, line: str) -> bool:
        """Whether the line separates two stacks of one key."""
        start = self._margin.behind(line)
        return start is not None and line[start:].strip() == ","


def _known(frame: TextFrame) -> TextFrame:
    """Return the frame without words for unknown values, as native code if its name can be looked up.

    Names of the kernel, and plain names without a binary, are unrelated to functions of that name elsewhere.
    """
    if (python := _PERF_MAP.match(frame.function)) is not None:
        return _of_python(frame, python)
    function = "" if frame.function == _UNKNOWN else frame.function
    module = "" if frame.module in (_UNKNOWN, "inlined") else frame.module
    kept = [kind for kind, text in ((PartKind.FUNCTION, function), (PartKind.MODULE, module)) if text]
    parts = tuple(
        part for part in frame.parts if part.kind not in (PartKind.FUNCTION, PartKind.MODULE) or part.kind in kept
    )
    is_native = "::" in function or function.startswith("_Z") or module.startswith("/")
    language = Language.NATIVE if is_native else None
    return replace(frame, function=function, module=module, parts=parts, language=language)


def _of_python(frame: TextFrame, name: re.Match[str]) -> TextFrame:
    """Return the frame of a CPython trampoline, which is named after a function and its file.

    The perf map is not a binary.
    """
    word = next(part for part in frame.parts if part.kind is PartKind.FUNCTION)
    cut = replace(word, start=word.start + name.start("function"), end=word.start + name.end("function"))
    path = replace(word, kind=PartKind.PATH, start=word.start + name.start("path"), end=word.end)
    kept = [part for part in frame.parts if part.kind is PartKind.ADDRESS]
    parts = (*kept, cut, path)
    return replace(frame, function=name["function"], module="", parts=parts, language=Language.PYTHON)
