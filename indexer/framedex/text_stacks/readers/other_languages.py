"""Parsers of stacks of other languages, which appear in the same logs.

Frames of Go, Rust, Julia and eu-stack have two lines, a function with its location below. The location counts only on
the very next line, as threads that write concurrently may interleave. Frames of Java, .NET and V8 begin with `at`.
Java prints a file name alone. .NET prints a path if there are symbols. V8 prints a path or a URL with a column. Frames
of Ruby, Perl and Dart have one line. A line of Perl's Carp names the called function, not the function around it.

Sources:
- elfutils' src/stack.c; Go's runtime/traceback.go; Rust's panicking.rs and backtrace-rs, src/print.rs
- Julia's base/errorshow.jl (print_stackframe) and src/stackwalk.c, whose signal frames have one line
- OpenJDK's Throwable.printStackTrace, StackTraceElement.toString, and src/hotspot/share/runtime/frame.cpp
  (print_on_error, print_C_frame) and utilities/vmError.cpp for `hs_err_pid123.log`
- .NET's StackTrace.ToString; V8's stack trace API
- Ruby's error.c and vm_backtrace.c (a backtick before 3.4, a quote since); Perl's Carp; Dart's stack_trace
"""

from __future__ import annotations

import re
from dataclasses import replace

from framedex.base.lazy import compile_on_use
from framedex.model import Language
from framedex.text_stacks.frames import Margin, add_location, build_frame
from framedex.text_stacks.model import ParsedLine, PartKind, StackFormat, TextFrame, TextPart

_LINE_START = r"(?:^|(?<=[\s\]:>|)]))"


class _TwoLineFrames:
    """The common base: a margin, and a last frame whose location may be on the next line."""

    place: re.Pattern[str]
    remark: re.Pattern[str]

    def __init__(self) -> None:
        self._margin = Margin()
        self._awaits_place = False

    def extend_frame(self, frame: TextFrame, number: int, line: str) -> TextFrame | None:
        """Return the last frame with the location below it."""
        text, start = self._own_text(line)
        waits, self._awaits_place = self._awaits_place, False
        match = self.place.match(text) if waits else None
        return add_location(frame, number, match, start) if match is not None else None

    def belongs_to_stack(self, line: str) -> bool:
        """Whether the line is a remark between the frames."""
        start = self._margin.column_after(line)
        return start is not None and self.remark.match(line, start) is not None

    def _begin(self, line: str, heading: re.Match[str]) -> None:
        self._margin = Margin(line[: heading.start()])
        self._awaits_place = False

    def _own_text(self, line: str) -> tuple[str, int]:
        """Return the line's text and its start column; empty if the margin differs."""
        start = self._margin.column_after(line)
        return (line[start:].rstrip(), start) if start is not None else ("", 0)


class GoStacks(_TwoLineFrames):
    """Parser of goroutine stacks; one object per text."""

    is_rare = True
    state_attributes = ("_margin", "_awaits_place")
    triggers = ("goroutine ", "Goroutine ", " goroutine:", "runtime stack:")
    place = compile_on_use(r"\s+(?P<path>\S.*):(?P<line>\d{1,9})(?: \+0x[0-9a-f]+)?(?: fp=0x.*)?$")
    remark = compile_on_use(
        r"\s*\.\.\.\s*(?:additional|\d+) frames elided|goroutine running on other thread|\s+\S+:\d+ \+0x"
    )
    _heading = compile_on_use(
        _LINE_START + r"(?:goroutine \d+ (?:[\w=. ]{1,99} )?\[[^\[\]]*\]:|runtime stack:"
        # the race detector's reports
        r"|(?:Previous )?(?:[Rr]ead|[Ww]rite) at 0x[0-9a-f]+ by (?:main )?goroutine.*:"
        r"|Goroutine \d+ \(.*\) created at:)$"
    )
    _creator = compile_on_use(r"created by (?P<function>\S+)(?: in goroutine \d+)?$")
    _function = compile_on_use(r" {0,2}(?P<function>[^\s(]\S*)$")

    def parse_line(self, number: int, line: str, *, is_in_stack: bool) -> ParsedLine | None:
        """Return the heading of a goroutine, or the function of a frame."""
        text = line.rstrip()
        heading = (
            self._heading.search(text) if text.endswith(":") and ("oroutine" in text or "stack:" in text) else None
        )
        if heading is not None:
            self._begin(line, heading)
            return ParsedLine(StackFormat.GO, opening_title=heading[0])
        text, start = self._own_text(line) if is_in_stack else ("", 0)
        if not text:
            return None
        match = self._creator.match(text)
        if match is None and text.endswith(")"):
            # Receivers are in brackets too: `main.(*Client).Call(0xc000, ...)`.
            match = self._function.match(text, 0, text.rfind("("))
        if match is None:
            return None
        self._awaits_place = True
        return ParsedLine(StackFormat.GO, (build_frame(StackFormat.GO, number, match, shift=start),))


