"""The vocabulary that every room of framedex shares: what a capture holds, and what the index answers.

Two groups of types, no logic. The first describes a *capture* as it was recorded (addresses, code objects); the second
describes what the *index* knows of it (names, source locations, counts).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # readers of the index start quickly, and need no numpy
    import numpy as np
    import numpy.typing as npt


# --- a capture, as recorded -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Module:
    """A binary mapped into the recorded process.

    `base` is the load address in bytes, `size` the mapped length in bytes. `build_id` is the GNU build-id in hex, or
    None where the binary has none; `fingerprint` is then what identifies its content (see docs/capture-format.md).
    """

    path: str
    base: int
    size: int
    build_id: str | None
    fingerprint: str


@dataclass(frozen=True, slots=True)
class CodeObject:
    """A Python code object: where it came from and its location table (PEP 626 / CPython `Objects/locations.md`)."""

    filename: str
    qualname: str
    first_line: int
    line_table: bytes


@dataclass(frozen=True, slots=True)
class NativeFrame:
    """One native frame: an index into `Capture.modules` (-1: outside every module) and a byte offset from its base.

    The offset is that of the return address, so a look-up of the calling instruction uses `offset - 1`.
    """

    module: int
    offset: int


@dataclass(frozen=True, slots=True)
class PythonFrame:
    """One Python frame: an index into `Capture.codes`, the byte offset of its current instruction, and its line.

    `line` is 0 where the location table names none. `is_returning`: the frame has ended, and what it held is being
    destroyed.
    """

    code: int
    instruction: int
    line: int
    is_returning: bool = False


@dataclass(frozen=True, slots=True)
class Stack:
    """A recorded stack: indices into `Capture.frames`, innermost first.

    When the native and the Python frames could not be merged, `frames` holds the native ones, `python` the Python ones,
    and `reason` says why in a sentence; otherwise `python` is empty and `reason` is None.
    """

    frames: tuple[int, ...]
    python: tuple[int, ...] = ()
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Function:
    """A boundary function that can be entered: `boundary` is for example `pjrt` or `mock_tpu`."""

    boundary: str
    name: str


@dataclass(frozen=True, slots=True)
class Thread:
    """A recorded thread: the kernel's thread id and the name it had at its first call."""

    tid: int
    name: str


@dataclass(frozen=True, slots=True)
class Calls:
    """The calls of a capture as columns of equal length, ordered by start time.

    `thread`, `function` and `stack` index the capture's tuples. `start` is in nanoseconds since the recording began;
    `duration` in nanoseconds, -1 where the call never returned; `error` is the PJRT error code (0: none, -1: never
    returned). `arguments` holds one JSON object per call (`{}` where nothing was decoded): input fields first, then
    the output fields, and `error_message` where an error came back.
    """

    thread: npt.NDArray[np.uint32]
    function: npt.NDArray[np.uint32]
    stack: npt.NDArray[np.uint32]
    start: npt.NDArray[np.int64]
    duration: npt.NDArray[np.int64]
    error: npt.NDArray[np.int32]
    arguments: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.thread)


@dataclass(frozen=True, slots=True)
class Description:
    """What calls refer to by an id: `content` as docs/capture-format.md has it for its `kind`."""

    kind: str
    content: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Capture:
    """One run, decoded. `problems` lists in plain sentences what could not be read; the rest is whole."""

    path: Path
    metadata: dict[str, Any]
    modules: tuple[Module, ...]
    codes: tuple[CodeObject, ...]
    frames: tuple[NativeFrame | PythonFrame, ...]
    stacks: tuple[Stack, ...]
    functions: tuple[Function, ...]
    threads: tuple[Thread, ...]
    calls: Calls
    problems: tuple[str, ...]
    descriptions: tuple[Description, ...] = ()


# --- what the index knows ---------------------------------------------------------------------------------------------


class How(StrEnum):
    """How a location is known. A bare guess is never shown as a fact."""

    EXACT = "exact"  # DWARF or Python's own location table: the very line that was executing
    SINGLE = "single"  # the only call of the next frame in this function's body
    RANKED = "ranked"  # one of several calls, chosen by the rank of the return address
    INLINED_HOP = "inlined-hop"  # through a function that was inlined in between
    DEFINITION = "definition"  # the line where the function is defined, not the line of the call
    CLASS = "class"  # an implicit member: the line of its class
    CANDIDATES = "candidates"  # several definitions fit; all are listed


class Join(StrEnum):
    """How it is known which `ffi_call` a run of a handler is of."""

    EXACT = "exact"  # the compiled program says it
    SINGLE = "single"  # the only one that it can be
    AMBIGUOUS = "ambiguous"  # one of several


