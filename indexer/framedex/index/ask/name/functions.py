"""Queries for functions: locations, calls through them, callers and callees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from framedex.index.ask.answers import answer_of_functions
from framedex.index.ask.name.headers import at_names
from framedex.index.file.conventions import IN_JSON, STATE_OF_LINE, json_list
from framedex.index.read.asked import AskedLine
from framedex.index.read.rows import (
    FUNCTION_COLUMNS,
    FUNCTION_TABLES,
    Reader,
    function_rows,
    functions_by_id,
    place_columns,
    place_tables,
)
from framedex.index.read.urls import Urls
from framedex.model import AnswerOf, Edge, FunctionMark, FunctionRow, InsideProgram, Location, MeantFunctions, Role


@dataclass(frozen=True, slots=True)
class Functions:
    """The recorded functions, by id."""

    reader: Reader

    def get(self, function_id: int) -> FunctionRow | None:
        """Return the function with this id, or None."""
        row = self.reader.row(f"SELECT {FUNCTION_COLUMNS} FROM {FUNCTION_TABLES} WHERE fn.id = ?", function_id)
        return None if row is None else function_rows(self.reader, [row])[0]

    def meant(self, name: str) -> MeantFunctions:
        """Return the called functions that match a name, a part of a name or a pattern (`*put*`)."""
        from framedex.index.ask.name.meant import meant_functions

        return meant_functions(self.reader, name)

    def inside_program(self, name: str) -> InsideProgram | None:
        """Return the latest program with ops of a function of this name; the function need not be on any stack."""
        from framedex.index.ask.name.inside import inside_program

        return inside_program(self.reader, name)

    def likely(self, name: str) -> str | None:
        """Return the known function name most similar to this unknown one."""
        from framedex.index.ask.name.likely import likely_function

        return likely_function(self.reader, name)

    def named(self, name: str) -> list[FunctionRow]:
        """Return the called functions whose name, or its last parts, is this one; the user's own first."""
        found = self.meant(name)
        return list(found.functions) if found.is_name else []

    def in_latest_run(self, functions: Sequence[FunctionRow]) -> tuple[Functions, list[FunctionRow]]:
        """Restrict the functions to the latest run that has any of them; also return the queries for that run.

        Both are returned unchanged if all captures count.
        """
        ids = json_list(function.id for function in functions)
        reader = self.reader.of_latest(f"SELECT max(run) FROM functions WHERE id {IN_JSON}", ids)
        if reader is self.reader:
            return self, list(functions)
        rows = reader.rows(
            f"SELECT id FROM functions WHERE id {IN_JSON} AND run = ? ORDER BY run_calls DESC, name, id",
            ids,
            reader.scope.run,
        )
        of_id = {function.id: function for function in functions}
        return Functions(reader), [of_id[identifier] for (identifier,) in rows]

    def answer_of(self, functions: Sequence[FunctionRow]) -> AnswerOf:
        """Return the captures that queries for these functions cover."""
        return answer_of_functions(self.reader, [function.id for function in functions])

    def _reader_of(self, function_id: int) -> Reader:
        """Return a reader restricted to the latest run with the function, if the scope counts latest runs."""
        if self.reader.scope.run:
            return self.reader
        return self.reader.of_latest("SELECT run FROM functions WHERE id = ?", function_id)

    def callers(self, function_id: int) -> list[Edge]:
        """Return the functions that called this one, past interpreter and glue frames, most calls first.

        For an interpreter or glue function: its direct callers.
        """
        return self._past_glue("callee", function_id)

    def callees(self, function_id: int) -> list[Edge]:
        """Return the functions that this one called, past interpreter and glue frames, most calls first.

        For an interpreter or glue function: its direct callees.
        """
        return self._past_glue("caller", function_id)

    def _past_glue(self, end: str, function_id: int) -> list[Edge]:
        reader = self._reader_of(function_id)
        kept = reader.memory.recall(
            ("edges", end, function_id, reader.scope),
            lambda: _edges(reader, _kind(reader, function_id), end, function_id),
        )
        return list(kept)

    def direct_callers(self, function_id: int) -> list[Edge]:
        """Return the functions one frame outward, most calls first."""
        return _edges(self._reader_of(function_id), "", "callee", function_id)

    def direct_callees(self, function_id: int) -> list[Edge]:
        """Return the functions one frame inward, most calls first."""
        return _edges(self._reader_of(function_id), "", "caller", function_id)

    def all_callers(self, function_id: int) -> list[FunctionRow]:
        """Return all callers of this function, direct or past interpreter and glue frames."""
        return [edge.caller for edge in (*self.callers(function_id), *self.direct_callers(function_id))]

    def direct_neighbours(self, function_id: int) -> tuple[frozenset[int], frozenset[int]]:
        """Return the ids of the functions one frame outward, and those one frame inward."""
        callers = self.reader.rows("SELECT caller FROM edges WHERE callee = ?", function_id)
        callees = self.reader.rows("SELECT callee FROM edges WHERE caller = ?", function_id)
        return frozenset(caller for (caller,) in callers), frozenset(callee for (callee,) in callees)

    def mark(self, function_id: int) -> FunctionMark | None:
        """Return the calls and duration (ns) through a function, or None if there is no such function.

        The duration is None if the totals of its lines do not add up to those of the function. A line shared with
        another function counts for both, and a recursive stack counts on each line.
        """
        reader = self._reader_of(function_id)
        calls = "run_calls" if reader.scope.run else "calls"
        function = reader.row(f"SELECT name, {calls} FROM functions WHERE id = ?", function_id)
        if function is None:
            return None
        rows = reader.rows(
            "SELECT b.name, sum(l.calls), sum(l.duration) AS total"
            f" FROM (SELECT DISTINCT fr.file, fr.line, {STATE_OF_LINE} AS version FROM frames fr"
            " WHERE fr.function = ? AND fr.file IS NOT NULL) stood"
            f" CROSS JOIN {reader.totals('line_calls')} l"
            " ON l.file = stood.file AND l.line = stood.line AND l.version = stood.version"
            " JOIN boundaries b ON b.id = l.boundary"
            " GROUP BY b.id ORDER BY total DESC, b.name",
            function_id,
        )
        name, calls = function
        is_whole = sum(of_boundary for _, of_boundary, _ in rows) == calls
        return FunctionMark(
            name=name,
            calls=calls,
            duration=sum(duration for _, _, duration in rows) if is_whole else None,
            boundaries=tuple(boundary for boundary, _, _ in rows),
        )


