"""What is found in a text that people and programs exchange: stacks, their frames, and where in the text each stands.

Lines and columns of the text are 0-based and in code points; lines and columns of source files 1-based, 0: not known.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from framedex.model import Language


class Format(StrEnum):
    """A text format of stacks; the values are what users read."""

    TRACE = "framedex trace"
    PYTHON = "Python traceback"
    FAULTHANDLER = "faulthandler"
    PYSTACK = "pystack"
    PY_SPY = "py-spy"
    PY_SPY_JSON = "py-spy JSON"
    ABSL = "absl"
    GLOG = "glog"
    TCMALLOC = "tcmalloc"
    GDB = "gdb"
    LLDB = "lldb"
    COREDUMPCTL = "coredumpctl"
    SANITIZER = "sanitizer"
    TOMBSTONE = "Android tombstone"
    VALGRIND = "valgrind"
    BACKTRACE = "backtrace"
    TORCH = "PyTorch"
    TSL = "TSL stack trace"
    CALLBACK = "pybind11"
    HLO = "HLO"
    MLIR = "MLIR"
    IPYTHON = "IPython"
    RICH = "rich"
    PYTEST = "pytest"
    PDB = "pdb"
    PYTHON_TRACE = "Python trace"
    NUMBA = "numba"
    JAVA = "Java"
    JVM_ERROR = "JVM error"
    JAVASCRIPT = "JavaScript"
    DOTNET = ".NET"
    GO = "Go"
    RUST = "Rust"
    JULIA = "Julia"
    RUBY = "Ruby"
    PERL = "Perl"
    DART = "Dart"
    WINDOWS = "Windows"
    MINIDUMP = "minidump"
    KERNEL = "Linux kernel"
    PERF = "perf"
    ELFUTILS = "eu-stack"
    STRACE = "strace"
    BPF = "bpftrace"
    PLAIN = "locations"


class PartKind(StrEnum):
    """What a piece of a frame's text is."""

    NUMBER = "number"
    FUNCTION = "function"
    PATH = "path"
    LINE = "line"
    COLUMN = "column"
    MODULE = "module"
    ADDRESS = "address"
    LABEL = "label"


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of the text of a frame, on one line, half-open."""

    kind: PartKind
    line: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a source file as a text names it: nothing says that the file is on this machine."""

    path: str
    line: int
    column: int = 0
    function: str = ""


@dataclass(frozen=True, slots=True)
class TextFrame:
    """A frame, from column `start` of line `first_line` to column `end` of line `last_line`, half-open.

    `address` is as printed: `call_address` is what to look up. `offset` counts from the start of the binary `module`,
    `text_offset` from that of its section `.text`, `function_offset` from that of the function. `labels` are other
    words about it: how its line is known, or the operation of a compiled program. `outward` are the callers of a place
    that one line names with its whole stack, nearest first. `number` is the frame's own, if it has. `ffi_target` and
    `ffi_stage` are those of the FFI handler that crashed and was called there.
    """

    format: Format
    first_line: int
    start: int
    last_line: int
    end: int
    parts: tuple[Part, ...] = ()
    number: int | None = None
    function: str = ""
    place: Place | None = None
    language: Language | None = None
    address: int | None = None
    is_return_address: bool = False
    module: str = ""
    offset: int | None = None
    function_offset: int | None = None
    build_id: str = ""
    labels: tuple[str, ...] = ()
    outward: tuple[Place, ...] = ()
    is_alternative: bool = False
    text_offset: int | None = None
    ffi_target: str = ""
    ffi_stage: str = ""

    @property
    def call_address(self) -> int | None:
        """The address within the call: a return address may be the first of the next function already."""
        return self.address - 1 if self.address and self.is_return_address else self.address


@dataclass(frozen=True, slots=True)
class TextStack:
    """Frames in the order of the text, with the lines around them that belong to it (headings, source lines)."""

    format: Format
    title: str
    first_line: int
    last_line: int
    frames: tuple[TextFrame, ...]
    innermost_first: bool


@dataclass(frozen=True, slots=True)
class Reading:
    """The stacks of a text, in its order, and what could not be read, as sentences."""

    stacks: tuple[TextStack, ...]
    problems: tuple[str, ...] = ()

    def frames(self) -> Iterator[TextFrame]:
        """Every frame, in the order of the text."""
        for stack in self.stacks:
            yield from stack.frames


@dataclass(frozen=True, slots=True)
class Piece:
    """What a line is in a format: `begins` and `ends` are titles of the stack that begins, or ends, with it.

    `depends_on_values`: on what the numbers in the line are, or on tables that stood before it; so what a similar
    line was does not tell what this one is.
    """

    format: Format
    frames: tuple[TextFrame, ...] = ()
    begins: str | None = None
    ends: str | None = None
    innermost_first: bool = True
    depends_on_values: bool = False


class Reader(Protocol):
    """Reads the lines of one family of formats, in order; one object reads one text."""

    @property
    def triggers(self) -> tuple[str, ...]:
        """A text without any of these has nothing for this reader."""

    @property
    def is_seldom(self) -> bool:
        """Whether what it reads is seldom in a log of JAX: it is asked only on lines with triggers of its own."""

    @property
    def remembers(self) -> tuple[str, ...]:
        """The attributes, of immutable values, that hold what it has read and reads later lines by.

        Whatever else it holds, a piece whose meaning comes from there says so (`Piece.depends_on_values`).
        """

    def piece(self, number: int, line: str, *, inside: bool) -> Piece | None:
        """What the line is to this format; `inside` a stack that this reader began."""

    def extended(self, frame: TextFrame, number: int, line: str) -> TextFrame | None:
        """The last frame with what this line adds to it; None if the line is none of its."""

    def belongs(self, line: str) -> bool:
        """Whether a line without frames is part of the stack that this reader began."""