class RustStacks(_TwoLineFrames):
    """Parser of panics and captured backtraces; one object per text."""

    is_rare = True
    state_attributes = ("_margin", "_awaits_place", "_panicked", "_has_place")
    triggers = ("panicked at ", "tack backtrace:", " BACKTRACE ━")
    place = compile_on_use(r"\s+at (?P<path>\S.*?):(?P<line>\d{1,9})(?::(?P<column>\d{1,9}))?$")
    remark = compile_on_use(r"\s*(?:note: |⋮ |stack backtrace:$|\[\.\.\. omitted )|\s+at ")
    _panic = compile_on_use(
        _LINE_START + r"thread '[^']*' (?:\(\d+\) )?panicked at (?:'.*', )?"
        r"(?P<path>(?:[A-Za-z]:)?[^\s:'][^:']*):(?P<line>\d{1,9}):(?P<column>\d{1,9}):?$"
    )
    _heading = compile_on_use(_LINE_START + r"[Ss]tack backtrace:$|(?<!━)━{4,} BACKTRACE ━+$")
    _numbered = compile_on_use(r"\s*(?P<number>\d{1,6}):\s+(?:(?P<address>0x[0-9a-f]{1,16}) - )?(?P<function>\S.*)$")
    _inlined = compile_on_use(r" {6,}(?!at |⋮)(?P<function>\S.*)$")

    def __init__(self) -> None:
        super().__init__()
        self._panicked = ""
        self._has_place = False  # the previous line located the last frame; functions inlined there have no number

    def extend_frame(self, frame: TextFrame, number: int, line: str) -> TextFrame | None:
        """Return the last frame with the location below it."""
        longer = super().extend_frame(frame, number, line)
        self._has_place = longer is not None
        return longer

    def parse_line(self, number: int, line: str, *, is_in_stack: bool) -> ParsedLine | None:
        """Return a panic with its location, the heading of a backtrace, or the function of a frame."""
        panic = self._panic.search(line.rstrip()) if "panicked at " in line else None
        if panic is not None:
            self._begin(line, panic)
            self._panicked = panic[0]
            frame = build_frame(StackFormat.RUST, number, panic)
            return ParsedLine(StackFormat.RUST, (frame,), opening_title=panic[0])
        heading = self._heading.search(line.rstrip()) if "backtrace:" in line or "BACKTRACE" in line else None
        if heading is not None:
            self._begin(line, heading)
            return None if is_in_stack else ParsedLine(StackFormat.RUST, opening_title=self._panicked or heading[0])
        text, start = self._own_text(line) if is_in_stack else ("", 0)
        if not text:
            return None
        match = self._numbered.match(text) or (self._inlined.match(text) if self._has_place else None)
        if match is None:
            return None
        self._awaits_place = True
        frame = build_frame(StackFormat.RUST, number, match, shift=start)
        return ParsedLine(StackFormat.RUST, (replace(frame, function="") if frame.function == "<unknown>" else frame,))


