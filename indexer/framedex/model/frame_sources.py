"""Where the lines of recorded frames come from, component by component."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class LinesFrom(StrEnum):
    """Where the line of a frame comes from. Every frame is of exactly one kind; the best that there is comes first."""

    SOURCE_FOLDER = "source folder"  # a file of a source folder that is here
    FILE_HERE = "file here"  # any other file that is here: an installed one, or at the path that was recorded
    IMPORTED_MAP = "imported map"
    RELEASE_MAP = "release map"  # one that framedex ships, of the very release that was recorded
    NEAREST_RELEASE = "nearest release"  # one that framedex ships, of another release
    DEBUG_INFORMATION = "debug information"  # its file is not here
    CODE_OBJECT = "code object"  # Python's own line; its file is not here, or there is none
    NAME_ONLY = "name only"
    NO_NAME = "no name"

    @property
    def is_here(self) -> bool:
        """Whether the file of the line is on this machine."""
        return self in (LinesFrom.SOURCE_FOLDER, LinesFrom.FILE_HERE)


@dataclass(frozen=True, slots=True)
class SourcedFrames:
    """How many frames have their lines from one place. `folder` is the source folder, empty where it is none.

    `public` of them are not here and have a public address.
    """

    lines_from: LinesFrom
    folder: str
    frames: int
    public: int


@dataclass(frozen=True, slots=True)
class ComponentFrames:
    """The recorded frames of one component at one version, the best sources first.

    `component` is a key of `releases.components.Component`, `name` that of a plug-in, empty for others. `version` is
    that of the release that it came in, for XLA jaxlib's; `revision` the commit or tag of its repository. Both are
    empty where they are not known.
    """

    component: str
    name: str
    version: str
    revision: str
    sources: tuple[SourcedFrames, ...]

    @property
    def frames(self) -> int:
        """How many frames there are."""
        return sum(each.frames for each in self.sources)

    def count(self, *kinds: LinesFrom) -> int:
        """How many of the frames have their lines from there."""
        return sum(each.frames for each in self.sources if each.lines_from in kinds)
