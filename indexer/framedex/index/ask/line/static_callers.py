"""The definitions in the sources that call the one on a line, as far as their text tells, whether or not they ever ran.

The calls of a definition are one text, and none is kept the other way round: all texts are searched for the name. In an
index of XLA and JAX (54 MB of calls) that takes 65 ms; a list of called names for each file would take a percent of its
size and 3 ms, and every reading of a source would have to keep it up.
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
"""Callers of which the text tells only that they may call the function: with more, the name is one of libraries too."""


def static_callers(line: AskedLine, recorded: Sequence[FunctionRow] = ()) -> StaticCallers:
    """The definitions with calls that can be of the function around the line, the surest first.

    Left out are the `recorded` ones, which were seen calling it. Calls that can be of more than a few functions are
    left out, and counted.
    """
    # With the readers of binaries, which other questions do without.
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
    # What a source tree and a source map have is the tree's.
    here = {each.name for each in (*sure, *unsure) if is_local(each.location.path)}
    found = [each for each in (*sure, *unsure) if is_local(each.location.path) or each.name not in here]
    found.sort(key=lambda each: (not each.is_sure, each.one_of, each.location.path, each.location.line))
    return StaticCallers(tuple(found), doubtful)


@dataclass(frozen=True, slots=True)
class _Calls:
    """The lines on which a definition has calls that can be of the function, and of how many functions they can be."""

    lines: tuple[int, ...]
    one_of: int
    is_sure: bool


def _calls_of(target: _Target, path: str, row: _Calling, namesakes: Namesakes) -> _Calls | None:
    """None where its calls of the name are of other functions."""
    from framedex.sources.meant import Named

    caller = Named.of(row.name, row.kind, row.path, target.language)
    # Python tells functions apart by their files too; overloads, and what platforms have of a function, are one in C++.
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
    """The calls of a name in a definition's text: line, kind, and what is written. The others are not taken apart."""
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
    """The innermost function around the line; None where it is not called by its name, as destructors are not."""
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
    """A definition whose calls have the name somewhere in them, with its file's state when it was read."""

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
        # CROSS JOIN: the few that have the name, and then what they are; the planner would look up each first.
        "SELECT f.path, d.name, d.kind, d.line, d.end_line, c.sites, s.modified, s.size, s.blob FROM call_sites c"
        " CROSS JOIN definitions d ON d.id = c.definition CROSS JOIN source_files s ON s.file = d.file"
        " CROSS JOIN files f ON f.id = d.file"
        " WHERE instr(c.sites, ?) AND s.language = ? AND d.kind <> 'macro' ORDER BY f.path, d.line",
        json.dumps(short, ensure_ascii=False),
        language,
    )
    return (_Calling(*row) for row in rows)


def _is_of(function: FunctionRow, row: _Calling) -> bool:
    """Whether a recorded function is this definition: debug information has the line of its name, maybe a later one."""
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