class JuliaStacks(_TwoLineFrames):
    """Parser of error stacks, and of signal dumps, whose frames name C files too; one object per text."""

    is_rare = True
    state_attributes = ("_margin", "_awaits_place", "_is_of_signal")
    triggers = ("Stacktrace:", "] signal ")
    place = compile_on_use(r"\s+@ (?:(?P<scope>[\w.#]+) )?(?P<path>\S.*):(?P<line>\d{1,9})(?: \[inlined\])?$")
    remark = compile_on_use(r"\s*(?:in expression starting at |\.\.\.|--- the above |@ |[⋮╰│┌└])")
    _heading = compile_on_use(_LINE_START + r"(?:Stacktrace:|\[\d+\] signal (?:\(\d+(?:\.\d+)?\)|\d+ \(\d+\)): .*)$")

    def __init__(self) -> None:
        super().__init__()
        self._is_of_signal = False

    def parse_line(self, number: int, line: str, *, is_in_stack: bool) -> ParsedLine | None:
        """Return the heading of a stack, or the function of a frame."""
        heading = self._heading.search(line.rstrip()) if "Stacktrace:" in line or "] signal " in line else None
        if heading is not None:
            self._begin(line, heading)
            self._is_of_signal = not heading[0].startswith("Stacktrace")
            return ParsedLine(StackFormat.JULIA, opening_title=heading[0])
        text, start = self._own_text(line) if is_in_stack else ("", 0)
        if not text:
            return None
        frame = (_parse_signal_frame if self._is_of_signal else _parse_julia_frame)(number, text, start)
        if frame is None:
            return None
        self._awaits_place = frame.place is None and not self._is_of_signal
        return ParsedLine(StackFormat.JULIA, (frame,))


class EuStacks(_TwoLineFrames):
    """Parser of eu-stack output for a process or a core file; one object per text."""

    is_rare = True
    state_attributes = ("_margin", "_awaits_place")
    triggers = ("TID ",)
    place = compile_on_use(r"\s+(?P<path>\S.*?):(?P<line>\d{1,9})(?::(?P<column>\d{1,9}))?$")
    remark = compile_on_use(r"\s+\[[0-9a-f]{8,}\]")
    _heading = compile_on_use(_LINE_START + r"TID \d+(?: \S.*)?:$")
    _frame = compile_on_use(
        r"#(?P<number>\d{1,6})\s+(?P<address>0x[0-9a-f]{1,16})(?:     - 1)?"
        r"(?: (?P<function>(?!- )\S.*?))?(?: - (?P<module>/.*|\[\w+\]))?$"
    )

    def parse_line(self, number: int, line: str, *, is_in_stack: bool) -> ParsedLine | None:
        """Return the heading of a thread, or the function of a frame."""
        heading = self._heading.search(line.rstrip()) if "TID " in line else None
        if heading is not None:
            self._begin(line, heading)
            return ParsedLine(StackFormat.ELFUTILS, opening_title=heading[0])
        text, start = self._own_text(line) if is_in_stack else ("", 0)
        match = self._frame.match(text)
        if match is None:
            return None
        self._awaits_place = True
        frame = build_frame(StackFormat.ELFUTILS, number, match, Language.NATIVE, shift=start)
        return ParsedLine(StackFormat.ELFUTILS, (replace(frame, is_return_address=match["number"] != "0"),))


_NUMBERED = compile_on_use(r"\s*\[(?P<number>\d{1,6})\] (?P<function>\S.*)$")
_LOCATION_ON_LINE = compile_on_use(r" (?:at|@)(?: [\w.#]+)? (?P<path>\S+):(?P<line>\d{1,9})(?: \[inlined\])?$")
_SIGNAL_HEADING = compile_on_use(
    r" at (?:(?P<path>\S.*):(?P<line>\d{1,9})(?: \[inlined\])?|(?P<module>\S.*) \(unknown line\))$"
)
_NAMELESS = compile_on_use(r"unknown function \(ip: (?P<address>0x[0-9a-f]{1,16})\)(?: at (?P<module>\S.*))?$")
_NATIVE_FILES = (".c", ".cc", ".cpp", ".h", ".hpp", ".inc", ".S")