class LinkHow(StrEnum):
    """How it is known which Python had a call made that its own stack does not show. An inference, but for the last."""

    HANDED_OVER = "handed-over"  # a thread waited around the call, and then was the first to be given what it made
    BETWEEN = "between"  # the only thread that made no call meanwhile, but just before and after, from these frames
    CANDIDATES = "candidates"  # several threads of that kind; all are listed
    TOLD = "told by JAX"  # JAX's own word, passed along with the call (`jax_send_traceback_to_runtime`)


class Language(StrEnum):
    """The language of a frame."""

    PYTHON = "python"
    NATIVE = "native"


class Role(StrEnum):
    """What a frame is to a reader: user and library code, glue between languages, or the interpreter itself."""

    CODE = "code"
    GLUE = "glue"
    INTERPRETER = "interpreter"


def is_local(path: str) -> bool:
    """Whether a path in the index is one of this machine, or of one like it, rather than of a source map."""
    return path.startswith("/")


class Stale(StrEnum):
    """What has become of a line since it was recorded or indexed, where its file is not as it was then."""

    MOVED = "moved"  # the line is as it was, at another number: the one given
    GONE = "gone"  # the line was changed or removed; the one given is where it was
    UNKNOWN = "unknown"  # nobody can tell: the number given is the old one


@dataclass(frozen=True, slots=True)
class Location:
    """A place in a source file: path, 1-based line, and how it is known.

    The path is absolute, or that of a source map (`xla@5a9e73cbd929:xla/shape.cc`): no file here. `url` is where the
    public may read that line, at the commit that was recorded: known only of some files, and only given for those that
    are not here. `stale` is set where the file has changed; `moved_from` is then the line as it was, if it is another.
    """

    path: str
    line: int
    how: How
    url: str | None = field(default=None, compare=False)
    stale: Stale | None = None
    moved_from: int | None = None


@dataclass(frozen=True, slots=True)
class CaptureRow:
    """A capture in the index. `started` is Unix time in seconds."""

    id: int
    path: str
    started: float
    command: str
    calls: int
    stacks: int
    metadata: dict[str, Any]
    problems: tuple[str, ...]


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
    ended, while what it held is being destroyed.
    """

    id: int
    function: FunctionRow
    location: Location | None
    candidates: tuple[Location, ...]
    module: str
    offset: int
    inlined: bool
    returning: bool = False


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
    """What the calls of a boundary function came to; times in nanoseconds, of the calls that returned.

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


class Severity(StrEnum):
    """How much a finding matters: what the C API forbids, what a program should look into, what is good to know."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that a capture shows to be wrong or remarkable, and how often it is the same.

    `message` says it in a sentence, `kind` in a word. `call` is the latest call of those it is about, `earlier_call`
    the one that made it wrong, `line` the Python that led to `call`. `objects` names a few of the objects, `size` is
    their bytes together, None where no call tells.
    """

    kind: str
    severity: Severity
    message: str
    function: str
    count: int
    call: int
    earlier_call: int | None = None
    line: PythonLine | None = None
    objects: tuple[str, ...] = ()
    size: int | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """The findings of a capture, gravest first; `unjudged` says in sentences what could not be looked into and why."""

    capture: CaptureRow
    findings: tuple[Finding, ...]
    unjudged: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FfiSite:
    """A place in Python from which a target is called, with its whole stack, outermost frame first.

    `lines` are those of the program, innermost first: that of the `ffi_call` (the first outside of JAX), and of what
    led to it those outside of installed packages. `key` is the same in every capture. `from_metadata`: the stack is
    that of the compiled program, without JAX's own frames. All is empty where no capture has met the site.
    """

    id: int
    key: str
    target: str
    lines: tuple[PythonLine, ...]
    frames: tuple[FrameRow, ...]
    from_metadata: bool


@dataclass(frozen=True, slots=True)
class Origin:
    """The `ffi_call` that a run of a handler is of; several sites, any of which it may be, where `how` is ambiguous."""

    how: Join
    sites: tuple[FfiSite, ...]


@dataclass(frozen=True, slots=True)
class Dispatch:
    """What had a call made: the frames, outermost first, in which a thread with Python waited for it.

    What JAX told has no frames and no thread, only a `location`; the others have none but those of their frames.
    """

    how: LinkHow
    thread: str = ""
    frames: tuple[FrameRow, ...] = ()
    location: Location | None = None


@dataclass(frozen=True, slots=True)
class Trace:
    """A call and its stack, outermost frame first. `python` and `reason` are set only where merging failed.

    `dispatched` is what had the call made, where that is not on its stack or JAX told it. `origin` is
    the `ffi_call` that the run of an FFI handler is of, as far as it is known.
    """

    call: CallRow
    capture: CaptureRow
    frames: tuple[FrameRow, ...]
    python: tuple[FrameRow, ...] = ()
    reason: str | None = None
    dispatched: tuple[Dispatch, ...] = ()
    origin: Origin | None = None


