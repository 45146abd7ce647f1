"""The input and output types of the index writers, such as the named and located frames of a capture."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import NamedTuple

from framedex.model import BinaryId, Capture, FrameRole, Language, Location, PhaseKind, Program, ProgramMemory
from framedex.programs.ffi import FfiJoins
from framedex.programs.ffi.model import Signature
from framedex.sources.releases import NO_ORIGIN, BinaryOrigin, Build


@dataclass(frozen=True, slots=True)
class FunctionRecord:
    """A function with its name from a binary or a code object.

    `module` is the binary's path, or the Python file as recorded. `first_line` belongs to Python code objects and is 0
    for native functions. `unit` is the translation unit of a native function, empty if unknown. `location` is its
    start, if known without source trees. `origin` is the release that the binary was built from.
    """

    language: Language
    role: FrameRole
    name: str
    short_name: str
    symbol: str
    mangled: str
    module: str
    unit: str
    first_line: int
    location: Location | None
    origin: BinaryOrigin = NO_ORIGIN


@dataclass(frozen=True, slots=True)
class FrameRecord:
    """A logical frame: one recorded frame is several logical frames if functions were inlined.

    `module` is the binary, None for Python frames. `depth` is 0 for the physical function and counts inwards. `offset`
    is the return address from the module's base, or the instruction's offset in Python code. `location` is as recorded,
    and None unless the exact line is known. `is_returning` marks a Python frame that has ended. `line` is set for a
    Python frame even if it has no file (`<string>`), and is 0 if unknown. `stored_location` is the location that
    another index stored for a frame without an exact location, and `candidates` are its other possible locations.
    """

    function: FunctionRecord
    module: BinaryId | None
    offset: int
    depth: int
    location: Location | None
    is_returning: bool = False
    line: int = 0
    stored_location: Location | None = None
    candidates: tuple[Location, ...] = ()


@dataclass(frozen=True, slots=True)
class SiteRecord:
    """A site of an `ffi_call` with its Python stack, outermost frame first, and the index of the user's frame."""

    key: str
    target: str
    frames: tuple[FrameRecord, ...]
    user_frame: int
    from_metadata: bool


@dataclass(frozen=True, slots=True)
class HandlerRecord:
    """A handler: the capture's frame at its entry, its signature, and its implementing function.

    Both may be unknown.
    """

    frame: int
    signature: Signature | None
    implementation: FrameRecord | None


def _return_no_handler(_entry: int) -> HandlerRecord | None:
    return None


@dataclass(frozen=True, slots=True)
class FfiRecords:
    """The named FFI records of a capture: its joins and the sites it describes.

    `name_handler` returns the handler entered at a frame of the capture in which the stack of a run ends.
    """

    joins: FfiJoins = field(default_factory=FfiJoins)
    sites: tuple[SiteRecord, ...] = ()
    name_handler: Callable[[int], HandlerRecord | None] = _return_no_handler


@dataclass(frozen=True, slots=True)
class PhaseRecord:
    """A phase of the start of a process, or of JAX's preparation of a program; times in ns.

    `start` counts from the beginning of the recording and may be negative. `thread` is the system's id. `frames` is the
    Python stack without JAX's frames, outermost first. `is_last`: later phases were not recorded.
    """

    kind: PhaseKind
    name: str
    thread: int
    start: int
    duration: int
    frames: tuple[FrameRecord, ...]
    is_last: bool = False


class NameSource(IntEnum):
    """The source of a binary's function names. A greater value is a better source."""

    NOTHING = 0
    SYMBOLS = 1
    DEBUG_INFORMATION = 2


class NamedBinary(NamedTuple):
    """A binary of recorded frames: its content (SHA-256, hex; empty: unknown), and the source of its names."""

    id: BinaryId
    content: str
    name_source: NameSource


@dataclass(frozen=True, slots=True)
class StoredProgram:
    """A program stored in a capture: its digest, its size in bytes, and a function that reads it."""

    digest: str
    size: int
    read: Callable[[], Program]


@dataclass(frozen=True, slots=True)
class StoredMemory:
    """An optimised program stored in a capture: its digest, and a function that reads the memory inside it."""

    digest: str
    read: Callable[[], ProgramMemory | None]


