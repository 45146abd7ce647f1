"""Conventions shared by writers and readers of the tables: query fragments, limits, and rows of source tables."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from framedex.model import Definition, SourceMapInfo

Row = tuple[Any, ...]

IN_JSON = "IN (SELECT value FROM json_each(?))"
"""A condition for any number of values, bound as one JSON parameter (`build_json_list`)."""

OTHER_PLUGINS = "SELECT p.key FROM json_each(c.plugins) p WHERE p.value <> 'the mock TPU'"
"""The boundaries of the plug-ins in `captures c` other than the mock TPU."""

PYTHON_LEAF = "coalesce(nullif(s.site_leaf, 0), nullif(s.python_leaf, 0), s.leaf)"
"""The innermost node of `stacks s` for Python: of the FFI site, else of the Python stack, else of the stack."""

STATE_OF_LINE = (
    "coalesce((SELECT v.id FROM file_versions v WHERE v.id = fr.version AND v.is_own AND fr.how = 'exact'), 0)"
)
"""The `version` in `line_calls` that counts the calls through the line of `frames fr`."""

LATEST_FIRST = "p.run DESC, p.started DESC, p.id DESC, c.id DESC"
"""Orders `calls c` of `captures p` by time. Call ids are ordered only by the time when their capture was indexed."""

SPAN_SIZE = 256
"""Call ids per span, counted from a capture's first call. Calls of one kind in a span share a row of `call_spans`."""

MAX_SAMPLES = 4
"""The maximum number of arguments stored per line or stack, and shown per line."""

CLIENT_CREATORS = ("PJRT_Plugin_Initialize", "PJRT_Client_Create")
"""Functions that create a client, called once per process and plug-in before all others (pjrt_c_api.h)."""

FOLLOWED_PREFIX = "followed by process "
"""The start of `captures.reading` while a process follows a growing capture; the number of the process comes next."""

SEARCHED_KINDS = ("function", "method", "class", "declaration", "macro", "message", "enum", "service", "record")
"""Kinds of definitions that search finds. Lambdas and module code have no names."""

IS_CODE = "fn.role = 'code'"
"""The condition that a function `fn` is code; see `model.FrameRow.is_readable`."""

IS_READABLE = f"{IS_CODE} AND fr.file IS NOT NULL AND fr.line > 0"
"""The condition that a frame `fr` of a function `fn` is readable."""

RELEASED_FILES = "SELECT id FROM files WHERE path NOT LIKE '/%' AND id NOT IN (SELECT file FROM source_files)"
"""The files of release maps: neither local paths nor files of an imported map."""

SOURCE_MAP_COLUMNS = "component, repository, revision, is_dirty, tool, is_nearest"

DEFINITIONS_BY_NAME = (
    "SELECT f.path, d.name, d.kind, d.parameters, d.line, d.end_line, d.is_const"
    " FROM definitions d JOIN files f ON f.id = d.file JOIN source_files s ON s.file = d.file"
    " WHERE d.short_name = ?1 AND s.language = ?2 AND NOT (s.map IS NOT NULL AND EXISTS ("
    "  SELECT 1 FROM source_roots r JOIN files here ON here.path ="
    "  r.path || '/' || substr(f.path, instr(f.path, ':') + 1) JOIN source_files l ON l.file = here.id))"
    " ORDER BY f.path, d.line"
)
"""Rows for `build_definition`, by short name and language. A source tree replaces a source map of the same file."""

DEFINITIONS_WITH_CALLS = (
    "SELECT d.name, d.kind, d.parameters, d.line, d.end_line, d.is_const, c.sites FROM definitions d"
    " LEFT JOIN call_sites c ON c.definition = d.id WHERE d.file = (SELECT id FROM files WHERE path = ?)"
    " AND (c.sites IS NOT NULL OR d.kind IN ('function', 'method')) ORDER BY d.line, d.id"
)
"""Rows for `build_definitions_with_calls`, by a file's path: its functions, and other definitions with calls."""


def build_json_list(values: Iterable[object]) -> str:
    """Return the values as one JSON parameter for `IN_JSON` and `json_each`."""
    return json.dumps(list(values))


def json_item(index: int) -> str:
    """Return SQL for an item of the array in the current row of `json_each(?) s` (`->>` needs SQLite 3.38)."""
    return f"json_extract(s.value, '$[{index}]')"


def read_source_maps(connection: sqlite3.Connection) -> list[SourceMapInfo]:
    """Return the imported source maps."""
    query = f"SELECT {SOURCE_MAP_COLUMNS} FROM source_maps WHERE release IS NULL ORDER BY component"
    rows = connection.execute(query)
    return [build_source_map_info(row) for row in rows]


def build_source_map_info(row: Row) -> SourceMapInfo:
    """Build a source map from SOURCE_MAP_COLUMNS; extra columns are ignored."""
    from framedex.model.source_trees import SourceMapInfo

    component, repository, commit, is_dirty, tool, is_nearest, *_ = row
    return SourceMapInfo(component, repository, commit, bool(is_dirty), tool, bool(is_nearest), is_nearest == 2)


def build_definitions_with_calls(rows: Iterable[Sequence[Any]]) -> list[Definition]:
    """Return the definitions with their calls, from rows of `DEFINITIONS_WITH_CALLS`."""
    from framedex.model.sources import parse_call_sites

    return [replace(build_definition(*columns), calls=parse_call_sites(sites)) for *columns, sites in rows]


def build_definition(
    name: str, kind: str, parameters: str | None, line: int, end_line: int, is_const: int
) -> Definition:
    """Build a definition from its columns, without its calls."""
    from framedex.model.sources import Definition

    return Definition(name, kind, parameters, line, end_line, bool(is_const))
