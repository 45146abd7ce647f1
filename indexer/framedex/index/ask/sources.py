"""Queries for sources: parsed trees and their quality, and the releases of recorded code."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from framedex.index.file.conventions import read_source_maps
from framedex.index.file.paths import PROJECT_FOLDERS, build_project_moves
from framedex.index.read.locations import read_builds
from framedex.index.read.rows import Reader
from framedex.model import FileState, SourceHealth, SourceMapInfo, SourceProblem, SourceRoot, SourceTotals
from framedex.sources.releases import Build

if TYPE_CHECKING:
    from framedex.model import ComponentFrames
    from framedex.path_resolution.moved_files import FolderMoves

_MAX_EXAMPLES = 3
_NUMBER = re.compile(r"(?<![-\w])\d+")


@dataclass(frozen=True, slots=True)
class Sources:
    """The source trees and source maps of the index."""

    reader: Reader

    def health(self) -> SourceHealth:
        """Return the parse quality and problems of the source trees."""
        roots = self.reader.rows("SELECT path FROM source_roots ORDER BY id")
        macros = self.reader.rows("SELECT count(*) FROM macros")[0][0]
        return SourceHealth(
            tuple(path for (path,) in roots),
            _read_totals(self.reader),
            macros,
            _find_problems(self.reader),
            tuple(self.maps()),
        )

    def roots(self) -> list[SourceRoot]:
        """Return the source folders in the order of their addition, with their numbers of parsed files."""
        rows = self.reader.rows(
            "SELECT r.path, count(s.file) FROM source_roots r LEFT JOIN source_files s ON s.root = r.id"
            " GROUP BY r.id ORDER BY r.id"
        )
        return [SourceRoot(path, files) for path, files in rows]

    def read_project_moves(self) -> FolderMoves:
        """Return the former folders of a moved project, mapped to their current ones."""
        return build_project_moves([path for (path,) in self.reader.rows(PROJECT_FOLDERS)])

    def files(self) -> frozenset[str]:
        """Return the paths of the parsed source files on this machine."""
        query = "SELECT f.path FROM source_files s JOIN files f ON f.id = s.file WHERE s.map IS NULL"
        return frozenset(path for (path,) in self.reader.rows(query))

    def maps(self) -> list[SourceMapInfo]:
        """Return the source maps with known definitions."""
        return read_source_maps(self.reader.connection)

    def builds(self) -> list[Build]:
        """Return the components (jax, xla, ...) of recorded code, components of the latest capture first."""
        return read_builds(self.reader)

    def frames(self, folders: Mapping[str, str]) -> list[ComponentFrames]:
        """Return the origin of the lines of all recorded frames, by component and version.

        `folders` maps source folders to the component whose sources they have, or to "".
        """
        from framedex.index.ask.frame_sources import read_frames_by_component

        return read_frames_by_component(self.reader, folders)

    def is_known_source(self, path: str) -> bool:
        """Whether a source file is in the index or below a source root, so that a change must be parsed."""
        row = self.reader.row(
            "SELECT 1 FROM source_files WHERE file = (SELECT id FROM files WHERE path = ?1)"
            " UNION ALL SELECT 1 FROM source_roots WHERE substr(?1, 1, length(path) + 1) = path || '/' LIMIT 1",
            path,
        )
        return row is not None


def _read_totals(reader: Reader) -> tuple[SourceTotals, ...]:
    definitions = reader.rows(
        "SELECT s.language, count(*), sum(d.is_broken), count(c.definition) FROM definitions d"
        " JOIN source_files s ON s.file = d.file LEFT JOIN call_sites c ON c.definition = d.id GROUP BY s.language"
    )
    by_language = {row[0]: row[1:] for row in definitions}
    files = reader.rows(
        "SELECT language, count(*), sum(errors > 0) FROM source_files GROUP BY language ORDER BY 2 DESC"
    )
    return tuple(SourceTotals(*row, *by_language.get(row[0], (0, 0, 0))) for row in files)


def _find_problems(reader: Reader) -> tuple[SourceProblem, ...]:
    similar: dict[str, list[tuple[str, str]]] = {}
    found = "SELECT f.path, s.problems FROM source_files s JOIN files f ON f.id = s.file"
    for path, problems in reader.rows(f"{found} WHERE s.problems <> '[]' ORDER BY f.path"):
        for problem in json.loads(problems):
            similar.setdefault(_NUMBER.sub("…", problem), []).append((problem, path))
    files = {
        occurrences[0][0] if len({problem for problem, _ in occurrences}) == 1 else message: [
            path for _, path in occurrences
        ]
        for message, occurrences in similar.items()
    }
    broken = reader.rows(f"{found} WHERE s.errors > 0 ORDER BY s.errors DESC, f.path")
    if broken:
        files["Parts of the file could not be parsed: unusual macros or syntax errors."] = [path for path, _ in broken]
    files |= {message: paths for message, paths in _find_changed_files(reader).items() if paths}
    ordered = sorted(files.items(), key=lambda item: -len(item[1]))
    return tuple(SourceProblem(message, len(paths), tuple(paths[:_MAX_EXAMPLES])) for message, paths in ordered)


def _find_changed_files(reader: Reader) -> dict[str, list[str]]:
    """Return the paths of files that changed since their last parse or since their recording, by message."""
    read = reader.rows(
        "SELECT f.path, s.modified, s.size, s.blob FROM source_files s JOIN files f ON f.id = s.file"
        " WHERE s.map IS NULL ORDER BY f.path"
    )
    recorded = reader.rows(
        "SELECT f.path, v.modified, v.size, v.blob, max(v.modified) FROM file_versions v JOIN files f ON f.id = v.file"
        " GROUP BY f.id ORDER BY f.path"
    )
    changed = [
        (path, reader.places.change_since(path, FileState(*state)))
        for path, *state, _ in recorded
        if not reader.is_unchanged(path, FileState(*state))
    ]
    return {
        "Changed since it was parsed: `framedex index` parses it again.": [
            path for path, *state in read if not reader.is_unchanged(path, FileState(*state))
        ],
        "Changed since it was recorded: recorded lines are mapped to the current text. Record again to be sure.": [
            path for path, change in changed if change and change.lines is not None
        ],
        "Changed since it was recorded, and the recorded text is unavailable. Record again.": [
            path for path, change in changed if change and change.lines is None
        ],
    }
