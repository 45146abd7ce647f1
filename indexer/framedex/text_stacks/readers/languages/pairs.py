"""Parsers of two-line frames, a function with its location below: Go, Rust, Julia and eu-stack.

A location belongs to a function only on the very next line, as threads that write concurrently may interleave.

Sources:
- elfutils' src/stack.c; Go's runtime/traceback.go; Rust's panicking.rs and backtrace-rs, src/print.rs
- Julia's base/errorshow.jl (print_stackframe) and src/stackwalk.c, whose signal frames have one line
"""

from __future__ import annotations

import re
from dataclasses import replace

from framedex.model import Language
from framedex.patterns import compiled_on_use
from framedex.text_stacks.model import Format, Part, PartKind, Piece, TextFrame
from framedex.text_stacks.text.margins import Margin
from framedex.text_stacks.text.spans import matched, with_place

_BEGINS = r"(?:^|(?<=[\s\]:>|)]))"


class _Pairs:
    """The common base: a margin, and a last frame whose location may be on the next line."""

    place: re.Pattern[str]
    remark: re.Pattern[str]

    def __init__(self) -> None:
        self._margin = Margin()
        self._waits = False

    def extended(self, frame: TextFrame, number: int, line: str) -> TextFrame | None:
        """Return the last frame with the location below it."""
        text, start = self._own(line)
        waits, self._waits = self._waits, False
        match = self.place.match(text) if waits else None
        return with_place(frame, number, match, start) if match is not None else None

    def belongs(self, line: str) -> bool:
        """Whether the line is a remark between the frames."""
        start = self._margin.behind(line)
        return start is not None and self.remark.match(line, start) is not None

    def _begin(self, line: str, heading: re.Match[str]) -> None:
        self._margin = Margin(line[: heading.start()])
        self._waits = False

    def _own(self, line: str) -> tuple[str, int]:
        """Return the line's text and its start column; empty if the margin differs."""
        start = self._margin.behind(line)
        return (line[start:].rstrip(), start) if start is not None else ("", 0)


class GoPairs(_Pairs):
    """Parser of goroutine stacks; one object per text."""

    is_seldom = True
    remembers = ("_margin", "_waits")
    triggers = ("goroutine ", "Goroutine ", " goroutine:", "runtime stack:")
    place = compiled_on_use(r"\s+(?P<path>\S.*):(?P<line>\d{1,9})(?: \+0x[0-9a-f]+)?(?: fp=0x.*)?$")
    remark = compiled_on_use(
        r"\s*\.\.\.\s*(?:additional|\d+) frames elided|goroutine running on other thread|\s+\S+:\d+ \+0x"
    )
    _heading = compiled_on_use(
        _BEGINS + r"(?:goroutine \d+ (?:[\w=. ]{1,99} )?\[[^\[\]]*\]:|runtime stack:"
        # the race detector's reports
        r"|(?:Previous )?(?:[Rr]ead|[Ww]rite) at 0x[0-9a-f]+ by (?:main )?goroutine.*:"
        r"|Goroutine \d+ \(.*\) created at:)$"
    )
    _creator = compiled_on_use(r"created by (?P<function>\S+)(?: in goroutine \d+)?$")
    _function = compiled_on_use(r" {0,2}(?P<function>[^\s(]\S*)$")

    def piece(self, number: int, line: str, *, inside: bool) -> Piece | None:
        """Return the heading of a goroutine, or the function of a frame."""
        text = line.rstrip()
        heading = (
            self._heading.search(text) if text.endswith(":") and ("oroutine" in text or "stack:" in text) else None
        )
        if heading is not None:
            self._begin(line, heading)
            return Piece(Format.GO, begins=heading[0])
        text, start = self._own(line) if inside else ("", 0)
        if not text:
            return None
        match = self._creator.match(text)
        if match is None and text.endswith(")"):
            # Receivers are in brackets too: `main.(*Client).Call(0xc000, ...)`.
            match = self._function.match(text, 0, text.rfind("("))
        if match is None:
            return None
        self._waits = True
        return Piece(Format.GO, (matched(Format.GO, number, match, shift=start),))


