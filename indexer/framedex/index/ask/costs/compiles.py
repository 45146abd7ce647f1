"""What compiles: for each line of the program, the functions that it had compiled, and why again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from framedex.index.ask.call.pythonlines import outward_lines, python_lines
from framedex.index.ask.costs.changes import Step, changes, steps
from framedex.index.ask.costs.compiled import Function, Made, all_made, contents, functions
from framedex.index.read.rows import Reader
from framedex.model import Compiles, PythonLine, Table


@dataclass(slots=True)
class _Row:
    """What becomes a row: its calls in their order, and what changed in each that is known."""

    made: list[Made] = field(default_factory=list)
    steps: list[list[Step]] = field(default_factory=list)


def compiles(reader: Reader, *, all_lines: bool) -> Table[Compiles]:
    """A row for each line and function, what took longest first; with `all_lines` a row for each way to the line."""
    made = all_made(reader)
    lines = _lines(reader, made)
    function_of = functions(reader, made)
    outward = outward_lines(reader, {each.stack for each in made}) if all_lines else {}
    changed = _changed(reader, made, function_of, lines)
    rows: dict[tuple[PythonLine | None, tuple[PythonLine, ...], Function], _Row] = {}
    known: dict[tuple[int | None, int | None, int], _Row] = {}
    for each in made:
        row = known.get((each.program, each.noted, each.stack))
        if row is None or each.stack not in lines.of_stacks:
            key = lines.of(each), outward.get(each.stack, ()), function_of[each.program, each.noted]
            row = known[each.program, each.noted, each.stack] = rows.setdefault(key, _Row())
        row.made.append(each)
        if each.call in changed:
            row.steps.append(changed[each.call])
    found = [_compiles(line, way, function.name, row) for (line, way, function), row in rows.items()]
    return Table(tuple(sorted(found, key=lambda row: -row.total_duration - row.load_duration)))


def captures_with_compiles(reader: Reader) -> list[int]:
    """The captures in which something was compiled, or loaded from a compilation cache."""
    return [capture for (capture,) in reader.rows("SELECT DISTINCT capture FROM compilations")]


@dataclass(frozen=True, slots=True)
class _Lines:
    """The lines that had something made: of stacks that have Python, else of calls."""

    of_stacks: Mapping[int, PythonLine]
    of_calls: Mapping[int, PythonLine]

    def of(self, made: Made) -> PythonLine | None:
        return self.of_stacks.get(made.stack) or self.of_calls.get(made.call)


def _lines(reader: Reader, made: Sequence[Made]) -> _Lines:
    """All calls of a stack that has Python have one line, so that it is asked for once."""
    one_of = {each.stack: each.call for each in made}
    found = python_lines(reader, {call: stack for stack, call in one_of.items()})
    of_stacks = {stack: found[call] for stack, call in one_of.items() if call in found and found[call].link is None}
    others = {each.call: each.stack for each in made if each.stack not in of_stacks}
    return _Lines(of_stacks, python_lines(reader, others) if others else {})


def _changed(
    reader: Reader,
    made: Sequence[Made],
    function_of: Mapping[tuple[int | None, int | None], Function],
    lines: _Lines,
) -> dict[int, list[Step]]:
    """What changed, by the calls of a function that is not made for the first time in its process.

    A function of which nothing says the place is known again only on the line that had it made. What failed was not
    made.
    """
    before: dict[tuple[int, str, str | PythonLine | None], Made] = {}
    pairs: list[tuple[Made, Made]] = []
    for each in made:
        function = function_of[each.program, each.noted]
        if each.program is None and not function.name:
            continue
        key = each.capture, function.name, function.place or lines.of(each)
        if key in before:
            pairs.append((before[key], each))
        if each.error <= 0:
            before[key] = each
    known = contents(reader, (each for pair in pairs for each in pair))
    told: dict[tuple[object, object], list[Step]] = {}
    for old, new in pairs:
        if (old.content, new.content) not in told:
            told[old.content, new.content] = steps(known[old.content], known[new.content])
    return {new.call: found for old, new in pairs if (found := told[old.content, new.content])}


def _compiles(line: PythonLine | None, outward: tuple[PythonLine, ...], function: str, row: _Row) -> Compiles:
    loads = [each for each in row.made if each.is_load]
    compiled = [each for each in row.made if not each.is_load] if loads else row.made
    durations = [max(each.duration, 0) for each in compiled] or [0]
    problems = dict.fromkeys(each.problem for each in compiled if each.problem)
    return Compiles(
        line=line,
        outward=outward,
        function=function,
        compiles=len(compiled),
        failed=sum(each.error > 0 for each in row.made),
        total_duration=sum(durations),
        longest_duration=max(durations),
        loads=len(loads),
        load_duration=sum(max(each.duration, 0) for each in loads),
        changes=changes(row.steps),
        first_call=row.made[0].call,
        latest_call=row.made[-1].call,
        problem="; ".join(problems),
    )
