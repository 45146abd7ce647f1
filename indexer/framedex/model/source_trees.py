"""Source trees and source maps, the state of their index, and the sources of the lines of recorded frames."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from framedex.model.locations import NEAREST_SUFFIX, UNCHANGED_SUFFIX


@dataclass(frozen=True, slots=True)
class SourceMapInfo:
    """The content and the origin of a source map.

    `repository` is the public address of a repository, without the ending `.git`; None if there is none. `commit` is a
    full commit id. `is_dirty` is true if it was created from modified files. `tool` is the version of framedex.
    `is_nearest`: it replaces the map of a commit that is unknown or has no map, as the nearest available one.
    `is_unchanged`: it stands for its definitions that the releases on both sides of that commit have on the same lines.
    """

    component: str
    repository: str | None
    commit: str
    is_dirty: bool
    tool: str
    is_nearest: bool = False
    is_unchanged: bool = False

    @property
    def prefix(self) -> str:
        """The prefix of its file paths, which no local path has: `xla@5a9e73cbd929:`."""
        nearest = UNCHANGED_SUFFIX if self.is_unchanged else NEAREST_SUFFIX
        return f"{self.component}@{self.commit[:12]}{'+changes' * self.is_dirty}{nearest * self.is_nearest}:"


@dataclass(frozen=True, slots=True)
class SourceRoot:
    """A source folder and the number of its indexed files."""

    path: str
    files: int


@dataclass(frozen=True, slots=True)
class SourceTotals:
    """The source files of one language in the index.

    `with_errors` counts files with syntax errors, `broken` the definitions that contain one. `calling` counts the
    definitions with known calls.
    """

    language: str
    files: int
    with_errors: int
    definitions: int
    broken: int
    calling: int


@dataclass(frozen=True, slots=True)
class SourceProblem:
    """A problem of several source files or folders: their number, and the paths of a few.

    `message` omits the numbers that differ between them; `unit` is the noun for the number, such as `file`.
    """

    message: str
    count: int
    examples: tuple[str, ...]
    unit: str = "file"


@dataclass(frozen=True, slots=True)
class SourceHealth:
    """The state of the source trees: their folders, the totals of each language, and the problems.

    `maps` are the source maps in use besides them.
    """

    roots: tuple[str, ...]
    totals: tuple[SourceTotals, ...]
    macros: int
    problems: tuple[SourceProblem, ...]
    maps: tuple[SourceMapInfo, ...] = ()


class LineSource(StrEnum):
    """The source of a frame's line. Every frame has exactly one; the best available comes first."""

    SOURCE_FOLDER = "source folder"  # a local file in a source folder
    FILE_HERE = "file here"  # any other local file: installed, or at the recorded path
    IMPORTED_MAP = "imported map"
    RELEASE_MAP = "release map"  # shipped with framedex, for the recorded release or the same on both sides of it
    NEAREST_RELEASE = "nearest release"  # shipped with framedex, for another release
    DEBUG_INFORMATION = "debug information"  # the file is missing
    CODE_OBJECT = "code object"  # Python's own line; the file is missing, or there is none
    NAME_ONLY = "name only"
    NO_NAME = "no name"

    @property
    def is_here(self) -> bool:
        """Whether the file of the line is on this machine."""
        return self in (LineSource.SOURCE_FOLDER, LineSource.FILE_HERE)


@dataclass(frozen=True, slots=True)
class FramesBySource:
    """The number of frames with lines from one source. `folder` is the source folder, empty for other sources.

    `public` counts the frames that have no local file but a public address.
    """

    lines_from: LineSource
    folder: str
    frames: int
    public: int


@dataclass(frozen=True, slots=True)
class ComponentFrames:
    """The recorded frames of one component at one version, best sources first.

    `component` is a key of `releases.components.Component`; `name` is the name of a plug-in, empty for others.
    `version` is the release that contains it, for XLA the version of jaxlib. `revision` is the commit or tag of its
    repository. Both are empty if unknown.
    """

    component: str
    name: str
    version: str
    revision: str
    sources: tuple[FramesBySource, ...]

    @property
    def frames(self) -> int:
        """The number of frames."""
        return sum(each.frames for each in self.sources)

    def count(self, *kinds: LineSource) -> int:
        """The number of frames with lines from these sources."""
        return sum(each.frames for each in self.sources if each.lines_from in kinds)