class RustPairs(_Pairs):
    """Parser of panics and captured backtraces; one object per text."""

    is_seldom = True
    remembers = ("_margin", "_waits", "_panicked", "_was_placed")
    triggers = ("panicked at ", "tack backtrace:", " BACKTRACE ━")
    place = compiled_on_use(r"\s+at (?P<path>\S.*?):(?P<line>\d{1,9})(?::(?P<column>\d{1,9}))?$")
    remark = compiled_on_use(r"\s*(?:note: |⋮ |stack backtrace:$|\[\.\.\. omitted )|\s+at ")
    _panic = compiled_on_use(
        _BEGINS + r"thread '[^']*' (?:\(\d+\) )?panicked at (?:'.*', )?"
        r"(?P<path>(?:[A-Za-z]:)?[^\s:'][^:']*):(?P<line>\d{1,9}):(?P<column>\d{1,9}):?$"
    )
    _heading = compiled_on_use(_BEGINS + r"[Ss]tack backtrace:$|(?<!━)━{4,} BACKTRACE ━+$")
    _numbered = compiled_on_use(r"\s*(?P<number>\d{1,6}):\s+(?:(?P<address>0x[0-9a-f]{1,16}) - )?(?P<function>\S.*)$")
    _inlined = compiled_on_use(r" {6,}(?!at |⋮)(?P<function>\S.*)$")

    def __init__(self) -> None:
        super().__init__()
        self._panicked = ""
        self._was_placed = False  # the previous line located the last frame; functions inlined there have no number

    def extended(self, frame: TextFrame, number: int, line: str) -> TextFrame | None:
        """Return the last frame with the location below it."""
        longer = super().extended(frame, number, line)
        self._was_placed = longer is not None
        return longer

    def piece(self, number: int, line: str, *, inside: bool) -> Piece | None:
        """Return a panic with its location, the heading of a backtrace, or the function of a frame."""
        panic = self._panic.search(line.rstrip()) if "panicked at " in line else None
        if panic is not None:
            self._begin(line, panic)
            self._panicked = panic[0]
            frame = matched(Format.RUST, number, panic)
            return Piece(Format.RUST, (frame,), begins=panic[0])
        heading = self._heading.search(line.rstrip()) if "backtrace:" in line or "BACKTRACE" in line else None
        if heading is not None:
            self._begin(line, heading)
            return None if inside else Piece(Format.RUST, begins=self._panicked or heading[0])
        text, start = self._own(line) if inside else ("", 0)
        if not text:
            return None
        match = self._numbered.match(text) or (self._inlined.match(text) if self._was_placed else None)
        if match is None:
            return None
        self._waits = True
        frame = matched(Format.RUST, number, match, shift=start)
        return Piece(Format.RUST, (replace(frame, function="") if frame.function == "<unknown>" else frame,))


class JuliaPairs(_Pairs):
    """Parser of error stacks, and of signal dumps, whose frames name C files too; one object per text."""

    is_seldom = True
    remembers = ("_margin", "_waits", "_is_of_signal")
    triggers = ("Stacktrace:", "] signal ")
    place = compiled_on_use(r"\s+@ (?:(?P<scope>[\w.#]+) )?(?P<path>\S.*):(?P<line>\d{1,9})(?: \[inlined\])?$")
    remark = compiled_on_use(r"\s*(?:in expression starting at |\.\.\.|--- the above |@ |[⋮╰│┌└])")
    _heading = compiled_on_use(_BEGINS + r"(?:Stacktrace:|\[\d+\] signal (?:\(\d+(?:\.\d+)?\)|\d+ \(\d+\)): .*)$")

    def __init__(self) -> None:
        super().__init__()
        self._is_of_signal = False

    def piece(self, number: int, line: str, *, inside: bool) -> Piece | None:
        """Return the heading of a stack, or the function of a frame."""
        heading = self._heading.search(line.rstrip()) if "Stacktrace:" in line or "] signal " in line else None
        if heading is not None:
            self._begin(line, heading)
            self._is_of_signal = not heading[0].startswith("Stacktrace")
            return Piece(Format.JULIA, begins=heading[0])
        text, start = self._own(line) if inside else ("", 0)
        if not text:
            return None
        frame = (_signal_frame if self._is_of_signal else _julia_frame)(number, text, start)
        if frame is None:
            return None
        self._waits = frame.place is None and not self._is_of_signal
        return Piece(Format.JULIA, (frame,))


