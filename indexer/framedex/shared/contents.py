"""The definitions in a shared file: names and lines from the index of the machine that shared the capture.

So the file contains no binaries, code objects or programs, and its reader needs none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from framedex.model import (
    CompileNote,
    Function,
    Language,
    LocationEvidence,
    PhaseKind,
    ProgramMemory,
    Signature,
    Stack,
    StopReasons,
    Thread,
)
from framedex.programs.ffi.model import Signature as HandlerSignature
from framedex.sources.releases import Build


@dataclass(frozen=True, slots=True)
class SharedSourceLine:
    """A source line. `path` is an index into `Definitions.paths`."""

    path: int
    line: int
    how: LocationEvidence


@dataclass(frozen=True, slots=True)
class SharedFunction:
    """The identity of a function, as in `FunctionRecord`. `module` is an index into `Definitions.paths`.

    Derived fields are left out. The reader computes them, so a file cannot change them for a function of this machine.
    """

    language: Language
    name: str
    symbol: str
    mangled: str
    module: int
    unit: str
    first_line: int


@dataclass(frozen=True, slots=True)
class SharedFrame:
    """A logical frame. `function` is an index into `Definitions.functions`.

    `recorded` is the exact line, and `found` an inferred one with its other `candidates`. `line` is the line in Python
    code without a file.
    """

    function: int
    offset: int
    depth: int
    recorded: SharedSourceLine | None
    found: SharedSourceLine | None
    is_returning: bool
    line: int
    candidates: tuple[SharedSourceLine, ...] = ()


@dataclass(frozen=True, slots=True)
class SharedHandler:
    """An FFI handler: the frame at its entry, its signature, and the frame of its implementation."""

    frame: int
    signature: HandlerSignature | None
    implementation: SharedFrame | None


@dataclass(frozen=True, slots=True)
class SharedSite:
    """A site of an `ffi_call`, as in `SiteRecord`."""

    key: str
    target: str
    frames: tuple[SharedFrame, ...]
    user_frame: int
    from_metadata: bool


@dataclass(frozen=True, slots=True)
class SharedPhase:
    """A phase of the start, as in `PhaseRecord`."""

    kind: PhaseKind
    name: str
    thread: int
    start: int
    duration: int
    frames: tuple[SharedFrame, ...]
    is_last: bool


@dataclass(frozen=True, slots=True)
class SharedOps:
    """Equal ops of a program, with their source frames, innermost first: file, line, function."""

    kind: str
    name: str
    frames: tuple[tuple[int, int, str], ...]
    ops: int


@dataclass(frozen=True, slots=True)
class SharedProgram:
    """The parsed parts of a compiled program, without its code."""

    size: int
    name: str
    lines: tuple[SharedOps, ...]
    problem: str
    signature: Signature | None


@dataclass(frozen=True, slots=True)
class SharedSource:
    """A shared source text: its member in the archive, and the index of its file in `Definitions.paths`."""

    path: int
    member: str
    is_whole: bool


@dataclass(frozen=True, slots=True)
class Definitions:
    """Everything that calls refer to. `metadata` is JSON as in capture.json.

    `frames` has the logical frames of each recorded frame. `descriptions` are FFI descriptions: kind and JSON.
    The keys of `programs`, `options`, `notes` and `memories` are the names in the arguments of calls. `memories` has
    the memory inside optimised programs. `callbacks` are as in `CaptureStream.callbacks`.
    """

    metadata: str
    paths: tuple[str, ...]
    functions: tuple[SharedFunction, ...]
    frames: tuple[tuple[SharedFrame, ...], ...]
    stacks: tuple[Stack, ...]
    boundaries: tuple[Function, ...]
    threads: tuple[Thread, ...]
    calls: int
    problems: tuple[str, ...]
    stops: StopReasons
    descriptions: tuple[tuple[str, str], ...] = ()
    sites: tuple[SharedSite, ...] = ()
    builds: tuple[Build, ...] = ()
    handlers: tuple[SharedHandler, ...] = ()
    programs: Mapping[str, SharedProgram] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)
    notes: Mapping[str, CompileNote] = field(default_factory=dict)
    sources: tuple[SharedSource, ...] = ()
    phases: tuple[SharedPhase, ...] = ()
    memories: Mapping[str, ProgramMemory] = field(default_factory=dict)
    callbacks: tuple[tuple[int, int], ...] = ()
