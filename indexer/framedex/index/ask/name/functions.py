"""Queries for functions by name or id: locations, calls through them, callers and callees.

All commands and the server match names by one rule. A function of exactly that name comes first. The user's own code
precedes installed packages and the interpreter, and a whole word precedes any other part. A pattern (`*put*`) selects
all functions that match it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import translate

from framedex.index.ask.name.matching import MatchQuality, match_function, suggest_function
from framedex.index.file.conventions import IN_JSON, STATE_OF_LINE, Row, build_json_list
from framedex.index.file.paths import is_user_file
from framedex.index.read.locations import UrlFinder
from framedex.index.read.rows import (
    FUNCTION_COLUMNS,
    FUNCTION_TABLES,
    Reader,
    build_functions,
    build_location_columns,
    build_location_joins,
    read_functions_by_id,
)
from framedex.index.read.subjects import LineQuery, scope_of_functions
from framedex.model import (
    AnswerScope,
    CallEdge,
    CompiledFunction,
    FrameRole,
    FunctionCallTotals,
    FunctionRow,
    Language,
    Location,
    LocationEvidence,
    MatchingFunctions,
)

_MAX_FUNCTIONS = 1000

_WITHOUT_LOCALS = "replace(n.name, '.<locals>', '')"

_WILDCARD = re.compile(r"[*?]")


@dataclass(frozen=True, slots=True)
class Functions:
    """The recorded functions, by id."""

    reader: Reader

    def get(self, function_id: int) -> FunctionRow | None:
        """Return the function with this id, or None."""
        row = self.reader.row(f"SELECT {FUNCTION_COLUMNS} FROM {FUNCTION_TABLES} WHERE fn.id = ?", function_id)
        return None if row is None else build_functions(self.reader, [row])[0]

    def match(self, name: str) -> MatchingFunctions:
        """Return the called functions that match a name, a part of a name or a pattern (`*put*`)."""
        return match_functions(self.reader, name)

    def find_inside_program(self, name: str) -> CompiledFunction | None:
        """Return the latest program with ops of a function of this name; the function need not be on any stack."""
        return find_inside_program(self.reader, name)

    def suggest_name(self, name: str) -> str | None:
        """Return the known function name most similar to this unknown one."""
        return suggest_function(self.reader, name)

    def find(self, name: str) -> list[FunctionRow]:
        """Return the called functions whose name, or its last parts, is this one; the user's own first."""
        found = self.match(name)
        return list(found.functions) if found.is_name else []

    def restrict_to_latest_run(self, functions: Sequence[FunctionRow]) -> tuple[Functions, list[FunctionRow]]:
        """Restrict the functions to the latest run that has any of them, and return the queries for that run with them.

        Both are returned unchanged if all captures count.
        """
        ids = build_json_list(function.id for function in functions)
        reader = self.reader.restrict_to_latest_run(f"SELECT max(run) FROM functions WHERE id {IN_JSON}", ids)
        if reader is self.reader:
            return self, list(functions)
        rows = reader.rows(
            f"SELECT id FROM functions WHERE id {IN_JSON} AND run = ? ORDER BY run_calls DESC, name, id",
            ids,
            reader.scope.run,
        )
        of_id = {function.id: function for function in functions}
        return Functions(reader), [of_id[identifier] for (identifier,) in rows]

    def answer_of(self, functions: Sequence[FunctionRow]) -> AnswerScope:
        """Return the captures that answers about these functions cover."""
        return scope_of_functions(self.reader, [function.id for function in functions])

    def _restrict_reader(self, function_id: int) -> Reader:
        """Return a reader restricted to the latest run with the function, if the scope counts latest runs."""
        if self.reader.scope.run:
            return self.reader
        return self.reader.restrict_to_latest_run("SELECT run FROM functions WHERE id = ?", function_id)

    def callers(self, function_id: int) -> list[CallEdge]:
        """Return the functions that called this one, past interpreter and glue frames, most calls first.

        For an interpreter or glue function: its direct callers.
        """
        return self._find_edges_past_glue("callee", function_id)

    def callees(self, function_id: int) -> list[CallEdge]:
        """Return the functions that this one called, past interpreter and glue frames, most calls first.

        For an interpreter or glue function: its direct callees.
        """
        return self._find_edges_past_glue("caller", function_id)

    def _find_edges_past_glue(self, end: str, function_id: int) -> list[CallEdge]:
        reader = self._restrict_reader(function_id)
        edges = reader.cache.get_or_compute(
            ("edges", end, function_id, reader.scope),
            lambda: _read_edges(reader, _find_table_prefix(reader, function_id), end, function_id),
        )
        return list(edges)

    def direct_callers(self, function_id: int) -> list[CallEdge]:
        """Return the functions one frame outward, most calls first."""
        return _read_edges(self._restrict_reader(function_id), "", "callee", function_id)

    def direct_callees(self, function_id: int) -> list[CallEdge]:
        """Return the functions one frame inward, most calls first."""
        return _read_edges(self._restrict_reader(function_id), "", "caller", function_id)

    def all_callers(self, function_id: int) -> list[FunctionRow]:
        """Return all callers of this function, direct or past interpreter and glue frames."""
        return [edge.caller for edge in (*self.callers(function_id), *self.direct_callers(function_id))]

    def find_direct_neighbours(self, function_id: int) -> tuple[frozenset[int], frozenset[int]]:
        """Return the ids of the functions one frame outward and of the functions one frame inward."""
        callers = self.reader.rows("SELECT caller FROM edges WHERE callee = ?", function_id)
        callees = self.reader.rows("SELECT callee FROM edges WHERE caller = ?", function_id)
        return frozenset(caller for (caller,) in callers), frozenset(callee for (callee,) in callees)

    def call_totals(self, function_id: int) -> FunctionCallTotals | None:
        """Return the totals of the calls through a function, or None if there is no such function.

        The duration is None if the totals of its lines do not add up to those of the function. A line shared with
        another function counts for both, and a recursive stack counts on each line.
        """
        reader = self._restrict_reader(function_id)
        calls = "run_calls" if reader.scope.run else "calls"
        function = reader.row(f"SELECT name, {calls} FROM functions WHERE id = ?", function_id)
        if function is None:
            return None
        rows = reader.rows(
            "SELECT b.name, sum(l.calls), sum(l.duration) AS total"
            f" FROM (SELECT DISTINCT fr.file, fr.line, {STATE_OF_LINE} AS version FROM frames fr"
            " WHERE fr.function = ? AND fr.file IS NOT NULL) stood"
            f" CROSS JOIN {reader.totals_table('line_calls')} l"
            " ON l.file = stood.file AND l.line = stood.line AND l.version = stood.version"
            " JOIN boundaries b ON b.id = l.boundary"
            " GROUP BY b.id ORDER BY total DESC, b.name",
            function_id,
        )
        name, calls = function
        is_whole = sum(of_boundary for _, of_boundary, _ in rows) == calls
        return FunctionCallTotals(
            name=name,
            calls=calls,
            duration=sum(duration for _, _, duration in rows) if is_whole else None,
            boundaries=tuple(boundary for boundary, _, _ in rows),
        )