def _parse_julia_frame(number: int, text: str, start: int) -> TextFrame | None:
    numbered = _NUMBERED.match(text)
    if numbered is None:
        return None
    frame = build_frame(StackFormat.JULIA, number, numbered, shift=start)
    place = _LOCATION_ON_LINE.match(text, max(text.rfind(" at "), text.rfind(" @ "), 0))
    if place is not None:
        return add_location(_with_name(frame, text[numbered.start("function") : place.start()]), number, place, start)
    return _with_name(frame, numbered["function"])


def _parse_signal_frame(number: int, text: str, start: int) -> TextFrame | None:
    nameless = _NAMELESS.match(text)
    if nameless is not None:
        return build_frame(StackFormat.JULIA, number, nameless, Language.NATIVE, shift=start)
    at = text.rfind(" at ")
    name, place = text[:at], _SIGNAL_HEADING.match(text, max(at, 0))
    if place is None or at <= 0 or name[0].isspace() or name == "in expression starting":
        return None
    is_native = place["module"] is not None or place["path"].endswith(_NATIVE_FILES)
    frame = build_frame(StackFormat.JULIA, number, place, Language.NATIVE if is_native else None, shift=start)
    part = TextPart(PartKind.FUNCTION, number, start, start + at)
    return replace(frame, start=start, function=name, parts=(part, *frame.parts))


def _with_name(frame: TextFrame, text: str) -> TextFrame:
    """Return the frame with the name at the start of a text, without argument types."""
    name = text[: text.find("(")] if text.find("(") > 0 else text
    pieces = tuple(
        replace(part, end=part.start + len(name)) if part.kind is PartKind.FUNCTION else part for part in frame.parts
    )
    return replace(frame, function=name, parts=pieces)


_AT_PREFIX = compile_on_use(r"(?:\t|   )at (?=\S)")
_LOADERS = compile_on_use(r"(?:[^\s()/]*/(?!0x))*")  # class loader and module of a Java class: `app//java.base@21/`
_JAVA = compile_on_use(
    r"(?P<function>[\w.$<>/-]+)\((?:(?:[\w.@$-]+/)?(?:(?P<path>[\w$.-]+):(?P<line>\d{1,9})"
    r"|[\w$-]+\.(?:java|kts?|scala|groovy|clj)|Native Method|Unknown Source|<\w+>))\)(?: ~?\[[^\[\]]*\])?$"
)
_DOTNET = compile_on_use(
    r"(?P<function>[^\s(]+)\((?:[^\s()][^()]* [^()]*)?\)(?: in (?P<path>\S.*):line (?P<line>\d{1,9}))?$"
)
_V8_PLACE = r"(?:file://)?(?P<path>\S[^()]*):(?P<line>\d{1,9}):(?P<column>\d{1,9})"
_V8_CALL = compile_on_use(
    rf"(?:async )?(?P<function>[^\s()][^()]*) \((?:{_V8_PLACE}|native|<anonymous>|index \d+|eval at .*)\)(?: \{{)?$"
)
_V8_BARE = compile_on_use(rf"(?:async )?{_V8_PLACE}(?: \{{)?$")
_IS_PATH = compile_on_use(r"[./\\<]|^node:")
_IS_SCRIPT = compile_on_use(r"^(?:node|https?|webpack[\w-]*|<anonymous>)(?::|$)|\.(?:[cm]?[jt]sx?|vue|svelte)(?:\?|$)")
_MORE_FRAMES = compile_on_use(
    r"\.\.\. \d+ (?:more|common frames omitted)\b|(?:^|\s)(?:Caused by|Suppressed): "
    r"|^\s*- (?:locked|waiting|parking|eliminated) |--- End of (?:inner exception )?stack trace"
)


