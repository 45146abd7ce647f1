"""What the index is given to write: the frames of a capture once they are named and located."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import NamedTuple

from framedex.ffi import FfiJoins
from framedex.ffi.model import Signature
from framedex.model import BinaryId, Capture, Language, Location, Program, Role
from framedex.releases import NO_ORIGIN, BinaryOrigin, Build


@dataclass(frozen=True, slots=True)
class FunctionRecord:
    """A function as a binary or a code object names it.

    `module` is the binary's path, or the Python file as recorded. `first_line` belongs to Python code objects and is 0
    for native functions; `unit` is the translation unit of a native function, empty if unknown. `location` is what is
    known of the beginning without looking at source trees; `origin` the release that the binary was built from.
    """

    language: Language
    role: Role
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
    """A logical frame: one recorded frame is several of them where functions were inlined.

    `module` is the binary, None for Python frames; `depth` is 0 for the physical function and
    counts inwards. `offset` is the return address from the module's base, or the instruction's offset in Python code.
    `location` is None unless the very line is known, and is as recorded. `returning` is a Python frame that has ended;
    `line` is that of a Python frame also where it is of no file (`<string>`), 0 where it is not known. `found` is what
    another index knew of a frame without such a location.
    """

    function: FunctionRecord
    module: BinaryId | None
    offset: int
    depth: int
    location: Location | None
    returning: bool = False
    line: int = 0
    found: Location | None = None


@dataclass(frozen=True, slots=True)
class SiteRecord:
    """A site of an `ffi_call` with its Python stack, outermost frame first, and the index of the program's frame."""

    key: str
    target: str
    frames: tuple[FrameRecord, ...]
    user_frame: int
    from_metadata: bool


@dataclass(frozen=True, slots=True)
class HandlerRecord:
    """A handler: the capture's frame at its entry, its signature, and the function it was made from, where known."""

    frame: int
    signature: Signature | None
    implementation: FrameRecord | None


def _no_handler(_entry: int) -> HandlerRecord | None:
    return None


@dataclass(frozen=True, slots=True)
class FfiRecords:
    """What a capture tells of FFI, named: its joins and the sites it describes.

    `name_handler` gives the handler that is entered at a frame of the capture, in which the stack of a run ends.
    """

    joins: FfiJoins = field(default_factory=FfiJoins)
    sites: tuple[SiteRecord, ...] = ()
    name_handler: Callable[[int], HandlerRecord | None] = _no_handler


class NamesFrom(IntEnum):
    """What the functions of a binary are named by: the more, the greater."""

    NOTHING = 0
    SYMBOLS = 1
    DEBUG_INFORMATION = 2


class NamedBinary(NamedTuple):
    """A binary of recorded frames: its content (SHA-256, hex; empty: unknown), and what names were taken from."""

    id: BinaryId
    content: str
    named_from: NamesFrom


@dataclass(frozen=True, slots=True)
class KeptProgram:
    """A program that a capture keeps: what tells it from others, its size in bytes, and how it is read."""

    digest: str
    size: int
    read: Callable[[], Program]


@dataclass(frozen=True, slots=True)
class RecordedSource:
    """A source file as it was when its first frame was recorded.

    `modified` is its modification time in ns since 1970. `read` returns its bytes, None if the capture does not keep
    them; `is_content` says whether other bytes equal them.
    """

    modified: int
    read: Callable[[], bytes | None]
    is_content: Callable[[bytes], bool]


def _nothing(_name: str) -> None:
    return None


@dataclass(frozen=True, slots=True)
class CaptureRecord:
    """A capture with all that is known of it but for its calls, which come in batches.

    `capture.path` is absolute. `frames[i]` are the logical frames, outermost first, of the capture's frame `i`.
    `problems` are all sentences to keep with the capture. `started` is Unix time in seconds; `began` the same in
    nanoseconds, None where only the folder tells. `identity` says which run it is wherever it lies (empty: its path);
    `signature` changes when it grows. `ffi` is what handlers were run for, `builds` are the recorded components,
    `binaries` those that the native frames are in; `program` gives a program by the name that calls have for it,
    `options` those that it was compiled with by theirs, as JSON, and `note` what JAX knew of it (`model.Noted`).
    `source` gives a recorded source file by its absolute path.
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
    began: int | None = None
    binaries: Sequence[NamedBinary] = ()
    program: Callable[[str], KeptProgram | None] = _nothing
    options: Callable[[str], str | None] = _nothing
    note: Callable[[str], str | None] = _nothing
    source: Callable[[str], RecordedSource | None] = _nothing


@dataclass(frozen=True, slots=True)
class RecordedPlace:
    """A stored frame with the file and line that were recorded for it, whether or not that file is here.

    `first_line` is that of a Python code object, 0 for native frames.
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
    """What the index remembers of a capture folder: where it was last, and what it held when it was read.

    `identity` says which run it is wherever it lies, `signature` changes when it grows (see `framedex.captures`).
    `reading` is the signature of what is being read of it, None once all of that is there.
    """

    id: int
    path: Path
    identity: str
    signature: str
    calls: int
    reading: str | None = None


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a function was found in source: its beginning, its last line (0: unknown), and the other possibilities."""

    function: int
    location: Location | None
    end_line: int
    candidates: tuple[Location, ...] = ()


@dataclass(frozen=True, slots=True)
class UnplacedFunction:
    """A stored function to be looked up in source trees, with its id and what the look-up goes by.

    `seen_at` is where one of its frames was with certainty, None if there is no such frame.
    """

    id: int
    record: FunctionRecord
    seen_at: Location | None


@dataclass(frozen=True, slots=True)
class OpenFrame:
    """A stored native frame whose very line is not known: where it returns to, and one function it was seen to call.

    `module` is its binary; `callee` the demangled name of the next frame inward.
    """

    id: int
    function: int
    module: BinaryId
    offset: int
    callee: str


@dataclass(frozen=True, slots=True)
class FramePlacement:
    """The lines that a frame can have stood on, the likeliest first."""

    frame: int
    location: Location
    candidates: tuple[Location, ...] = ()
