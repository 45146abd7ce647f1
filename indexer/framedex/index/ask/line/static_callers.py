"""Callers of a function according to the source text, whether or not they ever ran.

The calls of a definition are stored as one text without a reverse index, so all texts are searched for the name. In an
index of XLA and JAX (54 MB of calls) that takes 65 ms. A list of called names per file would take 3 ms and one percent
of the size. Every parse of a source would have to maintain it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from framedex.index.ask.line.static_calls import CALLED, MOST_TARGETS, lines_since_read
from framedex.index.file.conventions import IN_JSON, json_list
from framedex.index.read.asked import AskedFile, AskedLine
from framedex.index.read.places import state_of
from framedex.model import How, StaticCaller, StaticCallers, is_local

if TYPE_CHECKING:
    from framedex.index.read.rows import Reader
    from framedex.model import FunctionRow
    from framedex.sources.meant import Namesakes

_MOST_LINES = 20

_MOST_UNSURE = 50
"""Limit of unsure callers; with more, the name is also a library's."""


def static_callers(line: AskedLine, recorded: Sequence[FunctionRow] = ()) -> StaticCallers:
    """Return the definitions that may call the function around the line, the surest first.

    The `recorded` callers are left out. Calls with more than `MOST_TARGETS` possible targets are left out and counted.
    """
    # Imported here because it loads the readers of binaries.
    from framedex.sources.meant import Named, Namesakes

    target = _target(line)
    if target is None:
        return StaticCallers((), 0)
    rows: list[tuple[str, str, str]] = line.reader.rows(
        "SELECT DISTINCT d.name, d.kind, f.path FROM definitions d JOIN files f ON f.id = d.file"
        f" JOIN source_files s ON s.file = d.file WHERE d.short_name = ? AND d.kind {IN_JSON} AND s.language = ?",
        target.short_name,
        json_list(CALLED),
        target.language,
    )
    namesakes = Namesakes((Named.of(*row, target.language) for row in rows), target.language)
    sure: list[StaticCaller] = []
    unsure: list[StaticCaller] = []
    doubtful = 0
    for row in _calling(line.reader, target.short_name, target.language):
        if (row.path, row.line) == (line.path, target.line):
            continue
        calls = _calls_of(target, line.path, row, namesakes)
        if calls is None or any(_is_of(function, row) for function in recorded):
            continue
        if calls.one_of > MOST_TARGETS:
            doubtful += 1
        else:
            (sure if calls.is_sure else unsure).extend(_as_now(line.reader, row, calls))
    if len(unsure) > _MOST_UNSURE:
        doubtful += len(unsure)
        unsure = []
    # If a source tree and a source map have the same caller, keep that of the tree.
    here = {each.name for each in (*sure, *unsure) if is_local(each.location.path)}
    found = [each for each in (*sure, *unsure) if is_local(each.location.path) or each.name not in here]
    found.sort(key=lambda each: (not each.is_sure, each.one_of, each.location.path, each.location.line))
    return StaticCallers(tuple(found), doubtful)


@dataclass(frozen=True, slots=True)
class _Calls:
    """The lines of a definition that may call the function, and the number of possible targets."""

    lines: tuple[int, ...]
    one_of: int
    is_sure: bool


def _calls_of(target: _Target, path: str, row: _Calling, namesakes: Namesakes) -> _Calls | None:
    """Return the definition's calls of the target, or None if all its calls of that name have other targets."""
    from framedex.sources.meant import Named

    caller = Named.of(row.name, row.kind, row.path, target.language)
    # Files distinguish Python functions. In C++, overloads and per-platform variants count as one function.
    by_file = target.language == "python"
    found: list[tuple[int, int, bool]] = []
    for line, kind, written in _sites_of(target.short_name, row.sites):
        can_be = namesakes.meant(kind, written, caller)
        functions = {(each.name, each.path if by_file else "") for each in can_be.definitions}
        if any((each.name, each.path) == (target.name, path) for each in can_be.definitions):
            found.append((line, len(functions), can_be.is_sure and len(functions) == 1))
    if not found:
        return None
    one_of, is_sure = min((one_of, not is_sure) for _, one_of, is_sure in found)
    return _Calls(tuple(dict.fromkeys(line for line, *_ in found))[:_MOST_LINES], one_of, not is_sure)


def _sites_of(name: str, sites: str) -> Iterator[tuple[int, str, str]]:
    """Yield (line, kind, written text) for the calls of a name in a definition's text; other calls are not parsed."""
    quoted = re.escape(json.dumps(name, ensure_ascii=False))
    for match in re.finditer(rf'\[(\d+),\s*\d+,\s*"(\w+)",\s*{quoted}(?:,\s*("(?:[^"\\]|\\.)*"))?\]', sites):
        yield int(match[1]), match[2], json.loads(match[3]) if match[3] else ""


@dataclass(frozen=True, slots=True)
class _Target:
    name: str
    short_name: str
    kind: str
    line: int
    language: str


def _target(line: AskedLine) -> _Target | None:
    """Return the innermost function around the line, or None if it is not called by its name, as a destructor."""
    moved = lines_since_read(line)
    then = line.line if moved is None else moved.backward(line.line).line
    row = line.reader.row(
        "SELECT d.name, d.short_name, d.kind, d.line, s.language FROM definitions d"
        " JOIN source_files s ON s.file = d.file"
        f" WHERE d.file = ? AND d.line <= ? AND d.end_line >= ? AND d.kind {IN_JSON} ORDER BY d.line DESC LIMIT 1",
        line.id,
        then,
        then,
        json_list(CALLED),
    )
    if row is None:
        return None
    target = _Target(*row)
    return target if target.name.replace("::", ".").rpartition(".")[2] == target.short_name else None


@dataclass(frozen=True, slots=True)
class _Calling:
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


def _calling(reader: Reader, short: str, language: str) -> Iterator[_Calling]:
    rows = reader.rows(
        # CROSS JOIN starts with the few texts that contain the name; the planner would start with the definitions.
        "SELECT f.path, d.name, d.kind, d.line, d.end_line, c.sites, s.modified, s.size, s.blob FROM call_sites c"
        " CROSS JOIN definitions d ON d.id = c.definition CROSS JOIN source_files s ON s.file = d.file"
        " CROSS JOIN files f ON f.id = d.file"
        " WHERE instr(c.sites, ?) AND s.language = ? AND d.kind <> 'macro' ORDER BY f.path, d.line",
        json.dumps(short, ensure_ascii=False),
        language,
    )
    return (_Calling(*row) for row in rows)


def _is_of(function: FunctionRow, row: _Calling) -> bool:
    """Whether a recorded function is this definition; debug information may have a later line, that of its name."""
    from framedex.sources.names import short_name

    begin = function.location
    if begin is None or begin.path != row.path:
        return False
    line = begin.moved_from or begin.line
    return line == row.line or (row.line < line <= row.end_line and short_name(function.name) == short_name(row.name))


def _as_now(reader: Reader, row: _Calling, calls: _Calls) -> Iterator[StaticCaller]:
    location = reader.location(row.path, row.line, How.DEFINITION, row.modified, row.size, row.blob)
    if location is None:
        return
    change = AskedFile(reader, row.path).change_from(state_of(row.modified, row.size, row.blob))
    moved = None if change is None else change.lines
    now = tuple(each if moved is None else moved.forward(each).line for each in calls.lines)
    yield StaticCaller(row.name, location, row.end_line + location.line - row.line, now, calls.one_of, calls.is_sure)
