"""What the index knows of captures, calls and frames."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from framedex.model.missing import Stops
from framedex.model.places import Language, LinkHow, Location, Role


@dataclass(frozen=True, slots=True)
class CaptureRow:
    """A capture in the index. `started` is Unix time in seconds, `problems` are sentences, `metadata_text`
    is what `Metadata.parse` reads. Captures of one `framedex run` have the same `run`, later runs a greater one.
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
    """A function that was on some recorded stack.

    `name` is what people read (`xla::PjRtCApiClient::BufferFromHostBuffer`, or a Python qualname); `symbol` the full
    demangled or mangled text it came from; `module` the path of the binary or the Python file; `unit` the file name of
    a native function's translation unit, empty if unknown. `location` is where the function begins, `end_line` its last
    line if known (0 otherwise).
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
    """A frame of a stack, as shown: its function, the line where it stood, and the other lines it could be.

    `inlined`: a function that the compiler inlined into the next frame outward. `returning`: a Python function that has
    ended, while what it held is being destroyed. `line` is the one that was recorded, 0 where none was: Python code of
    no file (`<string>`) has it too.
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
        """Where it stands in Python's own words, as a traceback has them, if they name no file: `<string>:3`."""
        is_no_file = self.function.language is Language.PYTHON and self.function.module.startswith("<")
        return f"{self.function.module}:{self.line}" if is_no_file and self.line else None

    @property
    def is_readable(self) -> bool:
        """Whether it is code, neither glue nor the interpreter's, of which a source line is known."""
        return self.function.role is Role.CODE and self.location is not None


@dataclass(frozen=True, slots=True)
class CallRow:
    """A recorded call. `start` and `duration` in nanoseconds (duration -1: never returned); `error` 0: none.

    `thread` tells the thread from the others of its capture: `main`, or `name (tid)`; `tid` is the kernel's id.
    `parent` is the call of a boundary function in which this one was made. `objects` are the names (`buffer#12`) of the
    arguments that are objects of the runtime, by argument; a list has None where nothing is known of an address.
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
    """An object of the runtime, such as a buffer, as one capture tells of it; its calls by their ids.

    `name` is unique in its capture (`buffer#12`), its `address` is not. `size` is in bytes, None if no call tells it.
    `created_call` is None for what another object owns, and for what was there before the recording; `deleted_call`
    also is a call that only told of the deletion. `client` is the client that it was made through.
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
    """The line of Python that led to a call: of the program itself where the stack has one, else the innermost.

    `link` is None where the line is on the call's own stack, and else says how it is known.
    """

    function: str
    location: Location
    link: LinkHow | None = None


@dataclass(frozen=True, slots=True)
class FunctionTotals:
    """The totals of the calls of a boundary function; times in nanoseconds, of the calls that returned.

    `self_time` is what remains of `total` without the boundary calls made inside. `thread` is None unless totals are
    told by thread. `longest_call` is the id of the call that took longest.
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
    """Which calls to list; None or empty means no restriction. Times in nanoseconds since the capture began.

    `function` may be several names or parts of names with commas between, and patterns with `*` and `?`. `object` is a
    name like `buffer#12`, which means something within one capture. `works_only`: programs, transfers and errors, and
    not what only asks, waits or cleans up.
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
