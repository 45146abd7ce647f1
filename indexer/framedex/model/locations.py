"""Locations in sources and their evidence; languages and roles of frames."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum

MAP_PATH = re.compile(
    r"(?P<component>[A-Za-z0-9][\w.-]{0,99})@(?P<revision>[0-9a-f]{7,64})(?P<state>(?:\+[\w-]+)*):(?P<path>[^/].*)",
    re.ASCII,
)
"""The paths of source maps: `SourceMapInfo.prefix`, then a path within a repository."""

# Paths of framedex's own binaries and Python files, installed or in a checkout. The demo counts as a user's program.
_LIBRARY_FILES = re.compile(r"/(?:site|dist)-packages/|/lib(?:64)?/python3\.")
_FRAMEDEX_FILES = re.compile(
    r"/framedex_native/|/(?:(?:site|dist)-packages|indexer)/framedex/(?!demo/)|/libframedex_\w+\.so$"
)

_CONTROL_CHARACTER = re.compile(r"[\x00-\x1f\x7f\\]")


class LocationEvidence(StrEnum):
    """The evidence for a location. A guess is never presented as a fact."""

    EXACT = "exact"  # DWARF or Python's own location table: the line that was executing
    SINGLE = "single"  # the only call of the next inner frame in this function, both written and compiled
    RANKED = "ranked"  # one of several calls, chosen by the rank of the return address
    INLINED_HOP = "inlined-hop"  # through a function that was inlined in between
    OP_NAME = "op-name"  # the line of a recorded op with the name in a text, perhaps in another version of the program
    BETWEEN = "between"  # a range of lines: between the calls that run before and after it
    DEFINITION = "definition"  # the line where the function is defined, not the line of the call
    CLASS = "class"  # an implicit member: the line of its class
    FOLLOWED = "followed"  # a line named in a text, mapped from another version of the file
    DOUBTFUL = "doubtful"  # a line or offset named in a text, in a local file that may be another version
    CANDIDATES = "candidates"  # several definitions or files match; all are listed


class SiteEvidence(StrEnum):
    """The evidence for the `ffi_call` of a handler run."""

    EXACT = "exact"  # from the compiled program
    SINGLE = "single"  # the only possible one
    AMBIGUOUS = "ambiguous"  # one of several


class LinkEvidence(StrEnum):
    """The evidence for the Python that caused a call but is not on its stack. All except the last are inferences."""

    HANDED_OVER = "handed-over"  # a thread waited during the call, and was the first to receive its result
    BETWEEN = "between"  # the only thread that called just before and just after, from these frames, but not meanwhile
    CANDIDATES = "candidates"  # several such threads; all are listed
    TOLD = "told by JAX"  # reported by JAX with the call (`jax_send_traceback_to_runtime`)


class Language(StrEnum):
    """The language of a frame."""

    PYTHON = "python"
    NATIVE = "native"


class FrameRole(StrEnum):
    """The role of a frame: user and library code, glue between languages, or the interpreter itself."""

    CODE = "code"
    GLUE = "glue"
    INTERPRETER = "interpreter"


def is_library_file(path: str) -> bool:
    """Whether a Python file belongs to an installed package or to Python's standard library."""
    return _LIBRARY_FILES.search(path) is not None


def is_framedex_file(module_path: str) -> bool:
    """Whether a binary or Python file is part of framedex: its recorder, its mock TPU, its Python package."""
    return _FRAMEDEX_FILES.search(module_path) is not None


def is_local(path: str) -> bool:
    """Whether a path in the index is a file path of this or a similar machine, not a source map path."""
    return path.startswith("/")


NEAREST_SUFFIX = "+nearest"
"""The suffix of the commit in a source map path, if the map is only of the nearest release."""


UNCHANGED_SUFFIX = "+unchanged"
"""The suffix in place of `NEAREST_SUFFIX` for a definition that is the same in both neighbouring releases."""


def is_unchanged_between_releases(path: str) -> bool:
    """Whether the releases on both sides of the recorded one have the definition on the same lines."""
    return not is_local(path) and map_prefix(path).endswith(f"{UNCHANGED_SUFFIX}:")


def is_of_nearest_release(path: str) -> bool:
    """Whether a path is from a source map of a release near the recorded one (`xla@131bf41acb46+nearest:...`)."""
    return not is_local(path) and map_prefix(path).endswith(f"{NEAREST_SUFFIX}:")


def map_prefix(path: str) -> str:
    """The map's prefix in a source map path: `SourceMapInfo.prefix`."""
    return f"{path.partition(':')[0]}:"


def path_in_repository(path: str) -> str:
    """A source map path without component and commit; other paths unchanged."""
    match = MAP_PATH.fullmatch(path)
    return match["path"] if match is not None else path


def is_safe_relative_path(path: str) -> bool:
    """Whether a path is canonical and stays inside its repository: no `.`, `..`, empty part or control character."""
    return not _CONTROL_CHARACTER.search(path) and all(part not in ("", ".", "..") for part in path.split("/"))


class Staleness(StrEnum):
    """The state of a recorded or indexed line in a file that has changed since."""

    MOVED = "moved"  # the same line with a new number: the location has the new one
    GONE = "gone"  # the line was changed or removed: the location has its expected position
    UNKNOWN = "unknown"  # the old text is missing: the location has the old number


@dataclass(frozen=True, slots=True)
class Location:
    """A line in a source file: path, 1-based line, and the evidence for it.

    The path is absolute, or a source map path (`xla@5a9e73cbd929:xla/shape.cc`) without a local file. `url` is the
    public address of that line at the recorded commit, known for some files and only set for non-local ones. `stale` is
    set if the file has changed; `moved_from` is then the old line number, if it differs. `recorded_text` is the old
    text of a changed or removed line, if known. `last_line` is the last line of a range (`between`); `line` its first.
    """

    path: str
    line: int
    how: LocationEvidence
    url: str | None = field(default=None, compare=False)
    stale: Staleness | None = None
    moved_from: int | None = None
    recorded_text: str = field(default="", compare=False)
    last_line: int | None = None


@dataclass(frozen=True, slots=True)
class FileState:
    """A file at one moment: mtime in ns, size in bytes, and its content as a git blob name (SHA-1, in hex).

    `blob` is empty if the content at that moment is unknown.
    """

    modified: int
    size: int
    blob: str
