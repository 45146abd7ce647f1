"""The part of the index that knows source trees: roots, files, definitions, and where functions were found in them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from framedex.index import aggregates
from framedex.index.database import translated
from framedex.index.interning import file_ids, place
from framedex.index.records import FunctionRecord, Placement, UnplacedFunction
from framedex.index.rows import IN_JSON, Row, location, placeholders
from framedex.index.source_files import forget_definitions, replace_files
from framedex.index.values import storable
from framedex.model import Definition, ExtractedFile, How, Language, Role


@dataclass(frozen=True, slots=True)
class SourceTables:
    """The source tables of an open index. Writes belong into a transaction of the `Store` that this is part of."""

    connection: sqlite3.Connection
    path: Path

    def roots(self) -> list[str]:
        """The source folders to keep indexed."""
        return [path for (path,) in self._rows("SELECT path FROM source_roots ORDER BY id")]

    def add_root(self, root: str) -> None:
        """Remember a source folder (absolute path)."""
        self._rows("INSERT OR IGNORE INTO source_roots(path) VALUES (?)", storable(root))

    def known_files(self) -> dict[str, tuple[int, int]]:
        """(mtime in ns, size) of every source file that was parsed, by path."""
        rows = self._rows("SELECT f.path, s.modified, s.size FROM source_files s JOIN files f ON f.id = s.file")
        return {path: (modified, size) for path, modified, size in rows}

    def frame_files(self) -> list[str]:
        """The files that exact frames point to: worth reading even outside the roots."""
        return [
            path
            for (path,) in self._rows(
                "SELECT path FROM files WHERE id IN (SELECT file FROM frames WHERE how = ?"
                " UNION SELECT file FROM functions WHERE how = ?)",
                How.EXACT.value,
                How.EXACT.value,
            )
        ]

    def replace_files(self, files: Sequence[ExtractedFile], roots: Mapping[str, str]) -> int:
        """Store read files in place of what was known of them; how many definitions are new.

        `roots` is the root that a path belongs to, if it belongs to one.
        """
        ids: dict[str, int] = dict(self._rows("SELECT path, id FROM source_roots"))
        return replace_files(self.connection, files, {path: ids[root] for path, root in roots.items()})

    def remove_files(self, paths: Iterable[str]) -> None:
        """Forget source files that are gone, with their definitions."""
        files = [
            file for (file,) in self._rows(f"SELECT id FROM files WHERE path {IN_JSON}", placeholders(list(paths)))
        ]
        forget_definitions(self.connection, files)
        self.connection.executemany("DELETE FROM source_files WHERE file = ?", [(file,) for file in files])

    def macros(self) -> str:
        """What was learnt from the source files read so far, one macro a line."""
        return "".join(f"{macro}\n" for (macro,) in self._rows("SELECT macro FROM macros ORDER BY macro"))

    def add_macros(self, macros: str) -> None:
        """Remember more of them."""
        lines = [(storable(line),) for line in macros.splitlines()]
        self.connection.executemany("INSERT OR IGNORE INTO macros(macro) VALUES (?)", lines)

    def calls_of(self, path: str, line: int) -> str | None:
        """The calls of the definition that begins on this line, as JSON (see `sources.call_sites`); None for none."""
        rows = self._rows(
            "SELECT c.sites FROM call_sites c JOIN definitions d ON d.id = c.definition"
            " WHERE d.file = (SELECT id FROM files WHERE path = ?) AND d.line = ?",
            path,
            line,
        )
        return rows[0][0] if rows else None

    def unplaced_functions(self) -> list[UnplacedFunction]:
        """The functions whose definitions, or whose frames, changed since they were last looked up."""
        return self._functions("fn.short_name IN (SELECT short_name FROM unmatched)")

    def unlocated_functions(self) -> list[UnplacedFunction]:
        """The native functions, glue left out, of which no place in any source is known."""
        return self._functions("fn.file IS NULL AND fn.language = 'native' AND fn.role = 'code' AND fn.symbol <> ''")

    def _functions(self, condition: str) -> list[UnplacedFunction]:
        rows = self._rows(
            "SELECT fn.id, fn.language, fn.role, fn.name, fn.short_name, fn.symbol, fn.mangled, fn.module, fn.unit,"
            " fn.first_line, f.path, fn.line, fn.how, x.path, fr.line"
            " FROM functions fn LEFT JOIN files f ON f.id = fn.file LEFT JOIN frames fr ON fr.id ="
            " (SELECT min(id) FROM frames WHERE function = fn.id AND how = 'exact')"
            f" LEFT JOIN files x ON x.id = fr.file WHERE {condition}"
        )
        return [
            UnplacedFunction(
                id=row[0],
                record=_function_record(row[1:13]),
                seen_at=location(row[13], row[14], How.EXACT),
            )
            for row in rows
        ]

    def definitions(self, short_name: str, language: str) -> list[tuple[str, Definition]]:
        """The (path, definition) pairs with this short name in files of a language, in order of path and line."""
        rows = self._rows(
            "SELECT f.path, d.name, d.kind, d.parameters, d.line, d.end_line, d.is_const"
            " FROM definitions d JOIN files f ON f.id = d.file JOIN source_files s ON s.file = d.file"
            " WHERE d.short_name = ? AND s.language = ? ORDER BY f.path, d.line",
            short_name,
            language,
        )
        return [(row[0], Definition(row[1], row[2], row[3], row[4], row[5], bool(row[6]))) for row in rows]

    def place_functions(self, placements: Sequence[Placement]) -> None:
        """Record where functions were found, and give the same place to their frames that have no exact line."""
        places = [spot for placement in placements for spot in (placement.location, *placement.candidates) if spot]
        files = file_ids(self.connection, {spot.path for spot in places})
        moved = sum(self._place(placement, files) for placement in placements)
        if moved:
            aggregates.rebuild_lines(self.connection)
        self.connection.execute("DELETE FROM unmatched")

    def _place(self, placement: Placement, files: Mapping[str, int]) -> int:
        """Store one placement; how many frames it moved."""
        where = place(placement.location, files)
        self.connection.execute(
            "UPDATE functions SET file = ?2, line = ?3, how = ?4, end_line = CASE"
            " WHEN ?5 > 0 OR ?2 IS NULL THEN ?5"
            " ELSE coalesce((SELECT max(line) FROM frames WHERE function = ?1 AND file = ?2 AND how = 'exact'), 0) END"
            " WHERE id = ?1",
            (placement.function, *where, placement.end_line),
        )
        open_frames = "function = ? AND module IS NOT NULL AND how IS NOT 'exact'"
        moved = self.connection.execute(
            f"UPDATE frames SET file = ?, line = ?, how = ? WHERE {open_frames}"
            " AND (file IS NOT ? OR line IS NOT ? OR how IS NOT ?)",
            (*where, placement.function, *where),
        ).rowcount
        self.connection.execute(
            f"DELETE FROM candidates WHERE frame IN (SELECT id FROM frames WHERE {open_frames})", (placement.function,)
        )
        for rank, candidate in enumerate(placement.candidates):
            self.connection.execute(
                "INSERT INTO candidates(frame, rank, file, line, how)"
                f" SELECT id, ?, ?, ?, ? FROM frames WHERE {open_frames}",
                (rank, *place(candidate, files), placement.function),
            )
        return moved

    def _rows(self, query: str, *parameters: object) -> list[Row]:
        with translated(self.path):
            return self.connection.execute(query, parameters).fetchall()


def _function_record(row: Row) -> FunctionRecord:
    language, role, name, short_name, symbol, mangled, module, unit, first_line, path, line, how = row
    return FunctionRecord(
        language=Language(language),
        role=Role(role),
        name=name,
        short_name=short_name,
        symbol=symbol,
        mangled=mangled,
        module=module,
        unit=unit,
        first_line=first_line,
        location=location(path, line, how),
    )
