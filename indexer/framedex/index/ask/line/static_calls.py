"""Callees and callers according to the source text, whether or not they ever ran.

The calls of a definition are stored as one text without a reverse index. A query for callers searches all texts for the
name. That takes 65 ms in an index of XLA and JAX (54 MB of calls). With a list of called names per file, this would
take 3 ms. The list would need one percent of the size, and every parse of a source would have to maintain it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from framedex.index.file.conventions import IN_JSON, build_json_list
from framedex.index.read.locations import build_state
from framedex.index.read.rows import Reader
from framedex.index.read.subjects import FileQuery, LineQuery
from framedex.model import Location, LocationEvidence, StaticCall, StaticCaller, StaticCallers, is_local

if TYPE_CHECKING:
    from framedex.model import FunctionRow
    from framedex.sources.call_targets import Namesakes
    from framedex.sources.line_maps import LineMap


CALLABLE_KINDS = ("function", "method")
MAX_TARGETS = 5
"""Limit of definitions of one name: with more, the target is ambiguous."""


_MAX_LINES = 20

_MAX_UNSURE = 50
"""Limit of uncertain callers. With more of them, a library probably defines the name too."""


def static_callees(line: LineQuery) -> list[StaticCall]:
    """Return the calls in the definition that begins on the line, once per name, in source order.

    Names without a definition, or with more than `MAX_TARGETS` in the file's language, are left out.
    """
    # Lazy: they load the readers of binaries.
    from framedex.model.sources import parse_call_sites
    from framedex.sources.names import short_name

    line_map = find_line_map_since_parse(line)
    row = line.reader.row(
        "SELECT c.sites, s.language FROM definitions d JOIN call_sites c ON c.definition = d.id"
        " JOIN source_files s ON s.file = d.file WHERE d.file = ? AND d.line = ? ORDER BY d.end_line LIMIT 1",
        line.id,
        line.line if line_map is None else line_map.old_line(line.line),
    )
    if row is None:
        return []
    text, language = row
    first: dict[str, tuple[int, str]] = {}
    for site in parse_call_sites(text):
        now = site.line if line_map is None else line_map.map_to_new(site.line).line
        first.setdefault(short_name(site.callee), (now, site.callee))
    targets = _find_definitions(line.reader, list(first), language)
    return [
        StaticCall(site_line, callee, tuple(targets[short]))
        for short, (site_line, callee) in first.items()
        if 0 < len(targets.get(short, ())) <= MAX_TARGETS
    ]


def _find_definitions(reader: Reader, names: list[str], language: str) -> dict[str, list[tuple[str, Location, int]]]:
    rows = reader.rows(
        "SELECT d.short_name, d.name, f.path, d.line, d.end_line, s.modified, s.size, s.blob FROM json_each(?) wanted"
        " CROSS JOIN definitions d ON d.short_name = wanted.value JOIN files f ON f.id = d.file"
        f" JOIN source_files s ON s.file = d.file WHERE d.kind {IN_JSON} AND s.language = ? ORDER BY f.path, d.line",
        build_json_list(names),
        build_json_list(CALLABLE_KINDS),
        language,
    )
    found: dict[str, list[tuple[str, Location, int]]] = {}
    for short, name, path, line, end_line, *state in rows:
        place = reader.build_location(path, line, LocationEvidence.DEFINITION, *state)
        if place is not None:
            found.setdefault(short, []).append((name, place, end_line + place.line - line))
    return found


def find_line_map_since_parse(file: FileQuery) -> LineMap | None:
    """Return the line map from the last parse of the file to its current state; None if unchanged or unknown."""
    state = file.reader.row("SELECT modified, size, blob FROM source_files WHERE file = ?", file.id)
    change = file.change_since(None if state is None else build_state(*state))
    return None if change is None else change.lines


def static_callers(line: LineQuery, recorded: Sequence[FunctionRow] = ()) -> StaticCallers:
    """Return the definitions that may call the function around the line, the most certain first.

    The `recorded` callers are left out. Calls with more than `MAX_TARGETS` possible targets are left out and counted.
    """
    # Lazy: it loads the readers of binaries.
    from framedex.sources.call_targets import NamedDefinition, Namesakes

    target = _find_target(line)
    if target is None:
        return StaticCallers((), 0)
    rows: list[tuple[str, str, str]] = line.reader.rows(
        "SELECT DISTINCT d.name, d.kind, f.path FROM definitions d JOIN files f ON f.id = d.file"
        f" JOIN source_files s ON s.file = d.file WHERE d.short_name = ? AND d.kind {IN_JSON} AND s.language = ?",
        target.short_name,
        build_json_list(CALLABLE_KINDS),
        target.language,
    )
    namesakes = Namesakes((NamedDefinition.from_columns(*row, target.language) for row in rows), target.language)
    sure: list[StaticCaller] = []
    unsure: list[StaticCaller] = []
    doubtful = 0
    for row in _find_calling_definitions(line.reader, target.short_name, target.language):
        if (row.path, row.line) == (line.path, target.line):
            continue
        calls = _match_calls(target, line.path, row, namesakes)
        if calls is None or any(_is_same_function(function, row) for function in recorded):
            continue
        if calls.target_count > MAX_TARGETS:
            doubtful += 1
        else:
            (sure if calls.is_sure else unsure).extend(_build_callers(line.reader, row, calls))
    if len(unsure) > _MAX_UNSURE:
        doubtful += len(unsure)
        unsure = []
    # A source tree and a source map can have the same caller: keep the caller in the tree.
    here = {each.name for each in (*sure, *unsure) if is_local(each.location.path)}
    found = [each for each in (*sure, *unsure) if is_local(each.location.path) or each.name not in here]
    found.sort(key=lambda each: (not each.is_sure, each.one_of, each.location.path, each.location.line))
    return StaticCallers(tuple(found), doubtful)


@dataclass(frozen=True, slots=True)
class _PossibleCalls:
    """The lines of a definition that may call the function, and the number of possible targets."""

    lines: tuple[int, ...]
    target_count: int
    is_sure: bool


def _match_calls(
    target: _CallTarget, path: str, row: _CallingDefinition, namesakes: Namesakes
) -> _PossibleCalls | None:
    """Return the definition's calls of the target, or None if all its calls of that name have other targets."""
    from framedex.sources.call_targets import NamedDefinition

    caller = NamedDefinition.from_columns(row.name, row.kind, row.path, target.language)
    # Files distinguish Python functions. In C++, overloads and per-platform variants count as one function.
    by_file = target.language == "python"
    found: list[tuple[int, int, bool]] = []
    for line, kind, written in _iter_sites(target.short_name, row.sites):
        can_be = namesakes.resolve(kind, written, caller)
        functions = {(each.name, each.path if by_file else "") for each in can_be.definitions}
        if any((each.name, each.path) == (target.name, path) for each in can_be.definitions):
            found.append((line, len(functions), can_be.is_sure and len(functions) == 1))
    if not found:
        return None
    one_of, is_sure = min((one_of, not is_sure) for _, one_of, is_sure in found)
    return _PossibleCalls(tuple(dict.fromkeys(line for line, *_ in found))[:_MAX_LINES], one_of, not is_sure)


