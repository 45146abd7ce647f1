"""Search symbols by parts of names: recorded symbols and definitions in source trees.

Only distinct names are searched, and the best ones are looked up: a tree has three times as many definitions as names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from framedex.index.ask.name.functions import move_to_def_lines
from framedex.index.ask.name.matching import MatchQuality, match_name
from framedex.index.file.conventions import IN_JSON, SEARCHED_KINDS, build_json_list
from framedex.index.file.paths import is_user_file
from framedex.index.read.rows import FUNCTION_COLUMNS, FUNCTION_TABLES, Reader, build_functions, read_functions_by_id
from framedex.model import FoundSymbol, Location, LocationEvidence

_MAX_NAMES = 256  # limit of ranked names per query
_MAX_SCOPED_NAMES = 100  # limit of names whose definitions are filtered by scope
_MIN_PART_CHARACTERS = 3  # characters: the index of name parts stores trigrams
_SEPARATOR = re.compile(r"::|[.:\s]+")
_LAST_CHARACTER = chr(0x10FFFF)

_Found = tuple[str, FoundSymbol]
"""A short name and a symbol with that name."""


def find_symbols(reader: Reader, text: str, limit: int) -> list[FoundSymbol]:
    """Return at most `limit` symbols whose name contains `text` in any case; `A::b` or `A.b` is a `b` inside an `A`.

    Exact names come first, then the order of `MatchQuality`. Equal matches are ordered by the user's own Python, then
    by recorded symbols. A function appears once: not again at its decorators' line, nor as a declaration of a known
    definition. A text under three characters matches only prefixes.
    """
    *scopes, part = [word for word in _SEPARATOR.split(text) if word] or [""]
    part = part.removeprefix("~")  # destructors are stored under the name of their class
    if not part:
        return []
    names = _find_names(reader, part)[: max(limit, _MAX_SCOPED_NAMES) if scopes else limit]
    pattern = _build_pattern(scopes, part)
    recorded = [name.text for name in names if name.is_recorded]
    symbols = [
        *_find_functions(reader, recorded),
        *_find_boundaries(reader, recorded),
        *_find_targets(reader, recorded),
    ]
    found = [(name, symbol) for name, symbol in symbols if pattern.search(symbol.name)]
    outer = max(scopes, key=len, default="")
    defined = _find_definitions(reader, [name.text for name in names], outer, pattern, limit + len(found))
    found = _merge_symbols(found, list(defined))
    order = {name.text: (name.fit, i) for i, name in enumerate(names)}
    found.sort(key=lambda item: (order[item[0]][0], _is_not_own(item[1]), _record_rank(item[1]), order[item[0]][1]))
    return [symbol for _, symbol in found[:limit]]


@dataclass(frozen=True, slots=True)
class _NameMatch:
    """A short name that matches, and the quality of the match."""

    text: str
    fit: MatchQuality
    is_recorded: bool


def _find_names(reader: Reader, part: str) -> list[_NameMatch]:
    """Return the names that contain this part, best first."""
    rows = reader.rows(
        "SELECT name, is_recorded FROM names WHERE name >= ?1 COLLATE NOCASE AND name < ?2 COLLATE NOCASE LIMIT ?3",
        part,
        part + _LAST_CHARACTER,
        _MAX_NAMES,
    )
    if len(part) >= _MIN_PART_CHARACTERS:
        # A separate query for recorded names: the limit of the next one cuts off a common part.
        rows += reader.rows(
            "SELECT name, is_recorded FROM names INDEXED BY names_recorded WHERE is_recorded"
            " AND instr(lower(name), lower(?)) LIMIT ?",
            part,
            _MAX_NAMES,
        )
        quoted = part.replace('"', '""')
        rows += reader.rows(
            "SELECT n.name, n.is_recorded FROM name_parts p JOIN names n ON n.id = p.rowid"
            " WHERE name_parts MATCH ? LIMIT ?",
            f'"{quoted}"',
            _MAX_NAMES,
        )
    recorded: dict[str, int] = dict(rows)
    fits = (
        (text, match_name(text, part) or MatchQuality.PART, bool(is_recorded)) for text, is_recorded in recorded.items()
    )
    names = [_NameMatch(*each) for each in fits]
    return sorted(names, key=lambda name: (name.fit, not name.is_recorded, len(name.text), name.text))


def _location_key(symbol: FoundSymbol) -> tuple[str, int] | None:
    return (symbol.location.path, symbol.location.line) if symbol.location else None


def _merge_symbols(recorded: list[_Found], defined: list[_Found]) -> list[_Found]:
    """Merge recorded and defined symbols, keeping each function once."""
    keys = {_function_key(symbol) for _, symbol in recorded}
    places = {_location_key(symbol) for _, symbol in recorded}
    names = {symbol.name for _, symbol in (*recorded, *defined) if symbol.kind != "declaration" and symbol.location}
    return recorded + [
        (name, symbol)
        for name, symbol in defined
        if _function_key(symbol) not in keys
        and _location_key(symbol) not in places
        and not (symbol.kind == "declaration" and symbol.name in names)
    ]


def _function_key(symbol: FoundSymbol) -> tuple[object, ...]:
    """Return the key that two symbols of one function share: its name, file and last line."""
    return symbol.name, symbol.location and symbol.location.path, symbol.end_line


def _is_not_own(symbol: FoundSymbol) -> bool:
    return symbol.location is None or not symbol.location.path.endswith(".py") or not is_user_file(symbol.location.path)


def _record_rank(symbol: FoundSymbol) -> int:
    if symbol.function is not None or symbol.call is not None:
        return 0
    return 2 if symbol.kind == "declaration" else 1


def _build_pattern(scopes: Sequence[str], part: str) -> re.Pattern[str]:
    """Return the pattern of a qualified name: the scopes in order, in outer components, then the part."""
    outer = "".join(rf"{re.escape(scope)}.*?(?:::|\.).*?" for scope in scopes)
    return re.compile(outer + re.escape(part), re.IGNORECASE | re.DOTALL)


def _find_functions(reader: Reader, names: Sequence[str]) -> Iterator[_Found]:
    """Yield the recorded functions with these names; at one location, only the function with most calls."""
    rows = reader.rows(
        f"SELECT fn.short_name, {FUNCTION_COLUMNS} FROM {FUNCTION_TABLES}"
        f" WHERE fn.short_name {IN_JSON} ORDER BY fn.calls DESC, fn.id",
        build_json_list(names),
    )
    seen: set[tuple[object, ...]] = set()
    functions = move_to_def_lines(reader, build_functions(reader, [row[1:] for row in rows]))
    for (short_name, *_), function in zip(rows, functions, strict=True):
        where = function.location
        key = (where.path, where.line) if where else (function.module, function.name)
        if key not in seen:
            seen.add(key)
            yield short_name, FoundSymbol(function.name, "function", where, function.end_line, function)


def _find_boundaries(reader: Reader, names: Sequence[str]) -> Iterator[_Found]:
    """Yield the boundary functions with these names."""
    rows = reader.rows(
        "SELECT name, (SELECT max(latest_call) FROM call_kinds WHERE boundary = b.id)"
        f" FROM boundaries b WHERE name {IN_JSON}"
        " AND id NOT IN (SELECT boundary FROM ffi_functions)",
        build_json_list(names),
    )
    for name, call in rows:
        if call is not None:
            yield name, FoundSymbol(name, "boundary", None, 0, call=call)


def _find_targets(reader: Reader, names: Sequence[str]) -> Iterator[_Found]:
    """Yield the FFI targets with these names that ran, located at the source of their handler."""
    rows = reader.rows(
        "SELECT runs.target, runs.call, fr.function FROM ("
        "  SELECT t.target, max(k.latest_call) AS call"
        "  FROM ffi_functions t JOIN call_kinds k ON k.boundary = t.boundary"
        f"  WHERE t.target {IN_JSON} GROUP BY t.target) runs"
        " JOIN calls c ON c.id = runs.call JOIN stacks s ON s.id = c.stack JOIN nodes n ON n.id = s.leaf"
        " LEFT JOIN ffi_handlers h ON h.frame = n.frame JOIN frames fr ON fr.id = coalesce(h.implementation, n.frame)",
        build_json_list(names),
    )
    functions = read_functions_by_id(reader, [row[2] for row in rows])
    for target, call, function_id in rows:
        function = functions[function_id]
        yield target, FoundSymbol(target, "target", function.location, function.end_line, function, call)


def _find_definitions(
    reader: Reader, names: Sequence[str], outer: str, pattern: re.Pattern[str], limit: int
) -> Iterator[_Found]:
    """Yield the first definitions of these names that contain `outer` and match the pattern, in name order."""
    rows = reader.iter_rows(
        "SELECT w.value, d.name, d.kind, f.path, d.line, d.end_line FROM json_each(?) w"
        " CROSS JOIN definitions d ON d.short_name = w.value CROSS JOIN files f ON f.id = d.file"
        f" WHERE instr(lower(d.name), lower(?)) AND d.kind {IN_JSON}",
        build_json_list(names),
        outer,
        build_json_list(SEARCHED_KINDS),
    )
    matching = (row for row in rows if pattern.search(row[1]))
    for short_name, name, kind, path, line, end_line in islice(matching, limit):
        yield short_name, FoundSymbol(name, kind, Location(path, line, LocationEvidence.DEFINITION), end_line)
