"""Compilations: for each program line, the compiled functions and the reasons for recompiling them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

from framedex.index.ask.call.python_lines import (
    read_lines_of_nodes,
    read_outward_lines,
    read_outward_lines_of_nodes,
    read_python_lines,
)
from framedex.index.ask.costs.cache_misses import find_cache_misses
from framedex.index.ask.costs.changes import (
    CompilationFacts,
    Difference,
    compare_compilations,
    has_other_arguments,
    summarize_changes,
)
from framedex.index.ask.costs.collectives import read_collectives
from framedex.index.ask.costs.compile_inputs import (
    CompileCall,
    Content,
    is_note_of_program,
    parse_note,
    read_compile_calls,
    read_contents,
    read_texts,
    remove_identities,
    to_id_list,
)
from framedex.index.ask.costs.phases import Phase, read_captures_with_phases, read_separate_phases
from framedex.index.file.conventions import IN_JSON, build_json_list
from framedex.index.file.paths import is_installed
from framedex.index.read.rows import Reader
from framedex.model import (
    ChangeCause,
    CompileChange,
    CompileNote,
    Compiles,
    PhaseKind,
    PythonLine,
    Table,
)
from framedex.model.programs import to_module_name

MAX_COMPARED = 2_000
"""Limit of explained compilations per query: the first and the latest of each row."""

_MAX_CANDIDATES = 8  # latest compilations of a function or its object, of which the nearest is compared


@dataclass(frozen=True, slots=True)
class JittedFunction:
    """A jitted function: its name and its source location, which distinguishes namesakes; empty if unknown."""

    name: str
    place: str


def find_functions(
    reader: Reader, calls: Collection[CompileCall]
) -> dict[tuple[int | None, int | None], JittedFunction]:
    """Return the functions by (program, note).

    A note for the program takes precedence. Installed functions, such as JAX's own, are located by their ops only,
    because they are called from everywhere.
    """
    pairs = {(each.program, each.note) for each in calls}
    query = f"SELECT id, name, function, defined FROM programs WHERE id {IN_JSON}"
    programs = {program: of for program, *of in reader.rows(query, to_id_list(program for program, _ in pairs))}
    notes = read_texts(reader, (noted for _, noted in pairs), parse_note)
    alike: dict[tuple[str, str, str, int | None], JittedFunction] = {}  # cached because many programs share a function
    found = {}
    for program, number in pairs:
        module, name, place = programs.get(program, ("", "", ""))
        key = module, name, place, number
        if key not in alike:
            alike[key] = _build_function(name, place, notes.get(number), module if program is not None else None)
        found[program, number] = alike[key]
    # A program without ops of the function, such as one that returns its argument, gets the place of other programs of
    # the same function object.
    object_of = _read_function_objects(notes)
    captures = {(each.program, each.note): each.capture for each in calls}  # objects are numbered in each process
    located = {
        (captures[key], object_of[key[1]]): function
        for key, function in found.items()
        if function.place and key[1] in object_of
    }
    return {
        key: function if function.place else located.get((captures[key], object_of.get(key[1], "")), function)
        for key, function in found.items()
    }


def _build_function(name: str, location_text: str, noted: CompileNote | None, module: str | None) -> JittedFunction:
    if noted is None or not is_note_of_program(noted, module):
        return JittedFunction(name, location_text)
    if not noted.function:  # a callable object without a name of its own
        return JittedFunction(name, location_text or _find_function_object(noted).partition(" #")[0])
    is_of_package = is_installed(noted.defined) and not noted.defined.startswith("<")  # `<stdin>:3` is a location
    return JittedFunction(name or noted.function, location_text if is_of_package else noted.defined)


def _read_function_objects(notes: Mapping[int | None, CompileNote]) -> dict[int | None, str]:
    """Return the function object that JAX traced, as name and number, by the row id of the note."""
    return {number: found for number, note in notes.items() if (found := _find_function_object(note))}


def _find_function_object(note: CompileNote) -> str:
    """Return the name and number of the function object; empty if unknown."""
    return next((value for kind, subject, value in note.keys or () if (kind, subject) == ("function", "")), "")


_Pair = tuple[tuple[Content, ...], Content]  # earlier compilations, the latest last, and the one to explain


@dataclass(slots=True)
class _CompileRow:
    """A table row under construction: its calls in order, and counts of (earlier, current) inputs of its function."""

    calls: list[CompileCall] = field(default_factory=list)
    pairs: Counter[_Pair] = field(default_factory=Counter)


@dataclass(slots=True)
class _EarlierCompilations:
    """The earlier compilations of a function: the latest of each program and note, and some of each function object."""

    latest_by_program: dict[tuple[int | None, int | None], Content] = field(default_factory=dict)
    by_function_object: dict[str, tuple[Content, ...]] = field(default_factory=dict)
    latest: tuple[Content, ...] = ()

    def find(self, function_object: str, content: Content) -> tuple[Content, ...]:
        """Return the compilations to compare with: an equal one, else those of the function object, else the latest."""
        equal = self.latest_by_program.get((content[0], content[2])) if content[0] is not None else None
        return (equal,) if equal is not None else self.by_function_object.get(function_object, self.latest)

    def add(self, function_object: str, content: Content) -> None:
        """Add a compilation of a function object."""
        self.latest_by_program[content[0], content[2]] = content
        latest = self.by_function_object.get(function_object, ())
        self.by_function_object[function_object] = _add_latest(latest, content)
        self.latest = _add_latest(self.latest, content)


def _add_latest(contents: tuple[Content, ...], content: Content) -> tuple[Content, ...]:
    return (*(each for each in contents if each != content), content)[-_MAX_CANDIDATES:]


@dataclass(slots=True)
class _FunctionRow:
    """The row of compilations with one program, note and stack, and the key of their function.

    A function without a known place is identified by the line that compiled it; a key of None disables comparison.
    """

    row: _CompileRow
    key: tuple[str, str | PythonLine | None] | None


def read_compiles(reader: Reader, *, all_lines: bool) -> Table[Compiles]:
    """Return a row per line and function, longest total duration first; `all_lines` adds the path to the line."""
    calls = read_compile_calls(reader)
    lines = _find_lines(reader, calls)
    function_of = find_functions(reader, calls)
    outward = read_outward_lines(reader, {each.stack for each in calls}) if all_lines else {}
    rows: dict[tuple[PythonLine | None, tuple[PythonLine, ...], JittedFunction], _CompileRow] = {}
    known_rows: dict[tuple[int | None, int | None, int], _FunctionRow] = {}
    object_of = _read_function_objects(read_texts(reader, {each.note for each in calls}, parse_note))
    previous: dict[tuple[int, tuple[str, str | PythonLine | None]], _EarlierCompilations] = {}
    for each in calls:
        known_row = known_rows.get((each.program, each.note, each.stack))
        if known_row is None or each.stack not in lines.by_stack:
            line, function = lines.find_line(each), function_of[each.program, each.note]
            row = rows.setdefault((line, outward.get(each.stack, ()), function), _CompileRow())
            is_known = each.program is not None or function.name
            known_row = _FunctionRow(row, (function.name, function.place or line) if is_known else None)
            known_rows[each.program, each.note, each.stack] = known_row
        known_row.row.calls.append(each)
        if known_row.key is not None:
            earlier = previous.setdefault((each.capture, known_row.key), _EarlierCompilations())
            function_object, content = object_of.get(each.note, ""), each.content
            before = earlier.find(function_object, content)
            if before:
                known_row.row.pairs[before, content] += 1
            if each.error <= 0:  # a failed compilation is not a previous one
                earlier.add(function_object, content)
    changes_of = _find_changes(reader, rows.values())
    prepared = _sum_preparations(reader, all_lines=all_lines)
    misses = find_cache_misses(reader, calls)
    collectives = read_collectives(reader, {row.calls[-1].call for row in rows.values()})
    found = [
        replace(
            _build_row(*key, row, changed, prepared.pop((key[0], key[1], to_module_name(key[2].name)), _Preparation())),
            cache_misses=tuple(misses[each.call] for each in row.calls if each.call in misses),
            collectives=collectives.get(row.calls[-1].call, ()),
        )
        for (key, row), changed in zip(rows.items(), changes_of, strict=True)
    ]
    return Table(tuple(sorted(found, key=lambda row: -row.total_duration - row.load_duration)))


@dataclass(slots=True)
class _Preparation:
    """JAX's work before the compilations of a function from a line: counts, and durations in ns."""

    traces: int = 0
    trace_duration: int = 0
    lowerings: int = 0
    lower_duration: int = 0
    lookups: int = 0
    lookup_duration: int = 0

    def add(self, phase: Phase) -> None:
        """Add a phase that counts for this function."""
        is_whole = phase.root is phase
        if phase.root.kind is PhaseKind.TRACE:
            self.traces += is_whole
            self.trace_duration += phase.own
        elif phase.root.kind is PhaseKind.LOWER:
            self.lowerings += is_whole
            self.lower_duration += phase.own
        elif phase.kind is PhaseKind.LOOKUP:
            self.lookups += 1
            self.lookup_duration += phase.own


