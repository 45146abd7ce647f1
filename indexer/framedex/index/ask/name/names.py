"""Look up names from a text (a symbol, a path on another machine, a build-id), and complete names by prefix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from framedex.base.lazy import compile_on_use
from framedex.index.ask.name.ops import find_op_lines
from framedex.index.file.conventions import (
    DEFINITIONS_BY_NAME,
    DEFINITIONS_WITH_CALLS,
    IN_JSON,
    build_definition,
    build_definitions_with_calls,
    build_json_list,
)
from framedex.index.read.rows import FUNCTION_COLUMNS, FUNCTION_TABLES, Reader, build_functions, read_frames_by_id
from framedex.model import Definition, FoundSymbol, Location, LocationEvidence

_CELL_PATH = compile_on_use(r".*[/\\]ipykernel_\d{1,9}[/\\]\d{1,20}\.py|<ipython-input-\d{1,9}-\w{1,64}>")
_MAX_FUNCTIONS = 16
_MAX_DEFINITIONS = 2_000
_MAX_SYMBOLS = 100


_LAST_CHARACTER = chr(0x10FFFF)

_MAX_FILES_SCANNED = 20_000  # files below a folder: a source tree may have many files with few recorded ones


@dataclass(frozen=True, slots=True)
class NameLookup:
    """Lookups by a name that a text contains or a user types."""

    reader: Reader

    def find_op_lines(self, name: str) -> list[Location]:
        """Return the user's lines with ops of this name in compiled programs: `jit(step)/tanh`."""
        return find_op_lines(self.reader, name)

    def find_locations(self, name: str) -> list[Location]:
        """Return the locations of the recorded C++ functions with exactly this readable name, most calls first.

        Locations are distinct. Functions without a known definition yield the first recorded line of each of their
        files.
        """
        rows = self.reader.rows(
            f"SELECT {FUNCTION_COLUMNS} FROM {FUNCTION_TABLES} WHERE fn.name = ? AND fn.language = 'native'"
            " ORDER BY fn.calls DESC, fn.id LIMIT ?",
            name,
            _MAX_FUNCTIONS,
        )
        functions = build_functions(self.reader, rows)
        defined = [function.location for function in functions if function.location is not None]
        if defined or not functions:
            return list(dict.fromkeys(defined))
        first = self.reader.rows(
            f"SELECT id, min(line) FROM frames WHERE function {IN_JSON} AND how = 'exact' GROUP BY file",
            build_json_list([function.id for function in functions]),
        )
        lines = (frame.location for frame in read_frames_by_id(self.reader, [frame for frame, _ in first]).values())
        return [replace(line, how=LocationEvidence.DEFINITION) for line in lines if line is not None]

    def definitions_named(self, short_name: str, language: str) -> list[tuple[str, Definition]]:
        """Return (path, definition) pairs with this short name in source files of a language, by path and line."""
        rows = self.reader.rows(f"{DEFINITIONS_BY_NAME} LIMIT ?3", short_name, language, _MAX_DEFINITIONS)
        return [(path, build_definition(*columns)) for path, *columns in rows]

    def all_names(self) -> list[str]:
        """Return the short names of all definitions, and the full names of the recorded C++ functions."""
        names = "SELECT name FROM names UNION ALL SELECT name FROM functions WHERE language = 'native'"
        return [name for (name,) in self.reader.rows(names)]

    def definitions_in(self, path: str) -> tuple[int, int, bool, list[tuple[str, Definition]]] | None:
        """Return a parsed source file: (mtime in ns, size, whether it parsed without errors, definitions).

        Definitions come with their short names, by line. None if the file was not parsed as source.
        """
        query = (
            "SELECT s.file, s.modified, s.size, s.errors FROM source_files s"
            " JOIN files f ON f.id = s.file WHERE f.path = ?"
        )
        file = self.reader.row(query, path)
        if file is None:
            return None
        identifier, modified, size, errors = file
        rows = self.reader.rows(
            "SELECT short_name, name, kind, parameters, line, end_line, is_const FROM definitions WHERE file = ?"
            " ORDER BY line",
            identifier,
        )
        return modified, size, not errors, [(short, build_definition(*columns)) for short, *columns in rows]

    def calling_definitions_in(self, path: str) -> list[Definition]:
        """Return the definitions of a source file that contain calls, with their calls, by line."""
        return build_definitions_with_calls(self.reader.rows(DEFINITIONS_WITH_CALLS, path))

    def parsed_state(self, path: str) -> tuple[int, int] | None:
        """Return (mtime in ns, size) of a source file at its last parse; None if it was not parsed as source."""
        query = "SELECT s.modified, s.size FROM source_files s JOIN files f ON f.id = s.file WHERE f.path = ?"
        row = self.reader.row(query, path)
        return None if row is None else (row[0], row[1])

    def files_named(self, name: str) -> list[str]:
        """Return the files of this name, in any folder, that frames refer to or that were parsed as source."""
        return self.reader.cache.get_or_compute("files by name", lambda: _read_files_by_name(self.reader)).get(
            name, []
        )[:_MAX_DEFINITIONS]

    def files_of_frozen_module(self, module: str) -> list[str]:
        """Return the source files of a module frozen into recorded interpreters: `<frozen importlib._bootstrap>`."""
        rows = self.reader.rows(
            "SELECT DISTINCT f.path FROM functions fn JOIN frames fr ON fr.function = fn.id"
            " JOIN files f ON f.id = fr.recorded_file WHERE fn.module = ? AND fn.language = 'python'",
            module,
        )
        return [path for (path,) in rows] if module.startswith("<frozen ") else []

    def files_of_cell(self, recorded: str) -> list[str]:
        """Return the files with the text of a notebook cell named as in code objects: `/tmp/ipykernel_71/38.py`."""
        if _CELL_PATH.fullmatch(recorded) is None:
            return []
        from framedex.captures.stored_files import read_cells

        folders = self.reader.rows("SELECT path FROM captures ORDER BY id DESC")
        return [cells[recorded] for (path,) in folders if recorded in (cells := read_cells(Path(path)))]

    def module_names(self) -> frozenset[str]:
        """Return the file names of the recorded binaries."""
        return self.reader.cache.get_or_compute(
            "names of modules",
            lambda: frozenset(path.rpartition("/")[2] for (path,) in self.reader.rows("SELECT path FROM modules")),
        )

    def modules_with_build_id(self, build_id: str) -> list[str]:
        """Return the recorded paths of binaries whose build-id (hex) begins with this one, latest first."""
        query = "SELECT path FROM modules WHERE substr(build_id, 1, length(?1)) = ?1 ORDER BY id DESC"
        return [path for (path,) in self.reader.rows(query, build_id)]

    def build_digests(self, paths: Sequence[str], build_id: str) -> list[str]:
        """Return the SHA-256 of recorded builds with this build-id, or at one of these paths, latest first."""
        module_condition = "substr(build_id, 1, length(?1)) = ?1" if build_id else f"path {IN_JSON}"
        query = f"SELECT content FROM modules WHERE content != '' AND {module_condition} ORDER BY id DESC"
        return [content for (content,) in self.reader.rows(query, build_id or build_json_list(paths))]

    def modules_named(self, name: str) -> list[str]:
        """Return the distinct recorded paths of binaries with this file name, latest first."""
        query = "SELECT path FROM modules WHERE path = ?1 OR substr(path, -length(?1) - 1) = '/' || ?1 ORDER BY id DESC"
        return list(dict.fromkeys(path for (path,) in self.reader.rows(query, name)))

    def recorded_files(self, ending: str = "") -> list[str]:
        """Return the files with recorded lines whose path, here or as recorded, ends with these whole components.

        An empty text returns all of them.
        """
        ends_with = "(?1 = '' OR {0} = ?1 OR substr({0}, -length(?1) - 1) = '/' || ?1)"
        rows = self.reader.rows(
            "SELECT path FROM files WHERE id IN (SELECT file FROM line_calls UNION SELECT file FROM program_frames)"
            f" AND {ends_with.format('path')}"
            " UNION SELECT f.path FROM files r JOIN frames fr ON fr.recorded_file = r.id JOIN files f ON f.id = fr.file"
            f" WHERE f.id IN (SELECT file FROM line_calls) AND {ends_with.format('r.path')} ORDER BY path",
            ending,
        )
        return [path for (path,) in rows]

    def symbols(self, text: str, limit: int = _MAX_SYMBOLS) -> list[FoundSymbol]:
        """Return recorded symbols and source definitions whose name contains `text`, best first.

        `A::b` and `A.b` match names with `b` inside a scope whose name contains `A`. Case is ignored.
        """
        from framedex.index.ask.name.search import find_symbols

        return find_symbols(self.reader, text, limit)

    def suggest_name(self, name: str) -> str | None:
        """Return the recorded name, or a word of one, most similar to this unknown name."""
        from framedex.index.ask.name.matching import suggest_symbol

        return suggest_symbol(self.reader, name)


