"""The captures covered by answers about a line, a file, functions, or everything."""

from __future__ import annotations

from collections.abc import Collection

from framedex.index.file.conventions import IN_JSON, json_list
from framedex.index.read.asked import AskedFile, AskedLine, runs_of_programs
from framedex.index.read.rows import CAPTURE_COLUMNS, Reader, capture_row
from framedex.model import AnswerOf, Counted


def answer_of_everything(reader: Reader) -> AnswerOf:
    """Return the captures in scope."""
    counted = Counted.CHOSEN if reader.scope.is_within else Counted.ALL
    return _answer(reader, counted)


def answer_of_file(file: AskedFile) -> AnswerOf:
    """Return the captures that answers about the file cover."""
    return _of_passing(file.reader, "line_calls WHERE file = ?1", file.id, programs=runs_of_programs("fr.file = ?1"))


def answer_of_line(line: AskedLine) -> AnswerOf:
    """Return the captures that answers about the line cover."""
    if line.capture is not None:
        return _answer(line.reader, Counted.CHOSEN, f"p.id = {line.capture}")
    totals = f"line_calls WHERE {line.on('line_calls')}"
    return _of_passing(line.reader, totals, programs=runs_of_programs(line.on("fr")))


def answer_of_functions(reader: Reader, functions: Collection[int]) -> AnswerOf:
    """Return the captures that answers about the functions cover; the reader must be restricted to them."""
    return _of_passing(reader, f"functions WHERE id {IN_JSON}", json_list(functions))


def answer_of_boundary(reader: Reader, capture: int, boundary: str) -> AnswerOf:
    """Return the capture, and whether others have calls of a boundary function."""
    others = reader.row(
        "SELECT 1 FROM call_kinds k JOIN boundaries b ON b.id = k.boundary"
        " WHERE b.name = ? AND k.capture <> ? AND k.calls > 0 LIMIT 1",
        boundary,
        capture,
    )
    counted = Counted.CHOSEN if reader.scope.is_within else Counted.LATEST
    return _answer(reader, counted, f"p.id = {capture}", about_place=True, has_others=others is not None)


def _of_passing(reader: Reader, totals: str, *parameters: object, programs: str = "") -> AnswerOf:
    """Return the answer's captures; `totals` has the subject's calls, `programs` queries the runs that compiled it."""
    run = reader.scope.run
    if not run:
        return answer_of_everything(reader)

    def is_any(rows: str) -> bool:
        return reader.row(f"SELECT 1 FROM {rows} LIMIT 1", *parameters) is not None

    others = is_any(f"{totals} AND calls > 0 AND (run <> {run} OR calls > run_calls)")
    is_compiled = False
    if programs:
        others = others or is_any(f"({programs}) WHERE run <> {run}")
        is_passed = is_any(f"{totals} AND calls > 0 AND run = {run}")
        is_compiled = not is_passed and is_any(f"({programs}) WHERE run = {run}")
    return _answer(
        reader, Counted.LATEST, f"p.run = {run}", about_place=True, has_others=others, is_compiled=is_compiled
    )


def _answer(
    reader: Reader,
    counted: Counted,
    condition: str = "true",
    *,
    about_place: bool = False,
    has_others: bool = False,
    is_compiled: bool = False,
) -> AnswerOf:
    rows = reader.rows(
        f"SELECT {CAPTURE_COLUMNS} FROM captures p WHERE {condition} AND p.calls > 0 ORDER BY p.run, p.started, p.id"
    )
    among = reader.row("SELECT count(*) FROM main.captures WHERE calls > 0")
    of_all = 0 if among is None else among[0]
    return AnswerOf(tuple(map(capture_row, rows)), counted, of_all, about_place, has_others, is_compiled)
