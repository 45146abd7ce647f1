"""What compiles: for each line of the program, the functions that it had compiled, and why again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from framedex.index.ask.call.pythonlines import outward_lines, python_lines
from framedex.index.ask.costs.changes import Step, changes, steps
from framedex.index.file.conventions import IN_JSON, json_list
from framedex.index.read.rows import Reader
from framedex.model import Compiles, Parameter, PythonLine, Signature, Table

_LOADED = "it was loaded as an executable"  # how the problem of a load begins


@dataclass(frozen=True, slots=True)
class _Made:
    """A call that made an executable."""

    call: int
    capture: int
    program: int | None
    duration: int
    stack: int
    function: str
    defined: str
    problem: str

    @property
    def is_load(self) -> bool:
        return self.program is None and self.problem.startswith(_LOADED)


@dataclass(slots=True)
class _Row:
    """What becomes a row: its calls in their order, and what changed in each that is known."""

    made: list[_Made] = field(default_factory=list)
    steps: list[list[Step]] = field(default_factory=list)


def compiles(reader: Reader, *, all_lines: bool) -> Table[Compiles]:
    """A row for each line and function, what took longest first; with `all_lines` a row for each way to the line."""
    made = _all_made(reader)
    lines = python_lines(reader, {each.call: each.stack for each in made})
    outward = outward_lines(reader, {each.stack for each in made}) if all_lines else {}
    changed = _changed(reader, made, lines)
    rows: dict[tuple[PythonLine | None, tuple[PythonLine, ...], str, str], _Row] = {}
    for each in made:
        way = outward.get(each.stack, ())
        row = rows.setdefault((lines.get(each.call), way, each.function, each.defined), _Row())
        row.made.append(each)
        if each.call in changed:
            row.steps.append(changed[each.call])
    found = [_compiles(line, way, function, row) for (line, way, function, _), row in rows.items()]
    return Table(tuple(sorted(found, key=lambda row: -row.total_duration - row.load_duration)))


def captures_with_compiles(reader: Reader) -> list[int]:
    """The captures in which something was compiled, or loaded from a compilation cache."""
    return [capture for (capture,) in reader.rows("SELECT DISTINCT capture FROM compilations")]


def _all_made(reader: Reader) -> list[_Made]:
    rows = reader.rows(
        "SELECT x.call, x.capture, x.program, c.duration, k.stack, coalesce(p.function, ''), coalesce(p.defined, ''),"
        " x.problem FROM compilations x JOIN call_rows c ON c.id = x.call JOIN call_kinds k ON k.id = c.kind"
        f" LEFT JOIN programs p ON p.id = x.program WHERE 1{reader.scope.counted('x')} ORDER BY x.call"
    )
    return [_Made(*row) for row in rows]


def _changed(reader: Reader, made: Sequence[_Made], lines: Mapping[int, PythonLine]) -> dict[int, list[Step]]:
    """What changed, by the compilations of a function that is not compiled for the first time in its process.

    A function that no op says the place of is known again only on the line that had it compiled.
    """
    before: dict[tuple[int, str, str | PythonLine | None], int] = {}
    pairs: dict[int, tuple[int, int]] = {}
    for each in made:
        if each.program is not None:
            key = each.capture, each.function, each.defined or lines.get(each.call)
            if key in before:
                pairs[each.call] = before[key], each.program
            before[key] = each.program
    signatures = _signatures(reader, {program for pair in pairs.values() for program in pair})
    known: dict[tuple[int, int], list[Step]] = {}
    for pair in pairs.values():
        old, new = signatures.get(pair[0]), signatures.get(pair[1])
        if pair not in known and old is not None and new is not None:
            known[pair] = steps(old, new)
    return {call: known[pair] for call, pair in pairs.items() if pair in known}


def _signatures(reader: Reader, programs: Iterable[int]) -> dict[int, Signature]:
    query = f"SELECT id, signature FROM programs WHERE id {IN_JSON} AND signature IS NOT NULL"
    return {program: _signature(text) for program, text in reader.rows(query, json_list(sorted(programs)))}


def _signature(text: str) -> Signature:
    told = json.loads(text)
    return Signature(
        arguments=tuple(Parameter(**each) for each in told.pop("arguments")),
        results=tuple(Parameter(**each) for each in told.pop("results")),
        constants=tuple(told.pop("constants")),
        **told,
    )


def _compiles(line: PythonLine | None, outward: tuple[PythonLine, ...], function: str, row: _Row) -> Compiles:
    compiled = [each for each in row.made if not each.is_load]
    durations = [max(each.duration, 0) for each in compiled] or [0]
    problems = dict.fromkeys(each.problem for each in compiled if each.problem)
    loads = [each for each in row.made if each.is_load]
    return Compiles(
        line=line,
        outward=outward,
        function=function,
        compiles=len(compiled),
        total_duration=sum(durations),
        longest_duration=max(durations),
        loads=len(loads),
        load_duration=sum(max(each.duration, 0) for each in loads),
        changes=changes(row.steps),
        first_call=row.made[0].call,
        latest_call=row.made[-1].call,
        problem="; ".join(problems),
    )
