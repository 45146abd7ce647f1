"""The model of parsed texts: stacks, their frames, and the position of each in the text.

Lines and columns of the text are 0-based and in code points. Lines and columns of source files are 1-based; 0: unknown.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from framedex.model import Language


class StackFormat(StrEnum):
    """A text format of stacks. The values are shown to users."""

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
    """The kind of a part of a frame's text."""

    NUMBER = "number"
    FUNCTION = "function"
    PATH = "path"
    LINE = "line"
    COLUMN = "column"
    MODULE = "module"
    ADDRESS = "address"
    LABEL = "label"


@dataclass(frozen=True, slots=True)
class TextPart:
    """A part of a frame's text, on one line; columns are half-open."""

    kind: PartKind
    line: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class TextLocation:
    """A source location as printed in a text. The file may not exist on this machine."""

    path: str
    line: int
    column: int = 0
    function: str = ""


@dataclass(frozen=True, slots=True)
class TextFrame:
    """A frame, from column `start` of line `first_line` to column `end` of line `last_line`, half-open.

    - `address` is as printed. Look up `call_address` instead.
    - `offset` counts from the start of the binary `module`, `text_offset` from its section `.text`, `function_offset`
      from the start of the function.
    - `labels` are notes on the frame: how its line is known, or the operation of a compiled program.
    - `outward` are the callers, nearest first, if one line prints a location with its whole stack.
    - `number` is the printed frame number, if any.
    - `op_names` are the names of the ops of a compiled program's instruction; a fusion can have several.
    - `compiled_module` is the XLA module that a text reports as slow to compile.
    - `ffi_target` and `ffi_stage` name the FFI handler that crashed, if the frame called one.
    """

    format: StackFormat
    first_line: int
    start: int
    last_line: int
    end: int
    parts: tuple[TextPart, ...] = ()
    number: int | None = None
    function: str = ""
    place: TextLocation | None = None
    language: Language | None = None
    address: int | None = None
    is_return_address: bool = False
    module: str = ""
    offset: int | None = None
    function_offset: int | None = None
    build_id: str = ""
    labels: tuple[str, ...] = ()
    outward: tuple[TextLocation, ...] = ()
    is_alternative: bool = False
    text_offset: int | None = None
    ffi_target: str = ""
    ffi_stage: str = ""
    op_names: tuple[str, ...] = ()
    compiled_module: str = ""

    @property
    def call_address(self) -> int | None:
        """The address within the call. A return address may already be the first of the next function."""
        return self.address - 1 if self.address and self.is_return_address else self.address


@dataclass(frozen=True, slots=True)
class TextStack:
    """Frames in text order, and the range of lines that belong to the stack (headings and source lines included)."""

    format: StackFormat
    title: str
    first_line: int
    last_line: int
    frames: tuple[TextFrame, ...]
    innermost_first: bool


@dataclass(frozen=True, slots=True)
class ParsedText:
    """The stacks of a text, in text order, and the problems found, as sentences."""

    stacks: tuple[TextStack, ...]
    problems: tuple[str, ...] = ()

    def frames(self) -> Iterator[TextFrame]:
        """Yield every frame, in text order."""
        for stack in self.stacks:
            yield from stack.frames


@dataclass(frozen=True, slots=True)
class ParsedLine:
    """The content of one line in a format.

    `opening_title` is the title of a stack that begins on the line, `closing_title` that of one that ends on it.
    `depends_on_values`: the content depends on the values of numbers in the line, or on earlier tables. Then similar
    lines may have different content.
    """

    format: StackFormat
    frames: tuple[TextFrame, ...] = ()
    opening_title: str | None = None
    closing_title: str | None = None
    innermost_first: bool = True
    depends_on_values: bool = False


class Reader(Protocol):
    """Parses the lines of one family of formats, in order. One object parses one text."""

    @property
    def triggers(self) -> tuple[str, ...]:
        """The strings that begin a frame of this reader's formats. A text without any of them has no such frames."""

    @property
    def is_rare(self) -> bool:
        """Whether the formats are rare in JAX logs. Then the reader is called only for lines with its own triggers."""

    @property
    def state_attributes(self) -> tuple[str, ...]:
        """The names of attributes, with immutable values, that carry state from earlier lines to later ones.

        If the content of a line depends on any other state, its piece sets `ParsedLine.depends_on_values`.
        """

    def parse_line(self, number: int, line: str, *, is_in_stack: bool) -> ParsedLine | None:
        """Return the content of the line in this format. `is_in_stack`: it is within a stack that this reader began."""

    def extend_frame(self, frame: TextFrame, number: int, line: str) -> TextFrame | None:
        """Return the last frame, extended by this line; None if the line does not continue that frame."""

    def belongs_to_stack(self, line: str) -> bool:
        """Whether a line without frames belongs to the stack begun by this reader."""
