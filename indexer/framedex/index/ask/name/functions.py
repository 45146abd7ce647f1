"""Questions about functions: where they are, and who called whom."""

from __future__ import annotations

from framedex.index.read.rows import (
    FUNCTION_COLUMNS,
    FUNCTION_TABLES,
    Reader,
    file_id,
    function_rows,
    functions_by_id,
    place_columns,
    place_tables,
)
from framedex.index.read.urls import Urls
from framedex.model import Edge, FunctionRow, Location, Role

_MOST = 1000


def function(reader: Reader, function_id: int) -> FunctionRow | None:
    """The function with this id."""
    row = reader.row(f"SELECT {FUNCTION_COLUMNS} FROM {FUNCTION_TABLES} WHERE fn.id = ?", function_id)
    return None if row is None else function_rows(reader, [row])[0]


def find_functions(reader: Reader, name: str) -> list[FunctionRow]:
    """The called functions of exactly this name, else of this short name, else whose name contains it.

    Those with most calls come first. What the author of an FFI handler wrote stands for the handler that it became.
    """
    for condition in ("n.name = ?", "n.short_name = ?", "instr(lower(n.name), lower(?)) > 0"):
        rows = reader.rows(
            f"SELECT {FUNCTION_COLUMNS} FROM {FUNCTION_TABLES} WHERE fn.calls > 0 AND fn.id IN ("
            f" SELECT n.id FROM functions n WHERE {condition}"
            " UNION SELECT fr.function FROM functions n JOIN frames m ON m.function = n.id"
            f" JOIN ffi_handlers h ON h.implementation = m.id JOIN frames fr ON fr.id = h.frame WHERE {condition}"
            ") ORDER BY fn.calls DESC, fn.name, fn.id LIMIT ?",
            name,
            name,
            _MOST,
        )
        if rows:
            return function_rows(reader, rows)
    return []


def functions_at(reader: Reader, path: str, line: int) -> list[FunctionRow]:
    """The recorded functions whose extent or recorded lines cover the line, the innermost first."""
    rows = reader.rows(
        f"SELECT {FUNCTION_COLUMNS} FROM {FUNCTION_TABLES} WHERE fn.id IN ("
        " SELECT id FROM functions WHERE file = ?1 AND line <= ?2 AND end_line >= ?2"
        " UNION SELECT id FROM functions WHERE file = ?1 AND line = ?2"
        " UNION SELECT function FROM frames WHERE file = ?1 AND line = ?2"
        ") ORDER BY fn.line IS NULL, fn.line DESC, fn.calls DESC",
        file_id(reader, path),
        line,
    )
    return function_rows(reader, rows)


def callers(reader: Reader, function_id: int) -> list[Edge]:
    """The functions that called this one, most calls first, past interpreter and glue frames unless it is one."""
    return _edges(reader, _kind(reader, function_id), "callee", function_id)


def callees(reader: Reader, function_id: int) -> list[Edge]:
    """The functions that this one called, most calls first, past interpreter and glue frames unless it is one."""
    return _edges(reader, _kind(reader, function_id), "caller", function_id)


def direct_callers(reader: Reader, function_id: int) -> list[Edge]:
    """The functions one frame outward, most calls first."""
    return _edges(reader, "", "callee", function_id)


def direct_callees(reader: Reader, function_id: int) -> list[Edge]:
    """The functions one frame inward, most calls first."""
    return _edges(reader, "", "caller", function_id)


def direct_neighbours(reader: Reader, function_id: int) -> tuple[frozenset[int], frozenset[int]]:
    """The ids of the functions one frame outward, and of those one frame inward."""
    callers = reader.rows("SELECT caller FROM edges WHERE callee = ?", function_id)
    callees = reader.rows("SELECT callee FROM edges WHERE caller = ?", function_id)
    return frozenset(caller for (caller,) in callers), frozenset(callee for (callee,) in callees)


def _kind(reader: Reader, function_id: int) -> str:
    """The prefix of the tables of neighbours that hold this function."""
    row = reader.row("SELECT role FROM functions WHERE id = ?", function_id)
    return "code_" if row is not None and row[0] == Role.CODE.value else ""


def _edges(reader: Reader, kind: str, here: str, function_id: int) -> list[Edge]:
    rows = reader.rows(
        f"SELECT caller, callee, calls FROM {kind}edges WHERE {here} = ? ORDER BY calls DESC, caller, callee",
        function_id,
    )
    functions = functions_by_id(reader, {identifier for row in rows for identifier in row[:2]})
    sites = _sites(reader, kind, here, function_id)
    return [
        Edge(functions[caller], functions[callee], calls, tuple(sites.get((caller, callee), ())))
        for caller, callee, calls in rows
    ]


def _sites(reader: Reader, kind: str, here: str, function_id: int) -> dict[tuple[int, int], list[Location]]:
    """The places in callers from which they were seen to call, by caller and callee, most calls first."""
    known = {"caller": "o.function", "callee": "t.function"}[here]
    rows = reader.rows(
        f"SELECT o.function, t.function, {place_columns('o')} FROM frames o JOIN {kind}steps s ON s.origin = o.id"
        f" JOIN frames t ON t.id = s.target {place_tables('o')} WHERE {known} = ? AND o.file IS NOT NULL"
        " GROUP BY o.function, t.function, o.file, o.line, o.how ORDER BY sum(s.calls) DESC, o.line",
        function_id,
    )
    urls = Urls(reader)
    found: dict[tuple[int, int], list[Location]] = {}
    for caller, callee, *place in rows:
        if location := reader.location(*place):
            found.setdefault((caller, callee), []).append(urls.added(location))
    return found