def read_functions_at(line: LineQuery) -> list[FunctionRow]:
    """Return the recorded functions whose extent or recorded lines cover the line, the innermost first."""
    return list(
        line.reader.cache.get_or_compute(("functions at", line.path, line.line), lambda: _find_functions_at(line))
    )


def _find_functions_at(line: LineQuery) -> list[FunctionRow]:
    rows = line.reader.rows(
        f"SELECT {FUNCTION_COLUMNS} FROM {FUNCTION_TABLES} WHERE fn.id IN ("
        f" SELECT id FROM functions WHERE {line.build_enclosing_condition('functions')}"
        f" UNION SELECT function FROM frames WHERE {line.condition('frames')}"
        ") ORDER BY fn.line IS NULL, fn.line DESC, fn.calls DESC"
    )
    return build_functions(line.reader, rows)


def _find_table_prefix(reader: Reader, function_id: int) -> str:
    """Return the prefix of the edge and step tables that contain this function."""
    row = reader.row("SELECT role FROM functions WHERE id = ?", function_id)
    return "code_" if row is not None and row[0] == FrameRole.CODE.value else ""


def _read_edges(reader: Reader, kind: str, end: str, function_id: int) -> list[CallEdge]:
    rows = reader.rows(
        f"SELECT caller, callee, calls FROM {reader.totals_table(f'{kind}edges')}"
        f" WHERE {end} = ? ORDER BY calls DESC, caller, callee",
        function_id,
    )
    known = read_functions_by_id(reader, {identifier for row in rows for identifier in row[:2]})
    functions = dict(zip(known, move_to_def_lines(reader, list(known.values())), strict=True))
    sites = _read_call_sites(reader, kind, end, function_id)
    return [
        CallEdge(functions[caller], functions[callee], calls, tuple(sites.get((caller, callee), ())))
        for caller, callee, calls in rows
    ]


