"""Rows of the index: captures, calls, functions, frames and objects. A `Table` has several rows of one kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from enum import StrEnum
from importlib import import_module
from typing import Any, ClassVar, Generic, Protocol, TypeVar, overload

from framedex.model.locations import FrameRole, Language, LinkEvidence, Location


class MergeOutcome(StrEnum):
    """The result of merging the native and Python frames of a stack."""

    MERGED = "merged"
    NO_HOST = "no-host"  # consecutive Python frames whose interpreter frame is missing from the native stack
    COUNT_MISMATCH = "count-mismatch"  # an interpreter frame on the native stack without matching Python frames
    HOST_MISMATCH = "host-mismatch"  # address and symbol identify different interpreter frames
    NOT_TOLD = "not-told"  # a truncated stack from an earlier recorder, which did not record the outcome
    MISSING = "missing"  # the stack is missing: the capture is damaged
    UNKNOWN = "unknown"  # an unsupported code


class StopReason(StrEnum):
    """The reason why recording stopped."""

    DISK_FULL = "disk-full"
    LIMIT = "limit"
    NO_FILE = "no-file"


@dataclass(frozen=True, slots=True)
class StopReasons:
    """The reasons why a capture ends before its program; false if it is complete.

    `threads` is the number of threads whose calls are missing after some moment. `missing_calls` is the number of those
    calls, if counted. `lacks_threads`: other threads are missing entirely. `queries` is the number of calls that
    `framedex run --flight` only counted, by choice.
    """

    reasons: tuple[StopReason, ...] = ()
    threads: int = 0
    missing_calls: int = 0
    lacks_threads: bool = False
    queries: int = 0

    def __bool__(self) -> bool:
        return bool(self.reasons) or self.lacks_threads

    def __or__(self, other: StopReasons) -> StopReasons:
        """Return the combined stop reasons of two captures."""
        return StopReasons(
            tuple(reason for reason in StopReason if reason in self.reasons or reason in other.reasons),
            self.threads + other.threads,
            self.missing_calls + other.missing_calls,
            self.lacks_threads or other.lacks_threads,
            self.queries + other.queries,
        )


@dataclass(frozen=True, slots=True)
class CaptureRow:
    """A capture in the index, or with id 0 a capture that is not in the index.

    `started` is Unix time in seconds, `problems` are sentences.

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
    stops: StopReasons = field(default_factory=StopReasons)
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
    role: FrameRole
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
    def location_without_file(self) -> str | None:
        """The location of Python code without a file, as in a traceback: `<string>:3`; None for other frames."""
        is_no_file = self.function.language is Language.PYTHON and self.function.module.startswith("<")
        return f"{self.function.module}:{self.line}" if is_no_file and self.line else None

    @property
    def is_readable(self) -> bool:
        """Whether the frame is code, not glue or interpreter, with a known source line."""
        return self.function.role is FrameRole.CODE and self.location is not None


@dataclass(frozen=True, slots=True)
class CallRow:
    """A recorded call; `start` and `duration` in ns.

    A `duration` of -1 means that the call never returned. `error` is 0 without an error.
    `thread` is unique in the capture: `main`, or `name (tid)`; `tid` is the kernel's id. `parent` is the enclosing call
    of a boundary function. `objects` has the names (`buffer#12`) of the arguments that are runtime objects, by
    argument; a list has None for an unknown address. `plugin` is the name of the plug-in, if the capture has several.
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
    plugin: str = ""


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
    link: LinkEvidence | None = None


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


class Dataclass(Protocol):
    """Any dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


Row = TypeVar("Row", bound=Dataclass)


@dataclass(frozen=True, slots=True)
class Table(Sequence[Row], Generic[Row]):
    """Rows of one kind, the most important first."""

    rows: tuple[Row, ...]

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Row, ...]: ...
    def __getitem__(self, index: int | slice) -> Row | tuple[Row, ...]:
        return self.rows[index]

    def __len__(self) -> int:
        return len(self.rows)

    def to_pandas(self) -> Any:
        """Return a `pandas.DataFrame` with a column for each field; a Python line becomes path, line and function.

        Raises ImportError if pandas is not installed.
        """
        pandas: Any = import_module("pandas")  # an optional dependency
        return pandas.DataFrame([_flatten_row(row) for row in self.rows])


def _flatten_row(row: Dataclass) -> dict[str, Any]:
    """Return the values of a row by column, without nested objects."""
    columns: dict[str, Any] = {}
    for name in (each.name for each in fields(row)):
        value = getattr(row, name)
        if name == "line" and (value is None or isinstance(value, PythonLine)):
            columns["path"] = value.location.path if value else None
            columns["line"] = value.location.line if value else None
            columns["in_function"] = value.function if value else None
        elif isinstance(value, tuple):
            columns[name] = "; ".join(str(each) for each in value)
        else:
            columns[name] = str(value) if is_dataclass(value) else value
    return columns
