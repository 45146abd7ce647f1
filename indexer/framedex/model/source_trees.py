"""Source trees and source maps, and the state of what was read of them."""

from __future__ import annotations

from dataclasses import dataclass

from framedex.model.places import NEAREST


@dataclass(frozen=True, slots=True)
class SourceMapInfo:
    """What a source map is of, and what made it.

    `repository` is the public address of a repository, without the ending `.git`; None if there is none. `commit` is a
    full commit id. `is_dirty`: it was made from files that were not those of the commit. `tool` is the version of
    framedex. `is_nearest`: it stands for a commit that is not known or has no map, as the nearest one that has.
    """

    component: str
    repository: str | None
    commit: str
    is_dirty: bool
    tool: str
    is_nearest: bool = False

    @property
    def prefix(self) -> str:
        """What stands before the paths of its files, which no local path begins with: `xla@5a9e73cbd929:`."""
        changes, nearest = "+changes" * self.is_dirty, NEAREST * self.is_nearest
        return f"{self.component}@{self.commit[:12]}{changes}{nearest}:"


@dataclass(frozen=True, slots=True)
class SourceRoot:
    """A source folder and how many files of it have been read."""

    path: str
    files: int


@dataclass(frozen=True, slots=True)
class SourceTotals:
    """The source files of one language in the index.

    `with_errors` counts the files that the grammar could not read everywhere, `broken` the definitions that are touched
    by that; `calling` the definitions whose calls are known.
    """

    language: str
    files: int
    with_errors: int
    definitions: int
    broken: int
    calling: int


@dataclass(frozen=True, slots=True)
class SourceProblem:
    """Something that is wrong with several source files, or folders: how many, and the paths of a few.

    `message` leaves out the numbers in which they differ; `unit` is what is counted.
    """

    message: str
    count: int
    examples: tuple[str, ...]
    unit: str = "file"


@dataclass(frozen=True, slots=True)
class SourceHealth:
    """How well the source trees are known: their folders, what was read of each language, and the problems met.

    `maps` are the source maps that stand beside them.
    """

    roots: tuple[str, ...]
    totals: tuple[SourceTotals, ...]
    macros: int
    problems: tuple[SourceProblem, ...]
    maps: tuple[SourceMapInfo, ...] = ()