class AtLineParser:
    """Parser of all three; one object per text."""

    is_rare = True
    state_attributes = ()
    triggers = ("   at ", "\tat ")

    def parse_line(self, number: int, line: str, *, is_in_stack: bool) -> ParsedLine | None:
        """Return the frame on a line."""
        begin = _AT_PREFIX.search(line) if "at " in line else None
        if begin is None:
            return None
        text, shift = line[begin.end() :].rstrip(), begin.end()
        frame = _parse_java(number, text, shift) or _parse_v8(number, text, shift) or _parse_dotnet(number, text, shift)
        if frame is None:
            return None
        return ParsedLine(frame.format, (replace(frame, start=shift - len("at ")),))

    def extend_frame(self, frame: TextFrame, number: int, line: str) -> TextFrame | None:
        """Return None: a frame has one line."""
        return None

    def belongs_to_stack(self, line: str) -> bool:
        """Whether the line is a cause, a lock, or a count of omitted frames."""
        return _MORE_FRAMES.search(line) is not None


def _parse_java(number: int, text: str, shift: int) -> TextFrame | None:
    loaders = _LOADERS.match(text)
    match = _JAVA.match(text, loaders.end() if loaders is not None else 0)
    return build_frame(StackFormat.JAVA, number, match, shift=shift) if match is not None else None


def _parse_v8(number: int, text: str, shift: int) -> TextFrame | None:
    match = _V8_CALL.match(text)
    if match is not None and match["path"] is not None and not _IS_PATH.search(match["path"]):
        return None
    if match is None:
        match = _V8_BARE.match(text)
        # Other formats print locations in the same words.
        if match is None or not _IS_SCRIPT.search(match["path"]):
            return None
    return build_frame(StackFormat.JAVASCRIPT, number, match, shift=shift)


def _parse_dotnet(number: int, text: str, shift: int) -> TextFrame | None:
    match = _DOTNET.match(text)
    if match is None or "." not in match["function"]:
        return None
    return build_frame(StackFormat.DOTNET, number, match, shift=shift)


_HEADING = compile_on_use(r"(?:(?P<kind>Native|Java) frames: \(J=.*\)|# Problematic frame:)$")
_NATIVE = compile_on_use(
    r"(?:# )?[CV]  \[(?P<module>[^\[\]+]+)\+(?P<address>0x[0-9a-f]{1,16})\]"
    r"(?:  (?P<function>\S.*?)(?:\+0x[0-9a-f]{1,16})?)?(?:  \((?P<path>[^():]+):(?P<line>\d{1,9})\))?$"
)
_JVM_NAMELESS = compile_on_use(r"(?:# )?[CV]  (?P<address>0x[0-9a-f]{1,16})$")
_COMPILED = compile_on_use(r"(?:# )?[JA] \d+%? (?:[!sbn]+ )?(?:c[12] |jvmci )?(?P<function>[\w.$<>/]+)(?:\(.*)$")
_INTERPRETED = compile_on_use(r"(?:# )?j  (?P<function>[\w.$<>/]+)\([^()]*\)\S*?\+\d+(?: .*)?$")
_STUB = compile_on_use(r"(?:# )?v  ~(?:StubRoutines|RuntimeStub|BufferBlob|ExceptionBlob|[A-Z]\w+)\b")


