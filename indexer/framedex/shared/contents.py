"""What a shared file says of a capture beside its calls: names and lines as the index had them where it was shared.

Nothing in it is looked up by a binary, a code object or a program, so none of those is in the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from framedex.ffi.model import Signature as HandlerSignature
from framedex.model import Function, How, Language, Noted, Signature, Stack, Stops, Thread
from framedex.releases import Build


@dataclass(frozen=True, slots=True)
class SharedPlace:
    """A line, by the place of its file in `Definitions.paths`."""

    path: int
    line: int
    how: How


@dataclass(frozen=True, slots=True)
class SharedFunction:
    """What names a function, as `FunctionRecord` has it; `module` is a place in `Definitions.paths`.

    What an index makes of that by itself is not told, so that no file can say it otherwise of a function that is here.
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
    """A logical frame, by the place of its function in `Definitions.functions`.

    `recorded` is its exact line, `found` what is known of it elsewise; `line` is that of Python which is of no file.
    """

    function: int
    offset: int
    depth: int
    recorded: SharedPlace | None
    found: SharedPlace | None
    is_returning: bool
    line: int


@dataclass(frozen=True, slots=True)
class SharedHandler:
    """An FFI handler: the capture's frame at its entry, its signature, and the frame of what it was made from."""

    frame: int
    signature: HandlerSignature | None
    implementation: SharedFrame | None


@dataclass(frozen=True, slots=True)
class SharedSite:
    """A site of an `ffi_call`, as `SiteRecord` has it."""

    key: str
    target: str
    frames: tuple[SharedFrame, ...]
    user_frame: int
    from_metadata: bool


@dataclass(frozen=True, slots=True)
class SharedLines:
    """Ops of a program that are alike, with the lines that they come from, innermost first: file, line, function."""

    kind: str
    name: str
    frames: tuple[tuple[int, int, str], ...]
    ops: int


@dataclass(frozen=True, slots=True)
class SharedProgram:
    """A compiled program, as it was read: none of its code."""

    size: int
    name: str
    lines: tuple[SharedLines, ...]
    problem: str
    signature: Signature | None


@dataclass(frozen=True, slots=True)
class SharedSource:
    """The text of a file that a capture leads to: a member of the archive, and the file in `Definitions.paths`."""

    path: int
    member: str
    is_whole: bool


@dataclass(frozen=True, slots=True)
class Definitions:
    """All that calls refer to. `metadata` is JSON as capture.json has it; frames of one recorded frame stand together.

    `descriptions` are those of FFI: kind and JSON. `programs`, `options` and `notes` are known by the names that calls
    have for them.
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
    stops: Stops
    descriptions: tuple[tuple[str, str], ...] = ()
    sites: tuple[SharedSite, ...] = ()
    builds: tuple[Build, ...] = ()
    handlers: tuple[SharedHandler, ...] = ()
    programs: Mapping[str, SharedProgram] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)
    notes: Mapping[str, Noted] = field(default_factory=dict)
    sources: tuple[SharedSource, ...] = ()