def _sum_preparations(
    reader: Reader, *, all_lines: bool
) -> dict[tuple[PythonLine | None, tuple[PythonLine, ...], str], _Preparation]:
    """Return JAX's work before compilations by line, its callers (with `all_lines`) and module name of the function."""
    phases = [phase for capture in read_captures_with_phases(reader) for phase in read_separate_phases(reader, capture)]
    nodes = {phase.root.node for phase in phases}
    lines = read_lines_of_nodes(reader, nodes)
    outward = read_outward_lines_of_nodes(reader, nodes) if all_lines else {}
    found: dict[tuple[PythonLine | None, tuple[PythonLine, ...], str], _Preparation] = {}
    for phase in phases:
        root = phase.root
        key = lines.get(root.node), outward.get(root.node, ()), to_module_name(root.name)
        found.setdefault(key, _Preparation()).add(phase)
    return found


def read_captures_with_compiles(reader: Reader) -> list[int]:
    """Return the captures with a compilation, or with a load from a compilation cache."""
    return [capture for (capture,) in reader.rows("SELECT DISTINCT capture FROM compilations")]


@dataclass(frozen=True, slots=True)
class _CompileLines:
    """The lines of compilations, by stack. If the stack has no Python, the line is found by call."""

    by_stack: Mapping[int, PythonLine]
    by_call: Mapping[int, PythonLine]

    def find_line(self, calls: CompileCall) -> PythonLine | None:
        return self.by_stack.get(calls.stack) or self.by_call.get(calls.call)


