"""The sources of the lines of recorded frames, by component."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class LinesFrom(StrEnum):
    """The source of a frame's line. Every frame has exactly one; the best available comes first."""

    SOURCE_FOLDER = "source folder"  # a local file in a source folder
    FILE_HERE = "file here"  # any other local file: installed, or at the recorded path
    IMPORTED_MAP = "imported map"
    RELEASE_MAP = "release map"  # shipped with framedex, for the recorded release
    NEAREST_RELEASE = "nearest release"  # shipped with framedex, for another release
    DEBUG_INFORMATION = "debug information"  # the file is missing
    CODE_OBJECT = "code object"  # Python's own line; the file is missing, or there is none
    NAME_ONLY = "name only"
    NO_NAME = "no name"

    @property
    def is_here(self) -> bool:
        """Whether the file of the line is on this machine."""
        return self in (LinesFrom.SOURCE_FOLDER, LinesFrom.FILE_HERE)


@dataclass(frozen=True, slots=True)
class SourcedFrames:
    """The number of frames with lines from one source. `folder` is the source folder, empty for other sources.

    `public` counts the frames that have no local file but a public address.
    """

    lines_from: LinesFrom
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
    sources: tuple[SourcedFrames, ...]

    @property
    def frames(self) -> int:
        """The number of frames."""
        return sum(each.frames for each in self.sources)

    def count(self, *kinds: LinesFrom) -> int:
        """The number of frames with lines from these sources."""
        return sum(each.frames for each in self.sources if each.lines_from in kinds)
