"""The source tables of the index: roots, files, definitions, and the locations of functions in them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from framedex.index.file.conventions import (
    DEFINITIONS_BY_NAME,
    DEFINITIONS_WITH_CALLS,
    IN_JSON,
    RELEASED_FILES,
    Row,
    build_definition,
    build_definitions_with_calls,
    build_json_list,
    read_source_maps,
)
from framedex.index.file.database import translate_errors
from framedex.index.file.values import build_location, to_storable, to_unsigned
from framedex.index.write import locations, source_files
from framedex.index.write.records import (
    FramePlacement,
    FunctionPlacement,
    FunctionRecord,
    RecordedLine,
    UnplacedFunction,
    UnresolvedFrame,
)
from framedex.index.write.source_files import delete_definitions, mark_stale, replace_files
from framedex.model import BinaryId, Definition, ExtractedFile, FrameRole, Language, LocationEvidence, SourceMapInfo
from framedex.path_resolution.files import PathRule
from framedex.sources.releases import BinaryOrigin

_FILES_OF_ROOT = """
    SELECT f.path FROM source_files s JOIN files f ON f.id = s.file JOIN source_roots r ON r.id = s.root
    WHERE r.path = ?
"""


@dataclass(frozen=True, slots=True)
class SourceTables:
    """The source tables of an open index. Write only inside a transaction of the `Store` that owns them."""

    connection: sqlite3.Connection
    path: Path

    def roots(self) -> list[str]:
        """Return the source folders of the index."""
        return [path for (path,) in self._rows("SELECT path FROM source_roots ORDER BY id")]

    def has_unread_roots(self) -> bool:
        """Return whether a stored source root has no files yet."""
        query = "SELECT 1 FROM source_roots WHERE id NOT IN (SELECT root FROM source_files WHERE root IS NOT NULL)"
        return bool(list(self._rows(query)))

    def remove_root(self, root: str) -> bool:
        """Remove a source folder with all its files; return False if it was not a source folder."""
        files = [path for (path,) in self._rows(_FILES_OF_ROOT, to_storable(root))]
        self.remove_files(files)
        return self.connection.execute("DELETE FROM source_roots WHERE path = ?", (to_storable(root),)).rowcount > 0

    def add_root(self, root: str) -> None:
        """Store a source folder (absolute path)."""
        self._rows("INSERT OR IGNORE INTO source_roots(path) VALUES (?)", to_storable(root))

    def path_rules(self) -> list[PathRule]:
        """Return the project's rules for mapping recorded paths to local paths."""
        return [
            PathRule(before, Path(after))
            for before, after in self._rows("SELECT before, after FROM path_rules ORDER BY before")
        ]

    def replace_path_rules(self, rules: Iterable[PathRule]) -> None:
        """Replace the stored rules by these rules."""
        rows = {to_storable(rule.before.rstrip("/") or "/"): to_storable(str(rule.after)) for rule in rules}
        if rows == dict(self._rows("SELECT before, after FROM path_rules")):
            return
        self.connection.execute("DELETE FROM path_rules")
        self.connection.executemany("INSERT INTO path_rules(before, after) VALUES (?, ?)", rows.items())

    def known_files(self) -> dict[str, tuple[int, int]]:
        """Return (mtime in ns, size) of every source file that was parsed here, by path."""
        rows = self._rows(
            "SELECT f.path, s.modified, s.size FROM source_files s JOIN files f ON f.id = s.file WHERE s.map IS NULL"
        )
        return {path: (modified, size) for path, modified, size in rows}

    def files_of_exact_locations(self) -> list[str]:
        """Return the files of exact locations, which are read even if they are outside the roots."""
        return [
            path
            for (path,) in self._rows(
                "SELECT path FROM files WHERE id IN (SELECT file FROM frames WHERE how = ?"
                " UNION SELECT file FROM functions WHERE how = ?)",
                LocationEvidence.EXACT.value,
                LocationEvidence.EXACT.value,
            )
        ]

    def files_outside_trees(self) -> dict[str, set[str]]:
        """Return the native source files in no source folder and no map, with the binaries of their exact frames.

        A frame of a shared capture counts if the file has not changed since it was recorded.
        """
        rows = self._rows(
            "SELECT DISTINCT f.path, fn.module FROM source_files s JOIN files f ON f.id = s.file"
            " LEFT JOIN frames fr ON fr.file = s.file AND fr.how = 'exact' AND (fr.module IS NOT NULL OR EXISTS ("
            "SELECT 1 FROM file_versions v WHERE v.id = fr.version AND (v.modified, v.size) = (s.modified, s.size)))"
            " LEFT JOIN functions fn ON fn.id = fr.function"
            " WHERE s.root IS NULL AND s.map IS NULL AND s.language <> 'python'"
        )
        found: dict[str, set[str]] = {}
        for path, module in rows:
            found.setdefault(path, set()).add(module)
        return found

    def recorded_files(self) -> list[str]:
        """Return the paths in debug information, code objects and programs, including those of other machines."""
        query = (
            "SELECT path FROM files WHERE id IN (SELECT recorded_file FROM frames"
            " UNION SELECT recorded_file FROM program_frames) ORDER BY path"
        )
        return [path for (path,) in self._rows(query)]

    def recorded_locations(self, paths: Iterable[str]) -> list[RecordedLine]:
        """Return the frames that were recorded in these files."""
        rows = self._rows(
            "SELECT fr.id, fn.language, fn.name, fn.short_name, fn.first_line, f.path, fr.recorded_line FROM frames fr"
            " JOIN files f ON f.id = fr.recorded_file JOIN functions fn ON fn.id = fr.function"
            f" WHERE f.path {IN_JSON} ORDER BY fr.id",
            build_json_list(paths),
        )
        return [RecordedLine(row[0], Language(row[1]), *row[2:7]) for row in rows]

    def replace_files(
        self, files: Sequence[ExtractedFile], roots: Mapping[str, str], source_map: int | None = None
    ) -> int:
        """Replace the stored data of files; return the number of new definitions.

        `roots` maps a path to its root, if it belongs to one. `source_map` is the id of the map that contains the
        files, if any.
        """
        ids: dict[str, int] = dict(self._rows("SELECT path, id FROM source_roots"))
        return replace_files(self.connection, files, {path: ids[root] for path, root in roots.items()}, source_map)

    def assign_roots(self, roots: Mapping[str, str]) -> None:
        """Assign stored files to these roots, by path. Definitions of a file with a new root are looked up again."""
        ids: dict[str, int] = dict(self._rows("SELECT path, id FROM source_roots"))
        rows = self._rows("SELECT s.file, f.path, s.root FROM source_files s JOIN files f ON f.id = s.file")
        moved = [(ids[roots[path]], file) for file, path, root in rows if path in roots and ids[roots[path]] != root]
        self.connection.executemany("UPDATE source_files SET root = ? WHERE file = ?", moved)
        mark_stale(self.connection, [file for _, file in moved])

    def extracted_file(self, path: str) -> ExtractedFile | None:
        """Return a stored file with all its definitions and calls; None if it was not read."""
        rows = self._rows(
            "SELECT s.file, s.language, s.modified, s.size, s.content, s.errors, s.problems"
            " FROM source_files s JOIN files f ON f.id = s.file WHERE f.path = ?",
            path,
        )
        if not rows:
            return None
        file, language, modified, size, content, errors, problems = rows[0]
        definitions = self._rows(
            "SELECT d.name, d.short_name, d.kind, d.parameters, d.line, d.end_line, d.is_const, d.is_broken, c.sites"
            " FROM definitions d LEFT JOIN call_sites c ON c.definition = d.id WHERE d.file = ? ORDER BY d.id",
            file,
        )
        return ExtractedFile(path, language, modified, size, content, errors, definitions, tuple(json.loads(problems)))

    def maps(self) -> list[SourceMapInfo]:
        """Return the source maps with stored definitions."""
        with translate_errors(self.path):
            return read_source_maps(self.connection)

    def replace_map(
        self, info: SourceMapInfo, origin: str, modified: int, size: int
    ) -> tuple[SourceMapInfo | None, int]:
        """Replace the map of a component; returns the replaced map (None if there was none) and the new id.

        `origin` is the imported file, with its mtime in ns and its size in bytes.
        """
        return source_files.replace_map(self.connection, info, origin, modified, size)

    def remove_map(self, component: str) -> SourceMapInfo | None:
        """Remove the map of a component; return its info, None if there was no map."""
        return source_files.remove_map(self.connection, component)

    def is_map_known(self, origin: str, modified: int, size: int) -> bool:
        """Return whether a map was read from this file in this state."""
        known = (to_storable(origin), modified, size)
        return bool(self._rows("SELECT 1 FROM source_maps WHERE path = ? AND modified = ? AND size = ?", *known))

    def map_origin(self, component: str) -> str | None:
        """Return the file that the map of a component was read from; None if there is no such map."""
        rows = self._rows("SELECT path FROM source_maps WHERE component = ? AND release IS NULL", component)
        return rows[0][0] if rows else None

    def store_release_maps(self, maps: Iterable[tuple[SourceMapInfo, str]]) -> None:
        """Store the release maps that locations refer to, each with its release."""
        for info, release in maps:
            source_files.store_release_map(self.connection, info, release)

    def read_release_maps_state(self) -> str | None:
        """Return the state of the release maps when functions were last marked for a lookup in them; None if never."""
        rows = self._rows("SELECT state FROM release_maps")
        return rows[0][0] if rows else None

    def mark_stale_for_release_maps(self, state: str) -> None:
        """Mark the functions without another location for a lookup in the release maps, which now have this state."""
        self.connection.execute("DELETE FROM release_maps")
        self.connection.execute("INSERT INTO release_maps(state) VALUES (?)", (state,))
        self.connection.execute(
            "INSERT OR IGNORE INTO unmatched SELECT DISTINCT fn.short_name FROM functions fn"
            f" WHERE fn.language = 'native' AND fn.symbol <> '' AND (fn.file IS NULL OR fn.file IN ({RELEASED_FILES}))"
        )

    def clear_release_maps_state(self) -> None:
        """Clear the stored state of the release maps, so that functions are looked up in them again."""
        self.connection.execute("DELETE FROM release_maps")

    def revisions(self) -> set[tuple[str, str, str]]:
        """Return the recorded components, each as its name, its release, and its commit."""
        return {row[:3] for row in self._rows("SELECT DISTINCT component, version, revision FROM builds")}

    def module_folders(self) -> set[str]:
        """Return the folders of the recorded binaries."""
        rows = self._rows("SELECT DISTINCT path FROM modules WHERE path LIKE '/%'")
        return {path.rpartition("/")[0] for (path,) in rows}

    def remove_files(self, paths: Iterable[str]) -> None:
        """Remove deleted source files, with their definitions."""
        files = [file for (file,) in self._rows(f"SELECT id FROM files WHERE path {IN_JSON}", build_json_list(paths))]
        delete_definitions(self.connection, files)
        self.connection.executemany("DELETE FROM source_files WHERE file = ?", [(file,) for file in files])

    def macros(self, root: str) -> str:
        """Return the macros of the source files read so far, one per line.

        The last macro of a name counts. Macros of the tree at `root` come after the macros of other trees.
        """
        rows = self._rows("SELECT macro FROM macros ORDER BY root = ?, root, macro", to_storable(root))
        return "".join(f"{macro}\n" for (macro,) in rows)

    def add_macros(self, root: str, macros: str) -> None:
        """Store macros of the tree at `root`, one per line."""
        lines = [(to_storable(root), to_storable(line)) for line in macros.splitlines()]
        self.connection.executemany("INSERT OR IGNORE INTO macros(root, macro) VALUES (?, ?)", lines)

    def stale_functions(self) -> list[UnplacedFunction]:
        """Return the functions whose definitions or frames have changed since they were last looked up."""
        return self._read_functions("fn.short_name IN (SELECT short_name FROM unmatched)")

    def unlocated_functions(self) -> list[UnplacedFunction]:
        """Return the native functions, except glue, without a location in any source, or whose location is stale.

        A location from a release map does not count, so that the source itself is still read.
        """
        lost = (
            "fn.short_name IN (SELECT short_name FROM unmatched) AND fn.file NOT IN (SELECT file FROM source_files)"
            " AND NOT EXISTS (SELECT 1 FROM frames WHERE function = fn.id AND how = 'exact')"
        )
        return self._read_functions(
            f"(fn.file IS NULL OR fn.file IN ({RELEASED_FILES}) OR {lost})"
            " AND fn.language = 'native' AND fn.role = 'code' AND fn.symbol <> ''"
        )

    def _read_functions(self, condition: str) -> list[UnplacedFunction]:
        rows = self._rows(
            "SELECT fn.id, fn.language, fn.role, fn.name, fn.short_name, fn.symbol, fn.mangled, fn.module, fn.unit,"
            " fn.first_line, f.path, fn.line, fn.how, fn.release, fn.is_release_known, x.path, fr.line"
            " FROM functions fn LEFT JOIN files f ON f.id = fn.file LEFT JOIN frames fr ON fr.id ="
            " (SELECT min(id) FROM frames WHERE function = fn.id AND how = 'exact')"
            f" LEFT JOIN files x ON x.id = fr.file WHERE {condition}"
        )
        return [
            UnplacedFunction(
                id=row[0],
                record=_build_function_record(row[1:15]),
                seen_line=build_location(row[15], row[16], LocationEvidence.EXACT),
            )
            for row in rows
        ]

    def definitions(self, short_name: str, language: str) -> list[tuple[str, Definition]]:
        """Return the (path, definition) pairs with this short name in files of a language, in order of path and line.

        If a source tree and a map have the same file, the definitions of the tree are returned.
        """
        return [
            (path, build_definition(*columns))
            for path, *columns in self._rows(DEFINITIONS_BY_NAME, short_name, language)
        ]

    def inexact_frames(self, functions: Iterable[int]) -> list[UnresolvedFrame]:
        """Return the frames of these functions that have no exact line, once per callee; an unnamed callee is empty."""
        rows = self._rows(
            "SELECT DISTINCT fr.id, fr.function, m.path, m.build_id, m.fingerprint, fr.offset, called.symbol"
            " FROM frames fr JOIN modules m ON m.id = fr.module JOIN nodes n ON n.frame = fr.id"
            " JOIN nodes below ON below.parent = n.id JOIN frames inward ON inward.id = below.frame"
            " JOIN functions called ON called.id = inward.function"
            f" WHERE fr.function {IN_JSON} AND fr.how IS NOT 'exact' AND fr.depth = 0"
            " AND called.language = ? ORDER BY fr.id, called.symbol",
            build_json_list(functions),
            Language.NATIVE.value,
        )
        return [UnresolvedFrame(row[0], row[1], BinaryId(*row[2:5]), to_unsigned(row[5]), row[6]) for row in rows]

    def find_definitions_with_calls(self, path: str) -> list[Definition]:
        """Return the functions of a file, and its other definitions that contain calls, with their calls."""
        return build_definitions_with_calls(self._rows(DEFINITIONS_WITH_CALLS, path))

    def find_definitions(self, path: str) -> list[tuple[str, Definition]]:
        """Return the definitions of a file with their short names, without their calls."""
        rows = self._rows(
            "SELECT short_name, name, kind, parameters, line, end_line, is_const FROM definitions"
            " WHERE file = (SELECT id FROM files WHERE path = ?) ORDER BY line, id",
            path,
        )
        return [(short_name, build_definition(*columns)) for short_name, *columns in rows]

    def locate_program_lines(self, files: Mapping[str, str]) -> None:
        """Store the local files of program lines, by recorded file; other lines get the recorded file."""
        with translate_errors(self.path):
            locations.locate_program_lines(self.connection, files)

    def locate_recorded_frames(self, placements: Sequence[FramePlacement]) -> None:
        """Store the locations of frames whose recorded files have another path here; others get the recorded one.

        A Python function gets the file of its frames.
        """
        with translate_errors(self.path):
            locations.locate_recorded_frames(self.connection, placements)

    def write_placements(self, placements: Sequence[FunctionPlacement], frames: Sequence[FramePlacement] = ()) -> None:
        """Store the locations of functions, also for their frames without a line of their own.

        `frames` are the frames whose calls were found. Exact lines stay.
        """
        locations.write_placements(self.connection, placements, frames)

    def _rows(self, query: str, *parameters: object) -> list[Row]:
        with translate_errors(self.path):
            return self.connection.execute(query, parameters).fetchall()


def _build_function_record(row: Row) -> FunctionRecord:
    language, role, name, short_name, symbol, mangled, module, unit, first_line, path, line, how, *origin = row
    return FunctionRecord(
        language=Language(language),
        role=FrameRole(role),
        name=name,
        short_name=short_name,
        symbol=symbol,
        mangled=mangled,
        module=module,
        unit=unit,
        first_line=first_line,
        location=build_location(path, line, how),
        origin=BinaryOrigin(origin[0], bool(origin[1])),
    )