def _find_lines(reader: Reader, calls: Sequence[CompileCall]) -> _CompileLines:
    """Return the lines of the calls; a stack with Python is looked up once, because its calls share a line."""
    call_of_stack = {each.stack: each.call for each in calls}
    found = read_python_lines(reader, {call: stack for stack, call in call_of_stack.items()})
    of_stacks = {
        stack: found[call] for stack, call in call_of_stack.items() if call in found and found[call].link is None
    }
    others = {each.call: each.stack for each in calls if each.stack not in of_stacks}
    return _CompileLines(of_stacks, read_python_lines(reader, others) if others else {})


def _find_changes(reader: Reader, rows: Collection[_CompileRow]) -> list[tuple[CompileChange, ...]]:
    """Return the changes of each row."""
    most = max(2, MAX_COMPARED // max(1, len(rows)))
    compared = [_keep_ends(list(row.pairs), most) for row in rows]
    known = read_contents(reader, {each for pairs in compared for old, new in pairs for each in (*old, new)})
    return [
        summarize_changes((_compare_to_nearest(pair, known), row.pairs[pair]) for pair in pairs)
        for row, pairs in zip(rows, compared, strict=True)
    ]


def _compare_to_nearest(pair: _Pair, known: Mapping[Content, CompilationFacts]) -> list[Difference]:
    """Return the differences from the earlier compilation that has the fewest, like JAX's closest key.

    A compilation with another number of arguments, such as that of a gradient, is compared if there is no other.
    """
    earlier, current = pair
    found = (compare_compilations(known[each], known[current]) for each in reversed(earlier))
    return min(found, key=lambda each: (has_other_arguments(each), len(each)))


def _keep_ends(pairs: list[_Pair], limit: int) -> list[_Pair]:
    return pairs if len(pairs) <= limit else [*pairs[: limit // 2], *pairs[-(limit // 2) :]]


def _build_row(
    line: PythonLine | None,
    outward: tuple[PythonLine, ...],
    function: JittedFunction,
    row: _CompileRow,
    changed: tuple[CompileChange, ...],
    prepared: _Preparation,
) -> Compiles:
    loads = [each for each in row.calls if each.is_load]
    compiled = [each for each in row.calls if not each.is_load] if loads else row.calls
    durations = [max(each.duration, 0) for each in compiled] or [0]
    problems = dict.fromkeys(each.problem for each in compiled if each.problem)
    return Compiles(
        line=line,
        outward=outward,
        function=function.name,
        compiles=len(compiled),
        failed=sum(each.error > 0 for each in row.calls),
        total_duration=sum(durations),
        longest_duration=max(durations),
        loads=len(loads),
        load_duration=sum(max(each.duration, 0) for each in loads),
        changes=changed,
        first_call=row.calls[0].call,
        latest_call=row.calls[-1].call,
        problem="; ".join(problems),
        **asdict(prepared),
    )


@dataclass(frozen=True, slots=True)
class CompiledProgram:
    """The data of a compilation, and its number of ops by StableHLO kind (`sine`)."""

    known: CompilationFacts
    ops: Mapping[str, int]

    def without_options(self) -> CompiledProgram:
        """Return a copy without compile options."""
        return replace(self, known=replace(self.known, options=None))


def read_compiled_programs(reader: Reader, calls: Collection[int]) -> dict[int, CompiledProgram]:
    """Return the programs by the calls that compiled them."""
    rows = reader.rows(
        f"SELECT call, program, options, noted FROM compilations WHERE call {IN_JSON}", build_json_list(sorted(calls))
    )
    keys = {call: (program, options, noted) for call, program, options, noted in rows}
    known = {key: remove_identities(found) for key, found in read_contents(reader, set(keys.values())).items()}
    ops: dict[int | None, Counter[str]] = {}
    for program, kind, number in reader.rows(
        "SELECT l.program, o.kind, sum(l.ops) FROM program_lines l JOIN program_ops o ON o.id = l.op"
        f" WHERE l.program {IN_JSON} GROUP BY 1, 2",
        build_json_list(sorted({program for program, _, _ in keys.values() if program is not None})),
    ):
        ops.setdefault(program, Counter())[kind] = number
    return {call: CompiledProgram(known[key], ops.get(key[0], Counter())) for call, key in keys.items()}


def compare_programs(previous: CompiledProgram, after: CompiledProgram) -> tuple[CompileChange, ...]:
    """Return the changes from one program to the other; empty if they are identical."""
    found = summarize_changes([(compare_compilations(previous.known, after.known), 1)])
    return tuple(change for change in found if change.cause is not ChangeCause.SAME)