class JvmErrors:
    """Parser of JVM error logs; one object per text."""

    is_rare = True
    state_attributes = ("_margin",)
    triggers = ("frames: (J=", "# Problematic frame:")

    def __init__(self) -> None:
        self._margin = Margin()

    def parse_line(self, number: int, line: str, *, is_in_stack: bool) -> ParsedLine | None:
        """Return a heading, or a frame below it."""
        text = line.rstrip()
        heading = _HEADING.search(text) if text.endswith((")", "frame:")) and "rame" in text else None
        if heading is not None:
            self._margin = Margin(line[: heading.start()])
            return ParsedLine(StackFormat.JVM_ERROR, opening_title=heading[0].partition(": (")[0].strip("# :"))
        start = self._margin.column_after(text) if is_in_stack else None
        frame = _parse_jvm_frame(number, text, start) if start is not None else None
        return ParsedLine(StackFormat.JVM_ERROR, (frame,)) if frame is not None else None

    def extend_frame(self, frame: TextFrame, number: int, line: str) -> TextFrame | None:
        """Return None: a frame has one line."""
        return None

    def belongs_to_stack(self, line: str) -> bool:
        """Whether the line is a stub, or an empty line of the log's head."""
        start = self._margin.column_after(line)
        return start is not None and (not line[start:].strip("# \t\r") or _STUB.match(line, start) is not None)


def _parse_jvm_frame(number: int, text: str, start: int) -> TextFrame | None:
    native = _NATIVE.match(text, start)
    if native is None:
        nameless = _JVM_NAMELESS.match(text, start)
        if nameless is not None:
            return build_frame(StackFormat.JVM_ERROR, number, nameless, Language.NATIVE)
        java = _COMPILED.match(text, start) or _INTERPRETED.match(text, start)
        return build_frame(StackFormat.JVM_ERROR, number, java) if java is not None else None
    frame = build_frame(StackFormat.JVM_ERROR, number, native, Language.NATIVE)
    # The number in brackets is an offset in the library.
    return replace(frame, address=None, offset=frame.address)


_SCRIPT_BEGINS = r"(?:^|(?<=[\s\]|>):]))"
_RUBY = compile_on_use(
    _SCRIPT_BEGINS + r"(?:from )?(?P<path>(?:[A-Za-z]:)?[^\s:\[\]|>()]+|<internal:[^\s<>]{1,99}>):(?P<line>\d{1,9})"
    r":in [`'](?P<function>[^`']+)'(?=$|:)"
)
_PERL = compile_on_use(r" at (?P<path>[^\s:,;()\"']+\.(?:pl|pm|t)) line (?P<line>\d{1,9})(?=\.?$|, <)")
_DART = compile_on_use(
    r"(?:^|(?<=[\s\]|>:]))#(?P<number>\d{1,6}) +(?P<function>[^\s(][^(]*(?<=\S)) "
    r"\((?P<path>(?:package:|dart:|file:|[./])[^\s:()]*)(?::(?P<line>\d{1,9}))?(?::(?P<column>\d{1,9}))?\)$"
)


class ScriptLines:
    """Parser of all three; one object per text."""

    is_rare = True
    state_attributes = ()
    triggers = (":in `", ":in '", ".pl line ", ".pm line ", ".t line ", "(package:", "(dart:", ".dart:")

    def parse_line(self, number: int, line: str, *, is_in_stack: bool) -> ParsedLine | None:
        """Return the frame on a line."""
        if ":in " in line and (match := _RUBY.search(line.rstrip())) is not None:
            return ParsedLine(StackFormat.RUBY, (build_frame(StackFormat.RUBY, number, match),))
        if " line " in line and (match := _PERL.search(line.rstrip())) is not None:
            return ParsedLine(StackFormat.PERL, (build_frame(StackFormat.PERL, number, match),))
        if ("#" in line and "dart:" in line) or "(package:" in line:
            match = _DART.search(line.rstrip())
            return (
                ParsedLine(StackFormat.DART, (build_frame(StackFormat.DART, number, match),))
                if match is not None
                else None
            )
        return None

    def extend_frame(self, frame: TextFrame, number: int, line: str) -> TextFrame | None:
        """Return None: a frame has one line."""
        return None

    def belongs_to_stack(self, line: str) -> bool:
        """Return False: no lines appear between the frames."""
        return False