class EuStackPairs(_Pairs):
    """Parser of eu-stack output for a process or a core file; one object per text."""

    is_seldom = True
    remembers = ("_margin", "_waits")
    triggers = ("TID ",)
    place = compiled_on_use(r"\s+(?P<path>\S.*?):(?P<line>\d{1,9})(?::(?P<column>\d{1,9}))?$")
    remark = compiled_on_use(r"\s+\[[0-9a-f]{8,}\]")
    _heading = compiled_on_use(_BEGINS + r"TID \d+(?: \S.*)?:$")
    _frame = compiled_on_use(
        r"#(?P<number>\d{1,6})\s+(?P<address>0x[0-9a-f]{1,16})(?:     - 1)?"
        r"(?: (?P<function>(?!- )\S.*?))?(?: - (?P<module>/.*|\[\w+\]))?$"
    )

    def piece(self, number: int, line: str, *, inside: bool) -> Piece | None:
        """Return the heading of a thread, or the function of a frame."""
        heading = self._heading.search(line.rstrip()) if "TID " in line else None
        if heading is not None:
            self._begin(line, heading)
            return Piece(Format.ELFUTILS, begins=heading[0])
        text, start = self._own(line) if inside else ("", 0)
        match = self._frame.match(text)
        if match is None:
            return None
        self._waits = True
        frame = matched(Format.ELFUTILS, number, match, Language.NATIVE, shift=start)
        return Piece(Format.ELFUTILS, (replace(frame, is_return_address=match["number"] != "0"),))


_NUMBERED = compiled_on_use(r"\s*\[(?P<number>\d{1,6})\] (?P<function>\S.*)$")
_ON_THE_LINE = compiled_on_use(r" (?:at|@)(?: [\w.#]+)? (?P<path>\S+):(?P<line>\d{1,9})(?: \[inlined\])?$")
_OF_SIGNAL = compiled_on_use(
    r" at (?:(?P<path>\S.*):(?P<line>\d{1,9})(?: \[inlined\])?|(?P<module>\S.*) \(unknown line\))$"
)
_NAMELESS = compiled_on_use(r"unknown function \(ip: (?P<address>0x[0-9a-f]{1,16})\)(?: at (?P<module>\S.*))?$")
_NATIVE_FILES = (".c", ".cc", ".cpp", ".h", ".hpp", ".inc", ".S")


def _julia_frame(number: int, text: str, start: int) -> TextFrame | None:
    numbered = _NUMBERED.match(text)
    if numbered is None:
        return None
    frame = matched(Format.JULIA, number, numbered, shift=start)
    place = _ON_THE_LINE.match(text, max(text.rfind(" at "), text.rfind(" @ "), 0))
    if place is not None:
        return with_place(_named(frame, text[numbered.start("function") : place.start()]), number, place, start)
    return _named(frame, numbered["function"])


def _signal_frame(number: int, text: str, start: int) -> TextFrame | None:
    nameless = _NAMELESS.match(text)
    if nameless is not None:
        return matched(Format.JULIA, number, nameless, Language.NATIVE, shift=start)
    at = text.rfind(" at ")
    name, place = text[:at], _OF_SIGNAL.match(text, max(at, 0))
    if place is None or at <= 0 or name[0].isspace() or name == "in expression starting":
        return None
    is_native = place["module"] is not None or place["path"].endswith(_NATIVE_FILES)
    frame = matched(Format.JULIA, number, place, Language.NATIVE if is_native else None, shift=start)
    part = Part(PartKind.FUNCTION, number, start, start + at)
    return replace(frame, start=start, function=name, parts=(part, *frame.parts))


def _named(frame: TextFrame, text: str) -> TextFrame:
    """Return the frame with the name at the start of a text, without argument types."""
    name = text[: text.find("(")] if text.find("(") > 0 else text
    pieces = tuple(
        replace(part, end=part.start + len(name)) if part.kind is PartKind.FUNCTION else part for part in frame.parts
    )
    return replace(frame, function=name, parts=pieces)