def _read_call_sites(reader: Reader, kind: str, end: str, function_id: int) -> dict[tuple[int, int], list[Location]]:
    """Return the call sites by (caller, callee), most calls first."""
    known = {"caller": "o.function", "callee": "t.function"}[end]
    rows = reader.rows(
        f"SELECT o.function, t.function, {build_location_columns('o')} FROM frames o"
        f" JOIN {reader.totals_table(f'{kind}steps')} s ON s.origin = o.id"
        f" JOIN frames t ON t.id = s.target {build_location_joins('o')} WHERE {known} = ? AND o.file IS NOT NULL"
        " GROUP BY o.function, t.function, o.file, o.line, o.version, o.how ORDER BY sum(s.calls) DESC, o.line",
        function_id,
    )
    urls = UrlFinder(reader)
    found: dict[tuple[int, int], list[Location]] = {}
    for caller, callee, *place in rows:
        if location := reader.build_location(*place):
            found.setdefault((caller, callee), []).append(urls.add_url(location))
    return found


def move_to_def_lines(reader: Reader, functions: Sequence[FunctionRow]) -> list[FunctionRow]:
    """Return the functions, moving Python functions with a known definition to the line of their `def`."""
    functions_with_location = [
        function for function in functions if function.language is Language.PYTHON and function.location
    ]
    rows = reader.rows(
        "SELECT f.path, d.name, d.end_line, d.line FROM files f CROSS JOIN definitions d ON d.file = f.id"
        f" WHERE f.path {IN_JSON} AND d.name {IN_JSON}",
        build_json_list({function.location.path for function in functions_with_location if function.location}),
        build_json_list({function.name for function in functions_with_location}),
    )
    lines = {(path, name, end): line for path, name, end, line in rows}
    return [_move_to_def_line(function, lines) for function in functions]


def _move_to_def_line(function: FunctionRow, lines: dict[tuple[str, str, int], int]) -> FunctionRow:
    place = function.location
    line = None if place is None else lines.get((place.path, function.name, function.end_line))
    return function if place is None or line is None else replace(function, location=replace(place, line=line))


def find_inside_program(reader: Reader, name: str) -> CompiledFunction | None:
    """Return the latest program with ops of a function of this name or last part, or None.

    The location is the function's line with most ops.
    """
    rows = reader.rows("SELECT DISTINCT function FROM program_frames WHERE instr(function, ?)", name)
    functions_with_location = [function for (function,) in rows if f".{function}".endswith(f".{name}")]
    row = reader.row(
        "SELECT p.name, fr.function, f.path, fr.line, v.modified, v.size, v.blob FROM program_lines l"
        " JOIN program_frames fr ON fr.id = l.frame JOIN programs p ON p.id = l.program"
        " JOIN files f ON f.id = fr.file LEFT JOIN file_versions v ON v.id = fr.version"
        f" WHERE fr.function {IN_JSON} AND EXISTS (SELECT 1 FROM compilations c WHERE c.program = p.id)"
        " GROUP BY p.id, fr.id ORDER BY p.id DESC, sum(l.ops) DESC, fr.line LIMIT 1",
        build_json_list(functions_with_location),
    )
    if row is None:
        return None
    program, function, path, line, *state = row
    location = reader.build_location(path, line, LocationEvidence.EXACT, *state)
    return None if location is None else CompiledFunction(program, function, location)


