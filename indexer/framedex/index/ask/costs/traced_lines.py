"""The lines of the user's program that add most ops to compiled programs, and the unrolled loops among them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from framedex.index.ask.call.python_lines import read_lines_of_nodes, read_outward_lines_of_nodes, read_python_nodes
from framedex.index.file.conventions import IN_JSON, build_json_list
from framedex.index.read.rows import Reader
from framedex.model import CompiledModule, LocationEvidence, PythonLine, TracedLine

MAX_TRACED_LINES = 100
"""The maximum number of lines with ops."""

_MAX_MODULE_LINES = 3
_MAX_COMPILATIONS = 100  # of a module, to find its callers


def find_compiled_module(reader: Reader, name: str) -> CompiledModule | None:
    """Return the latest program of an XLA module, such as `jit_step`, by its lines; None if none was recorded."""
    compilations = reader.rows(
        "SELECT x.program, k.stack FROM programs p JOIN compilations x ON x.program = p.id"
        " JOIN call_rows c ON c.id = x.call JOIN call_kinds k ON k.id = c.kind"
        f" WHERE p.name = ?{reader.scope.build_capture_condition('x')} ORDER BY x.call DESC LIMIT ?",
        *(name, _MAX_COMPILATIONS),
    )
    if not compilations:
        return None
    latest = compilations[0][0]
    stacks = [stack for program, stack in compilations if program == latest]
    node_of = read_python_nodes(reader, set(stacks))
    compiled_by = read_lines_of_nodes(reader, node_of.values()).get(node_of.get(stacks[0], 0))
    lines = tuple(read_traced_lines(reader, [latest], find_calling_lines(reader, set(node_of.values()))))
    return CompiledModule(name, lines[:_MAX_MODULE_LINES], compiled_by)


def find_calling_lines(reader: Reader, nodes: Collection[int]) -> set[tuple[str, int]]:
    """Return the user's lines, as path and line, on these tree paths, by their innermost nodes."""
    outward = read_outward_lines_of_nodes(reader, nodes).values()
    lines = (*read_lines_of_nodes(reader, nodes).values(), *(line for lines in outward for line in lines))
    return {(line.location.path, line.location.line) for line in lines}


def read_traced_lines(
    reader: Reader, programs: Iterable[int], callers: Collection[tuple[str, int]]
) -> Iterator[TracedLine]:
    """Yield the lines with most ops of programs, those with the most ops first.

    A line counts as repeated if it is in a loop. `callers` are the lines that led to a trace: their loops ran programs.
    """
    rows = reader.rows(
        "SELECT iif(count(DISTINCT p.function) = 1, p.function, ''), sum(o.ops), max(o.repeats), sum(o.repeated_ops),"
        " fr.function, f.path, fr.line, v.modified, v.size, v.blob"
        " FROM programs p JOIN program_own_lines o ON o.program = p.id"
        " JOIN program_frames fr ON fr.id = o.frame JOIN files f ON f.id = fr.file"
        f" LEFT JOIN file_versions v ON v.id = fr.version WHERE p.id {IN_JSON} GROUP BY o.frame"
        f" ORDER BY max(sum(o.ops), sum(o.repeated_ops)) DESC, sum(o.ops) DESC, fr.line LIMIT {MAX_TRACED_LINES}",
        build_json_list(list(programs)),
    )
    repeated: dict[str | None, frozenset[int]] = {None: frozenset()}  # by blob
    for function, ops, repeats, repeated_ops, name, path, line, *state in rows:
        blob = state[-1]
        if repeats > 1 and blob not in repeated:
            from framedex.sources.python_syntax import find_repeated_lines

            repeated[blob] = find_repeated_lines(reader.stored_text(blob) or b"")
        location = reader.build_location(path, line, LocationEvidence.EXACT, *state)
        if location is None:
            continue
        found = PythonLine(name, location)
        if repeats > 1 and line in repeated[blob] and (path, line) not in callers:
            yield TracedLine(function, found, ops, repeats, repeated_ops)
        elif ops:
            yield TracedLine(function, found, ops, 1, 0)