def _iter_sites(name: str, sites: str) -> Iterator[tuple[int, str, str]]:
    """Yield (line, kind, written text) for the calls of a name in a definition's text; other calls are not parsed."""
    quoted = re.escape(json.dumps(name, ensure_ascii=False))
    for match in re.finditer(rf'\[(\d+),\s*\d+,\s*"(\w+)",\s*{quoted}(?:,\s*("(?:[^"\\]|\\.)*"))?\]', sites):
        yield int(match[1]), match[2], json.loads(match[3]) if match[3] else ""


@dataclass(frozen=True, slots=True)
class _CallTarget:
    name: str
    short_name: str
    kind: str
    line: int
    language: str


def _find_target(line: LineQuery) -> _CallTarget | None:
    """Return the innermost function around the line, or None if it is not called by its name, as a destructor."""
    line_map = find_line_map_since_parse(line)
    then = line.line if line_map is None else line_map.map_to_old(line.line).line
    row = line.reader.row(
        "SELECT d.name, d.short_name, d.kind, d.line, s.language FROM definitions d"
        " JOIN source_files s ON s.file = d.file"
        f" WHERE d.file = ? AND d.line <= ? AND d.end_line >= ? AND d.kind {IN_JSON} ORDER BY d.line DESC LIMIT 1",
        line.id,
        then,
        then,
        build_json_list(CALLABLE_KINDS),
    )
    if row is None:
        return None
    target = _CallTarget(*row)
    return target if target.name.replace("::", ".").rpartition(".")[2] == target.short_name else None


@dataclass(frozen=True, slots=True)
class _CallingDefinition:
    """A definition whose calls contain the name, with the state of its file when it was parsed."""

    path: str
    name: str
    kind: str
    line: int
    end_line: int
    sites: str
    modified: int
    size: int
    blob: str


def _find_calling_definitions(reader: Reader, short: str, language: str) -> Iterator[_CallingDefinition]:
    rows = reader.rows(
        # CROSS JOIN starts with the few texts that contain the name; the planner would start with the definitions.
        "SELECT f.path, d.name, d.kind, d.line, d.end_line, c.sites, s.modified, s.size, s.blob FROM call_sites c"
        " CROSS JOIN definitions d ON d.id = c.definition CROSS JOIN source_files s ON s.file = d.file"
        " CROSS JOIN files f ON f.id = d.file"
        " WHERE instr(c.sites, ?) AND s.language = ? AND d.kind <> 'macro' ORDER BY f.path, d.line",
        json.dumps(short, ensure_ascii=False),
        language,
    )
    return (_CallingDefinition(*row) for row in rows)


def _is_same_function(function: FunctionRow, row: _CallingDefinition) -> bool:
    """Whether a recorded function is this definition; debug information may have a later line, that of its name."""
    from framedex.sources.names import short_name

    begin = function.location
    if begin is None or begin.path != row.path:
        return False
    line = begin.moved_from or begin.line
    return line == row.line or (row.line < line <= row.end_line and short_name(function.name) == short_name(row.name))


def _build_callers(reader: Reader, row: _CallingDefinition, calls: _PossibleCalls) -> Iterator[StaticCaller]:
    location = reader.build_location(row.path, row.line, LocationEvidence.DEFINITION, row.modified, row.size, row.blob)
    if location is None:
        return
    change = FileQuery(reader, row.path).change_since(build_state(row.modified, row.size, row.blob))
    line_map = None if change is None else change.lines
    now = tuple(each if line_map is None else line_map.map_to_new(each).line for each in calls.lines)
    yield StaticCaller(
        row.name, location, row.end_line + location.line - row.line, now, calls.target_count, calls.is_sure
    )
