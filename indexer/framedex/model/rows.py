"""Rows of the index: captures, calls, functions, frames and objects."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from framedex.model.missing import Stops
from framedex.model.places import Language, LinkHow, Location, Role


@dataclass(frozen=True, slots=True)
class CaptureRow:
    """A capture in the index. `started` is Unix time in seconds, `problems` are sentences.

    `metadata_text` is the input of `Metadata.parse`. Captures of one `framedex run` share a `run`; later runs have
    greater ones.
    """

    id: int
    path: str
    started: float
    command: str
    calls: int
    stacks: int
    metadata_text: str
    problems: tuple[str, ...]
    stops: Stops = field(default_factory=Stops)
    run: int = 0


@dataclass(frozen=True, slots=True)
class FunctionRow:
    """A function on a recorded stack.

    `name` is the readable name (`xla::PjRtCApiClient::BufferFromHostBuffer`, or a Python qualname); `symbol` is the
    full demangled or mangled text. `module` is the path of the binary or the Python file. `unit` is the file name of a
    native function's translation unit, empty if unknown. `location` is the start of the function, `end_line` its last
    line, 0 if unknown.
    """

    id: int
    language: Language
    role: Role
    name: str
    symbol: str
    module: str
    unit: str
    location: Location | None
    end_line: int


@dataclass(frozen=True, slots=True)
class FrameRow:
    """A frame of a stack for display: its function, its line, and the other possible lines.

    `inlined`: the compiler inlined the function into the next outer frame. `returning`: a Python function that has
    ended, and whose locals are being destroyed. `line` is the recorded line, 0 if none; Python code without a file
    (`<string>`) has one too.
    """

    id: int
    function: FunctionRow
    location: Location | None
    candidates: tuple[Location, ...]
    module: str
    offset: int
    inlined: bool
    returning: bool = False
    line: int = 0

    @property
    def stated(self) -> str | None:
        """The location in Python's own words, as in a traceback, if it names no file: `<string>:3`."""
        is_no_file = self.function.language is Language.PYTHON and self.function.module.startswith("<")
        return f"{self.function.module}:{self.line}" if is_no_file and self.line else None

    @property
    def is_readable(self) -> bool:
        """Whether the frame is code, not glue or interpreter, with a known source line."""
        return self.function.role is Role.CODE and self.location is not None


@dataclass(frozen=True, slots=True)
class CallRow:
    """A recorded call. `start` and `duration` in nanoseconds (duration -1: never returned); `error` 0: none.

    `thread` is unique in the capture: `main`, or `name (tid)`; `tid` is the kernel's id. `parent` is the enclosing call
    of a boundary function. `objects` has the names (`buffer#12`) of the arguments that are runtime objects, by
    argument; a list has None for an unknown address.
    """

    id: int
    capture: int
    function: str
    boundary: str
    thread: str
    start: int
    duration: int
    error: int
    arguments: dict[str, Any]
    stack: int
    tid: int = 0
    parent: int | None = None
    objects: dict[str, str | list[str | None]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ObjectRow:
    """An object of the runtime, such as a buffer, in one capture; its calls by id.

    `name` is unique in its capture (`buffer#12`), `address` is not. `size` is in bytes, None if no call reports it.
    `created_call` is None for an object that another object owns, or that existed before the recording. `deleted_call`
    may also be a call that only reported the deletion. `client` is the client through which it was created.
    """

    id: int
    capture: int
    name: str
    type: str
    address: int
    size: int | None
    uses: int
    created_call: int | None
    first_call: int
    last_call: int
    deleted_call: int | None
    destroyed_call: int | None
    client: str | None


@dataclass(frozen=True, slots=True)
class PythonLine:
    """The line of Python that led to a call: the innermost of the program itself, or of all Python if it has none.

    `link` is None if the line is on the call's own stack. Otherwise it is the evidence for the link.
    """

    function: str
    location: Location
    link: LinkHow | None = None


@dataclass(frozen=True, slots=True)
class FunctionTotals:
    """The totals of the calls of a boundary function; times in nanoseconds, of the calls that returned.

    `self_time` is `total` without nested boundary calls. `thread` is None unless totals are grouped by thread.
    `longest_call` is the id of the longest call.
    """

    function: str
    boundary: str
    thread: str | None
    calls: int
    errors: int
    never_returned: int
    total: int
    self_time: int
    mean: int
    median: int
    p90: int
    p99: int
    longest: int
    longest_call: int


@dataclass(frozen=True, slots=True)
class CallFilter:
    """A filter of calls; None or empty means no restriction. Times in nanoseconds since the capture began.

    `function` may have several names or substrings, separated by commas, and patterns with `*` and `?`. `object` is a
    name such as `buffer#12`, which is only unique in one capture. `works_only`: programs, transfers and errors, without
    queries, waits and destructors.
    """

    capture: int | None = None
    function: str | None = None
    thread: str | None = None
    after: int | None = None
    before: int | None = None
    through: str | None = None
    errors_only: bool = False
    slower_than: int | None = None
    object: str | None = None
    works_only: bool = False