def _read_files_by_name(reader: Reader) -> dict[str, list[str]]:
    """Return all files by their last component: a log needs thousands, and the table has no index of them."""
    found: dict[str, list[str]] = {}
    for (path,) in reader.rows("SELECT path FROM files ORDER BY path"):
        found.setdefault(path.rpartition("/")[2], []).append(path)
    return found


@dataclass(frozen=True, slots=True)
class PrefixNames:
    """Names with a case-sensitive prefix, in alphabetical order, at most `limit` per kind."""

    reader: Reader

    def functions(self, text: str, limit: int) -> list[str]:
        """Return the names of recorded functions: without scopes, and also with scopes if the prefix has one."""
        short = self._read_prefix_range(
            "SELECT DISTINCT short_name FROM functions WHERE short_name >= ?1 AND short_name < ?2", text, limit
        )
        if "." not in text and "::" not in text:
            return short
        return short + self._read_prefix_range(
            "SELECT DISTINCT name FROM functions WHERE name >= ?1 AND name < ?2", text, limit
        )

    def boundaries(self, text: str, limit: int) -> list[str]:
        """Return the names of boundary functions with a recorded call, such as those of the PJRT table."""
        return self._read_prefix_range(
            "SELECT DISTINCT name FROM boundaries b WHERE name >= ?1 AND name < ?2"
            " AND EXISTS (SELECT 1 FROM call_kinds WHERE boundary = b.id)",
            text,
            limit,
        )

    def ffi_targets(self, text: str, limit: int) -> list[str]:
        """Return the names of FFI targets of all captures."""
        return self._read_prefix_range(
            "SELECT DISTINCT name FROM ffi_targets WHERE name >= ?1 AND name < ?2", text, limit
        )

    def recorded_files(self, text: str, limit: int) -> list[str]:
        """Return the paths of files with a recorded frame."""
        return self._read_prefix_range(
            f"SELECT path FROM (SELECT id, path FROM files WHERE path >= ?1 AND path < ?2 LIMIT {_MAX_FILES_SCANNED}) f"
            " WHERE EXISTS (SELECT 1 FROM frames WHERE file = f.id)"
            " OR EXISTS (SELECT 1 FROM frames WHERE recorded_file = f.id)",
            text,
            limit,
        )

    def _read_prefix_range(self, query: str, text: str, limit: int) -> list[str]:
        return [name for (name,) in self.reader.rows(f"{query} LIMIT ?3", text, text + _LAST_CHARACTER, limit) if name]