@dataclass(frozen=True, slots=True)
class RecordedSource:
    """A source file as it was when its first frame was recorded.

    `modified` is its modification time in ns since the Unix epoch. `read` returns its bytes, None if the capture does
    not have them. `is_content` returns whether other bytes equal them.
    """

    modified: int
    read: Callable[[], bytes | None]
    is_content: Callable[[bytes], bool]


def _return_none(_name: str) -> None:
    return None


@dataclass(frozen=True, slots=True)
class CaptureRecord:
    """A capture without its calls, which follow in batches.

    `capture.path` is absolute. `frames[i]` are the logical frames, outermost first, of the capture's frame `i`.
    `problems` are all sentences to store with the capture. `started` is Unix time in seconds. `started_ns` is the same
    in nanoseconds, None if only the folder has a time. `identity` identifies the run independently of its path (empty:
    its path). `signature` changes when the capture grows. `ffi` has its FFI handler records, `builds` the recorded
    components, and `binaries` the binaries of the native frames.

    `program` returns a program by its name in the calls, `options` its compile options as JSON, and `note` JAX's note
    on it (`model.CompileNote`). `source` returns a recorded source file by its absolute path.
    """

    capture: Capture
    started: float
    command: str
    frames: Sequence[Sequence[FrameRecord]]
    problems: Sequence[str] = ()
    identity: str = ""
    signature: str = ""
    ffi: FfiRecords = field(default_factory=FfiRecords)
    builds: Sequence[Build] = ()
    started_ns: int | None = None
    binaries: Sequence[NamedBinary] = ()
    program: Callable[[str], StoredProgram | None] = _return_none
    memory: Callable[[str], StoredMemory | None] = _return_none
    options: Callable[[str], str | None] = _return_none
    note: Callable[[str], str | None] = _return_none
    source: Callable[[str], RecordedSource | None] = _return_none
    phases: Sequence[PhaseRecord] = ()


@dataclass(frozen=True, slots=True)
class RecordedLine:
    """A stored frame with its recorded file and line. The file need not exist on this machine.

    `first_line` is the first line of a Python code object, 0 for native frames.
    """

    frame: int
    language: Language
    name: str
    short_name: str
    first_line: int
    path: str
    line: int


@dataclass(frozen=True, slots=True)
class KnownCapture:
    """The stored data of a capture folder: its last path, and its state when it was read.

    `identity` identifies the run independently of its path. `signature` changes when it grows (see
    `framedex.captures`). `unfinished_signature` is the signature of an unfinished reading, None once the reading is
    complete.
    """

    id: int
    path: Path
    identity: str
    signature: str
    calls: int
    unfinished_signature: str | None = None


@dataclass(frozen=True, slots=True)
class FunctionPlacement:
    """The location of a function in source: its start, its last line (0: unknown), and other candidates."""

    function: int
    location: Location | None
    end_line: int
    candidates: tuple[Location, ...] = ()


@dataclass(frozen=True, slots=True)
class UnplacedFunction:
    """A stored function to be located in source trees, with its id and its record.

    `seen_line` is the exact location of one of its frames, None if no frame has one.
    """

    id: int
    record: FunctionRecord
    seen_line: Location | None


@dataclass(frozen=True, slots=True)
class UnresolvedFrame:
    """A stored native frame without an exact line, with its return address and one callee.

    `module` is its binary. `callee` is the demangled name of the next frame inward.
    """

    id: int
    function: int
    module: BinaryId
    offset: int
    callee: str


@dataclass(frozen=True, slots=True)
class FramePlacement:
    """The possible lines of a frame, the likeliest first."""

    frame: int
    location: Location
    candidates: tuple[Location, ...] = ()


@dataclass(frozen=True, slots=True)
class FrameTotals:
    """Counts of frames in the index: native frames with a name, an exact line or a definition, and Python frames.

    `native_frames` and `native_named` count physical frames. The counts of lines include inlined logical frames.
    `native_released` counts native frames located in release maps, and `native_nearest` those in a map of the nearest
    release.
    """

    native_frames: int
    native_named: int
    native_exact: int
    native_defined: int
    python_frames: int
    python_exact: int
    native_released: int = 0
    native_nearest: int = 0