def match_functions(reader: Reader, name: str) -> MatchingFunctions:
    """Return the called functions that match a name, its last parts, a part or a pattern.

    The author's name of an FFI handler selects the compiled handler.
    """
    fits = _find_fits(reader, name)
    if _WILDCARD.search(name) and not any(fit.is_name for fit in fits.values()):
        fits = _match_pattern(reader, name)
    best = min(fits.values(), default=MatchQuality.PART)
    if best.is_name:
        fits = {function: fit for function, fit in fits.items() if fit is best}
    ranked = sorted((_rank(row, fits[row[0]]), -row[-1], row[3], row[0]) for row in _read_called(reader, fits))
    found = _read_functions(reader, [identifier for *_, identifier in ranked[:_MAX_FUNCTIONS]])
    likely = sum(rank[0] == ranked[0][0][0] for rank, *_ in ranked)
    return MatchingFunctions(tuple(found), best.is_name, likely, len(ranked))


def _rank(row: Row, fit: MatchQuality) -> tuple[int, int]:
    """Return the rank of a match, and whether readers may hide the function."""
    _, module, role, *_ = row
    is_hidden = int(role != FrameRole.CODE.value)
    if is_user_file(module) and not is_hidden:  # an interpreter may be installed anywhere
        return 0, is_hidden
    if fit.is_name:
        return 1, is_hidden
    return (1 if fit is MatchQuality.WORDS else 2), is_hidden


def _find_fits(reader: Reader, name: str) -> dict[int, MatchQuality]:
    """Return {function id: fit} for the functions whose name contains this one."""
    has_it = "instr(lower({}), lower(?1)) > 0"
    condition = f"({has_it.format('n.name')} OR {has_it.format(_WITHOUT_LOCALS)})"
    found: dict[int, MatchQuality] = {}
    for identifier, whole, short in _read_names(reader, condition, name):
        fit = match_function(whole, short, name)
        if fit is not None:
            found[identifier] = min(fit, found.get(identifier, fit))
    return found


def _match_pattern(reader: Reader, pattern: str) -> dict[int, MatchQuality]:
    """Return the functions whose name or last part matches a pattern; brackets are literal, as in `operator[]`."""
    expression = re.compile(translate(pattern.replace("[", "[[]")), re.IGNORECASE)
    return {
        identifier: MatchQuality.NAME
        for identifier, *names in _read_names(reader, "?1 <> ''", pattern)
        if any(map(expression.match, names))
    }


def _read_names(reader: Reader, condition: str, name: str) -> list[Row]:
    """Return (id, name, short name) of functions that match a condition on `functions n`."""
    return reader.rows(
        f"SELECT n.id, n.name, n.short_name FROM functions n WHERE n.calls > 0 AND {condition}"
        " UNION SELECT fr.function, n.name, n.short_name FROM functions n JOIN frames m ON m.function = n.id"
        f" JOIN ffi_handlers h ON h.implementation = m.id JOIN frames fr ON fr.id = h.frame WHERE {condition}",
        name,
    )


def _read_called(reader: Reader, fits: dict[int, MatchQuality]) -> list[Row]:
    """Return (id, module, role, name, calls) of the given functions that calls passed."""
    return reader.rows(
        f"SELECT id, module, role, name, calls FROM functions WHERE calls > 0 AND id {IN_JSON}",
        build_json_list(sorted(fits)),
    )


def _read_functions(reader: Reader, ids: list[int]) -> list[FunctionRow]:
    rows = reader.rows(
        f"SELECT {FUNCTION_COLUMNS} FROM {FUNCTION_TABLES} WHERE fn.id {IN_JSON}", build_json_list(sorted(ids))
    )
    found = {function.id: function for function in move_to_def_lines(reader, build_functions(reader, rows))}
    return [found[identifier] for identifier in ids]
