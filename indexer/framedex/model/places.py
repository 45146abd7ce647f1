"""Places in sources and how they are known; what a frame is."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum

OF_A_MAP = re.compile(
    r"(?P<component>[A-Za-z0-9][\w.-]{0,99})@(?P<revision>[0-9a-f]{7,64})(?P<state>(?:\+[\w-]+)*):(?P<path>[^/].*)",
    re.ASCII,
)
"""The paths of source maps: `SourceMapInfo.prefix`, and a path within a repository."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f\\]")


class How(StrEnum):
    """How a location is known. A bare guess is never shown as a fact."""

    EXACT = "exact"  # DWARF or Python's own location table: the very line that was executing
    SINGLE = "single"  # the only call of the next frame in this function, as written and as compiled
    RANKED = "ranked"  # one of several calls, chosen by the rank of the return address
    INLINED_HOP = "inlined-hop"  # through a function that was inlined in between
    DEFINITION = "definition"  # the line where the function is defined, not the line of the call
    CLASS = "class"  # an implicit member: the line of its class
    FOLLOWED = "followed"  # a text's line, found in another version of the file it names
    DOUBTFUL = "doubtful"  # a text's line or offset in a file here that may be another version
    CANDIDATES = "candidates"  # several definitions, or files, fit; all are listed


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


NEAREST = "+nearest"
"""What the part of a source map's path that names the commit ends with, where that is of the nearest release only."""


def is_of_nearest_release(path: str) -> bool:
    """Whether a path is of a source map of another release than what was recorded (`xla@131bf41acb46+nearest:...`)."""
    return not is_local(path) and prefix_in(path).endswith(f"{NEAREST}:")


def prefix_in(path: str) -> str:
    """What says in the path of a source map which map that is: `SourceMapInfo.prefix`."""
    return f"{path.partition(':')[0]}:"


def path_in_repository(path: str) -> str:
    """The path of a source map without what says of which component and commit it is; another one as it is."""
    match = OF_A_MAP.fullmatch(path)
    return match["path"] if match is not None else path


def leads_inside(path: str) -> bool:
    """Whether a path leads to somewhere inside a repository, written in the one way there is, and into none above."""
    return not _CONTROL.search(path) and all(part not in ("", ".", "..") for part in path.split("/"))


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
    `recorded_text` is what a line that was changed or removed was when it was recorded, as far as that is known.
    """

    path: str
    line: int
    how: How
    url: str | None = field(default=None, compare=False)
    stale: Stale | None = None
    moved_from: int | None = None
    recorded_text: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class FileState:
    """A file at some moment: mtime in ns, size in bytes, and its content as the name of a git blob (SHA-1, in hex).

    `blob` is empty where the content at that moment is not known.
    """

    modified: int
    size: int
    blob: str
