"""Compilations: for each program line, the compiled functions and the reasons for recompiling them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from framedex.index.ask.call.pythonlines import outward_lines, python_lines
from framedex.index.ask.costs.changes import changes, steps
from framedex.index.ask.costs.compiled import Content, Function, Made, all_made, contents, functions
from framedex.index.read.rows import Reader
from framedex.model import Change, Compiles, PythonLine, Table

MOST_COMPARED = 2_000
"""Limit of compilation pairs compared per query: the first and the latest of each row."""


@dataclass(slots=True)
class _Row:
    """A table row under construction: its calls in order, and counts of (previous, current) inputs of its function."""

    made: list[Made] = field(default_factory=list)
    pairs: Counter[tuple[Content, Content]] = field(default_factory=Counter)


@dataclass(slots=True)
class _Sort:
    """The row of compilations with one program, note and stack, and the key of their function.

    A function without a known place is identified by the line that compiled it; a key of None disables comparison.
    """

    row: _Row
    key: tuple[str, str | PythonLine | None] | None


def compiles(reader: Reader, *, all_lines: bool) -> Table[Compiles]:
    """Return a row per line and function, longest total duration first; `all_lines` adds the path to the line."""
    made = all_made(reader)
    lines = _lines(reader, made)
    function_of = functions(reader, made)
    outward = outward_lines(reader, {each.stack for each in made}) if all_lines else {}
    rows: dict[tuple[PythonLine | None, tuple[PythonLine, ...], Function], _Row] = {}
    sorts: dict[tuple[int | None, int | None, int], _Sort] = {}
    before: dict[tuple[int, tuple[str, str | PythonLine | None]], Content] = {}
    for each in made:
        sort = sorts.get((each.program, each.noted, each.stack))
        if sort is None or each.stack not in lines.of_stacks:
            line, function = lines.of(each), function_of[each.program, each.noted]
            row = rows.setdefault((line, outward.get(each.stack, ()), function), _Row())
            is_known = each.program is not None or function.name
            sort = _Sort(row, (function.name, function.place or line) if is_known else None)
            sorts[each.program, each.noted, each.stack] = sort
        sort.row.made.append(each)
        if sort.key is not None:
            key, content = (each.capture, sort.key), each.content
            if key in before:
                sort.row.pairs[before[key], content] += 1
            if each.error <= 0:  # a failed compilation made nothing
                before[key] = content
    changes_of = _changes(reader, rows.values())
    found = [_compiles(*key, row, changed) for (key, row), changed in zip(rows.items(), changes_of, strict=True)]
    return Table(tuple(sorted(found, key=lambda row: -row.total_duration - row.load_duration)))


def captures_with_compiles(reader: Reader) -> list[int]:
    """Return the captures with a compilation, or with a load from a compilation cache."""
    return [capture for (capture,) in reader.rows("SELECT DISTINCT capture FROM compilations")]


@dataclass(frozen=True, slots=True)
class _Lines:
    """Lines that compiled something: by stack if it has Python, otherwise by call."""

    of_stacks: Mapping[int, PythonLine]
    of_calls: Mapping[int, PythonLine]

    def of(self, made: Made) -> PythonLine | None:
        return self.of_stacks.get(made.stack) or self.of_calls.get(made.call)


def _lines(reader: Reader, made: Sequence[Made]) -> _Lines:
    """Return the lines of the calls, with one lookup per stack that has Python, since all its calls share a line."""
    one_of = {each.stack: each.call for each in made}
    found = python_lines(reader, {call: stack for stack, call in one_of.items()})
    of_stacks = {stack: found[call] for stack, call in one_of.items() if call in found and found[call].link is None}
    others = {each.call: each.stack for each in made if each.stack not in of_stacks}
    return _Lines(of_stacks, python_lines(reader, others) if others else {})


def _changes(reader: Reader, rows: Collection[_Row]) -> list[tuple[Change, ...]]:
    """Return the changes of each row."""
    most = max(2, MOST_COMPARED // max(1, len(rows)))
    compared = [_ends(list(row.pairs), most) for row in rows]
    known = contents(reader, {content for pairs in compared for pair in pairs for content in pair})
    return [
        changes((steps(known[old], known[new]), row.pairs[old, new]) for old, new in pairs)
        for row, pairs in zip(rows, compared, strict=True)
    ]


def _ends(pairs: list[tuple[Content, Content]], most: int) -> list[tuple[Content, Content]]:
    return pairs if len(pairs) <= most else [*pairs[: most // 2], *pairs[-(most // 2) :]]


def _compiles(
    line: PythonLine | None,
    outward: tuple[PythonLine, ...],
    function: Function,
    row: _Row,
    changed: tuple[Change, ...],
) -> Compiles:
    loads = [each for each in row.made if each.is_load]
    compiled = [each for each in row.made if not each.is_load] if loads else row.made
    durations = [max(each.duration, 0) for each in compiled] or [0]
    problems = dict.fromkeys(each.problem for each in compiled if each.problem)
    return Compiles(
        line=line,
        outward=outward,
        function=function.name,
        compiles=len(compiled),
        failed=sum(each.error > 0 for each in row.made),
        total_duration=sum(durations),
        longest_duration=max(durations),
        loads=len(loads),
        load_duration=sum(max(each.duration, 0) for each in loads),
        changes=changed,
        first_call=row.made[0].call,
        latest_call=row.made[-1].call,
        problem="; ".join(problems),
    )