def functions_at(line: AskedLine) -> list[FunctionRow]:
    """Return the recorded functions whose extent or recorded lines cover the line, the innermost first."""
    return list(line.reader.memory.recall(("functions at", line.path, line.line), lambda: _functions_at(line)))


def _functions_at(line: AskedLine) -> list[FunctionRow]:
    rows = line.reader.rows(
        f"SELECT {FUNCTION_COLUMNS} FROM {FUNCTION_TABLES} WHERE fn.id IN ("
        f" SELECT id FROM functions WHERE {line.around('functions')}"
        f" UNION SELECT function FROM frames WHERE {line.on('frames')}"
        ") ORDER BY fn.line IS NULL, fn.line DESC, fn.calls DESC"
    )
    return function_rows(line.reader, rows)


def _kind(reader: Reader, function_id: int) -> str:
    """Return the prefix of the edge tables that contain this function."""
    row = reader.row("SELECT role FROM functions WHERE id = ?", function_id)
    return "code_" if row is not None and row[0] == Role.CODE.value else ""


def _edges(reader: Reader, kind: str, here: str, function_id: int) -> list[Edge]:
    rows = reader.rows(
        f"SELECT caller, callee, calls FROM {reader.totals(f'{kind}edges')}"
        f" WHERE {here} = ? ORDER BY calls DESC, caller, callee",
        function_id,
    )
    known = functions_by_id(reader, {identifier for row in rows for identifier in row[:2]})
    functions = dict(zip(known, at_names(reader, list(known.values())), strict=True))
    sites = _sites(reader, kind, here, function_id)
    return [
        Edge(functions[caller], functions[callee], calls, tuple(sites.get((caller, callee), ())))
        for caller, callee, calls in rows
    ]


def _sites(reader: Reader, kind: str, here: str, function_id: int) -> dict[tuple[int, int], list[Location]]:
    """Return the call sites by (caller, callee), most calls first."""
    known = {"caller": "o.function", "callee": "t.function"}[here]
    rows = reader.rows(
        f"SELECT o.function, t.function, {place_columns('o')} FROM frames o"
        f" JOIN {reader.totals(f'{kind}steps')} s ON s.origin = o.id"
        f" JOIN frames t ON t.id = s.target {place_tables('o')} WHERE {known} = ? AND o.file IS NOT NULL"
        " GROUP BY o.function, t.function, o.file, o.line, o.version, o.how ORDER BY sum(s.calls) DESC, o.line",
        function_id,
    )
    urls = Urls(reader)
    found: dict[tuple[int, int], list[Location]] = {}
    for caller, callee, *place in rows:
        if location := reader.location(*place):
            found.setdefault((caller, callee), []).append(urls.added(location))
    return found
