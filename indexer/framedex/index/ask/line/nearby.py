"""Find the reason why a line has no recorded data, and the nearest lines that have some."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence, Set
from pathlib import Path

from framedex.base.regularfile import read_regular_text
from framedex.index.ask.line.programs import read_program_marks
from framedex.index.ask.line.recorded_file import recorded_lines
from framedex.index.read.subjects import LineQuery
from framedex.model import Location, LocationEvidence, NearestLine, NearestLines
from framedex.sources.python_syntax import parse_python

_NO_CALL = "it made no call or was not reached"
_MAX_FILE_BYTES = 1 << 20  # bytes; larger files are not parsed


def find_nearby(line: LineQuery) -> NearestLines:
    """Return the reason why a line has no recorded data, and the nearest lines with data above and below."""
    calls = recorded_lines(line)
    ops = {mark.line: mark for mark in read_program_marks(line)}
    known = sorted(calls.keys() | ops.keys())
    above = [number for number in known if number < line.line][-1:]
    below = [number for number in known if number > line.line][:1]
    found = [
        NearestLine(
            Location(line.path, number, LocationEvidence.EXACT),
            calls.get(number, 0),
            ops[number].ops if number in ops else 0,
            ops[number].programs if number in ops else (),
        )
        for number in (*above, *below)
    ]
    if line.line in ops:
        return NearestLines(f"it is inside {' and '.join(ops[line.line].programs)}, where its ops ran", tuple(found))
    return NearestLines(_explain_gap(line, known, calls.keys()), tuple(found))


def _explain_gap(line: LineQuery, known: Sequence[int], passed: Set[int]) -> str:
    if all(state.to_recorded(line.line) is None for state in line.states()):
        return "the line was typed or changed after the recording: record the program again"
    if not known:
        return "nothing was recorded in this file"
    text = _read_text(line)
    lines = text.splitlines()
    if line.line > len(lines):
        return f"the file has {len(lines):,} lines" if lines else "its file is not on this machine"
    written = lines[line.line - 1].strip()
    if not written:
        return "the line is empty"
    if not line.path.endswith(".py"):
        return _explain_native_gap(line)
    if written.startswith("#"):
        return "the line is a comment"
    function = next(_functions_around(text, line.line), None)
    if function is None:
        return _NO_CALL
    name, first, last = function
    inside = [number for number in known if first <= number <= last]
    if not inside:
        return f"nothing in {name} was recorded: it was not reached, or its result is unused"
    # A function with calls ran as plain Python, even if its eager ops were compiled into small programs.
    if passed.isdisjoint(inside) and (program := _find_program_name(line, inside)):
        return (
            f"no op of {program} comes from it: it runs only while {name} is traced, its result is unused,"
            " or it was not reached"
        )
    return _NO_CALL


def _explain_native_gap(line: LineQuery) -> str:
    from framedex.index.ask.ffi import find_ffi_uses

    targets = sorted({use.target for use in find_ffi_uses(line) if use.handlers})
    if not targets:
        return _NO_CALL
    return f"the runs of {' and '.join(targets)} are on the line that registers the FFI handler"


def _find_program_name(line: LineQuery, lines: Sequence[int]) -> str:
    """Return the latest program with ops from one of these lines, or "" if there is none."""
    row = line.reader.row(
        "SELECT p.name FROM program_frames fr JOIN program_lines l ON l.frame = fr.id JOIN programs p"
        f" ON p.id = l.program WHERE {line.build_lines_condition('fr', lines)}"
        " AND EXISTS (SELECT 1 FROM compilations c"
        f" WHERE c.program = p.id{line.reader.scope.build_capture_condition('c')}) ORDER BY p.id DESC LIMIT 1"
    )
    return "" if row is None else str(row[0])


def _read_text(line: LineQuery) -> str:
    file = line.reader.cache.find_file(line.path)
    try:
        return "" if file is None or file.size > _MAX_FILE_BYTES else read_regular_text(Path(line.path))
    except OSError:
        return ""


def _functions_around(text: str, line: int) -> Iterator[tuple[str, int, int]]:
    """Yield (name, first line, last line) of the functions around a line, the innermost first."""
    tree = parse_python(text)
    if tree is None:
        return
    around = [
        (node.name, node.lineno, node.end_lineno or node.lineno)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    yield from sorted((each for each in around if each[1] <= line <= each[2]), key=lambda each: each[2] - each[1])