@dataclass(frozen=True, slots=True)
class StackHit:
    """Calls that pass a line: the boundary function, a stack to look at, and how many calls share it.

    `frame` is the frame on the line asked for, `position` its index in the stack counted from the outermost.
    """

    function: str
    boundary: str
    stack: int
    latest_call: int
    calls: int
    total_duration: int
    frame: FrameRow
    position: int


@dataclass(frozen=True, slots=True)
class LinkedCalls:
    """Calls on other threads that a line had made, as far as is known: of one boundary function, known in one way."""

    function: str
    boundary: str
    how: LinkHow
    calls: int
    total_duration: int
    latest_call: int


@dataclass(frozen=True, slots=True)
class Edge:
    """A recorded caller and callee: `calls` counts the boundary calls that passed, `sites` are the caller's lines."""

    caller: FunctionRow
    callee: FunctionRow
    calls: int
    sites: tuple[Location, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """One frame inward or outward from a line: the frame on the line, the neighbour reached, and how many calls."""

    origin: FrameRow
    target: FrameRow
    calls: int


@dataclass(frozen=True, slots=True)
class Road:
    """The way of some recorded stacks from a line to the next frame inward that a reader can go to.

    `nodes` are the places of `target` in the tree of stacks, by which the next question can stay on these stacks.
    `longest` is the time in ns, all calls together, of the stack and boundary function among them that took longest.
    `makes_client`: the runtime's client was made on the way, as happens at whatever line comes first in a process.
    `goes_on`: some of the stacks have frames inward of `target`.
    """

    origin: FrameRow
    target: FrameRow
    nodes: tuple[int, ...]
    calls: int
    longest: int
    makes_client: bool
    goes_on: bool


@dataclass(frozen=True, slots=True)
class LineSummary:
    """What was recorded through a line: for hovers.

    `boundaries` are (function, calls, total duration in ns), most calls first; `callers` are (function, calls) one
    frame outward; `arguments` are a few distinct argument objects of the calls; `hows` how the frames on this line are
    known.
    """

    path: str
    line: int
    calls: int
    total_duration: int
    boundaries: tuple[tuple[str, int, int], ...]
    callers: tuple[tuple[FunctionRow, int], ...]
    arguments: tuple[dict[str, Any], ...]
    hows: tuple[How, ...]
    latest_capture: CaptureRow
    latest_call: int


@dataclass(frozen=True, slots=True)
class BoundaryEnd:
    """A boundary function that was reached from a line; `total_duration` in ns.

    `frames` are the innermost ones of the latest call's stack, the innermost first.
    """

    function: str
    calls: int
    total_duration: int
    latest_call: int
    frames: tuple[FrameRow, ...]


@dataclass(frozen=True, slots=True)
class LineMark:
    """What the calls through a line came to: `duration` in ns, `boundaries` by name, the longest first."""

    line: int
    calls: int
    duration: int
    boundaries: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FunctionMark:
    """What the calls through a function came to: `duration` in ns, None where that is not known for it alone."""

    name: str
    calls: int
    duration: int | None
    boundaries: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StaticCall:
    """A call that stands in a definition's source: where it is made, what is called as written, and its definitions.

    `targets` are all definitions of that name in the source index, as (qualified name, location, last line).
    """

    line: int
    callee: str
    targets: tuple[tuple[str, Location, int], ...]


@dataclass(frozen=True, slots=True)
class FileTrouble:
    """Something that the index knows to be wrong with the data of a file; `line` is 1-based, 1 for the file itself."""

    kind: str
    line: int
    message: str


@dataclass(frozen=True, slots=True)
class CallFilter:
    """Which calls to list; None or empty means no restriction. Times in nanoseconds since the capture began.

    `function` may be several names or parts of names with commas between, and patterns with `*` and `?`. `object` is a
    name like `buffer#12`, which means something within one capture.
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


# --- sources ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CallSite:
    """A place in a definition where something is called; line and column (in bytes) are 1-based.

    They are those of the last name of what is called, which is `callee` (template arguments left out); `written` is all
    of it where that is more and short. `kind` is `call`; `argument` (a type for which a template is called: `Foo` of
    `std::make_unique<Foo>()`); `new`, `braces` or `variable` (`new Foo`, `Foo{}`, `Foo foo`); `initializer` (of a
    constructor); `operator`.
    """

    line: int
    column: int
    kind: str
    callee: str
    written: str = ""


@dataclass(frozen=True, slots=True)
class Definition:
    """A definition in a source file. Lines are 1-based and inclusive.

    `name` is the qualified name with `::` (C++; `(anonymous namespace)` for an unnamed one) or `.` (Python, like
    `__qualname__`, with `<locals>`); `parameters` the parameter list as written, None where there is none.

    `kind` is `function`, `method`, `class`, `lambda`, `declaration`; `initializer` or `module` for what runs when a C++
    or a Python file is loaded; `message`, `enum`, `service` or `record` for what C++ is generated from.
    """

    name: str
    kind: str
    parameters: str | None
    line: int
    end_line: int
    is_const: bool = False
    calls: tuple[CallSite, ...] = ()


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A parsed source file. `modified` is mtime in ns, `size` in bytes; `problems` are sentences."""

    path: str
    language: str  # cpp, python, protobuf, tablegen
    modified: int
    size: int
    definitions: tuple[Definition, ...] = field(default=())
    problems: tuple[str, ...] = ()


GENERATING = ("protobuf", "tablegen")
"""The languages that C++ is generated from: their definitions are classes whose code is in no tree."""


@dataclass(frozen=True, slots=True)
class FileState:
    """A file at some moment: mtime in ns, size in bytes, and its content as the name of a git blob (SHA-1, in hex).

    `blob` is empty where the content at that moment is not known.
    """

    modified: int
    size: int
    blob: str


@dataclass(frozen=True, slots=True)
class SourceMapInfo:
    """What a source map is of, and what made it.

    `repository` is the public address of a repository, without the ending `.git`; None if there is none. `commit` is a
    full commit id. `is_dirty`: it was made from files that were not those of the commit. `tool` is the version of
    framedex.
    """

    component: str
    repository: str | None
    commit: str
    is_dirty: bool
    tool: str

    @property
    def prefix(self) -> str:
        """What stands before the paths of its files, which no local path begins with: `xla@5a9e73cbd929:`."""
        return f"{self.component}@{self.commit[:12]}{'+changes' if self.is_dirty else ''}:"


DefinitionRow = tuple[str, str, str, str | None, int, int, bool, bool, str | None]
"""A definition as the index stores it: name, key to look it up by, kind, parameters, first and last line, whether it
is const, whether a syntax error is in it, and its calls as JSON (`[[line, column, kind, callee, written], ...]`)."""


@dataclass(frozen=True, slots=True)
class ExtractedFile:
    """A source file as it was when it was read, ready for the index.

    `modified` is mtime in ns, `size` in bytes, `content` a hash of the bytes; `errors` is the number of places that the
    grammar could not read, `problems` are sentences.
    """

    path: str
    language: str
    modified: int
    size: int
    content: int
    errors: int
    definitions: Sequence[DefinitionRow]
    problems: Sequence[str]


@dataclass(frozen=True, slots=True)
class SourceRoot:
    """A source folder and how many files of it have been read."""

    path: str
    files: int


@dataclass(frozen=True, slots=True)
class FoundSymbol:
    """Something that a search for a name found.

    `name` is qualified. `kind` is that of its `Definition`; `function` for all that was recorded, but `boundary` for a
    function of a boundary and `target` for an FFI target. `function` is the recorded one, of several in one place (as
    of a template) the one with most calls; `call` is the latest call of a boundary function or a target.
    """

    name: str
    kind: str
    location: Location | None
    end_line: int
    function: FunctionRow | None = None
    call: int | None = None


@dataclass(frozen=True, slots=True)
class SourceTotals:
    """The source files of one language in the index.

    `with_errors` counts the files that the grammar could not read everywhere, `broken` the definitions that are touched
    by that; `calling` the definitions whose calls are known.
    """

    language: str
    files: int
    with_errors: int
    definitions: int
    broken: int
    calling: int


@dataclass(frozen=True, slots=True)
class SourceProblem:
    """Something wrong with source files, or folders: how many have it, and the paths of a few.

    `message` leaves numbers out; `unit` is what is counted.
    """

    message: str
    count: int
    examples: tuple[str, ...]
    unit: str = "file"


@dataclass(frozen=True, slots=True)
class SourceHealth:
    """How well the source trees are known: their folders, what was read of each language, and the problems met.

    `maps` are the source maps that stand beside them.
    """

    roots: tuple[str, ...]
    totals: tuple[SourceTotals, ...]
    macros: int
    problems: tuple[SourceProblem, ...]
    maps: tuple[SourceMapInfo, ...] = ()


# --- binaries ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NativeSymbol:
    """What a binary says of one address, one entry per inlined function, innermost first; the last is not inlined.

    `symbol` is the demangled name as the demangler gives it, `name` the short readable form (no parameters, template
    arguments elided where long). `unit` is the translation unit's file name from STT_FILE, None if unknown. `path` and
    `line` come from DWARF (None, 0 without it).
    """

    name: str
    symbol: str
    mangled: str
    path: str | None
    line: int
    inlined: bool
    unit: str | None
