"""Source trees and source maps, and the state of their index."""

from __future__ import annotations

from dataclasses import dataclass

from framedex.model.places import NEAREST


@dataclass(frozen=True, slots=True)
class SourceMapInfo:
    """The content and the origin of a source map.

    `repository` is the public address of a repository, without the ending `.git`; None if there is none. `commit` is a
    full commit id. `is_dirty`: it was made from modified files. `tool` is the version of framedex. `is_nearest`: it
    replaces the map of a commit that is unknown or has no map, as the nearest available one.
    """

    component: str
    repository: str | None
    commit: str
    is_dirty: bool
    tool: str
    is_nearest: bool = False

    @property
    def prefix(self) -> str:
        """The prefix of its file paths, which no local path has: `xla@5a9e73cbd929:`."""
        changes, nearest = "+changes" * self.is_dirty, NEAREST * self.is_nearest
        return f"{self.component}@{self.commit[:12]}{changes}{nearest}:"


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

    `message` omits the numbers that differ between them; `unit` is the counted unit.
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
