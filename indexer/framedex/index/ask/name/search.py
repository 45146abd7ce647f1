"""Symbol search by parts of names: recorded symbols and definitions in source trees.

Only distinct names are searched, and the best of them looked up: a tree has three times as many definitions as names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from framedex.index.ask.name.fits import Fit, fit
from framedex.index.ask.name.headers import at_names
from framedex.index.file.conventions import IN_JSON, SEARCHED, json_list
from framedex.index.file.installed import is_own
from framedex.index.read.rows import FUNCTION_COLUMNS, FUNCTION_TABLES, Reader, function_rows, functions_by_id
from framedex.model import FoundSymbol, How, Location

_MOST_NAMES = 256  # limit of ranked names per query
_MOST_SCOPED = 100  # limit of names whose definitions are filtered by scope
_LEAST_FOR_PARTS = 3  # characters: the index of name parts stores trigrams
_SEPARATOR = re.compile(r"::|[.:\s]+")
_AFTER_ALL = chr(0x10FFFF)

_Found = tuple[str, FoundSymbol]
"""A short name and a symbol with that name."""


def find_symbols(reader: Reader, text: str, limit: int) -> list[FoundSymbol]:
    """Return at most `limit` symbols whose name contains `text` in any case; `A::b` or `A.b` is a `b` inside an `A`.

    Exact names come first, then the order of `Fit`. Equal matches are ordered by the user's own Python, then by
    recorded symbols. A function appears once: not again at its decorators' line, nor as a declaration of a known
    definition. A text under three characters matches only prefixes.
    """
    *scopes, part = [word for word in _SEPARATOR.split(text) if word] or [""]
    part = part.removeprefix("~")  # destructors are stored under the name of their class
    if not part:
        return []
    names = _names(reader, part)[: max(limit, _MOST_SCOPED) if scopes else limit]
    pattern = _pattern(scopes, part)
    recorded = [name.text for name in names if name.is_recorded]
    symbols = [*_functions(reader, recorded), *_boundaries(reader, recorded), *_targets(reader, recorded)]
    found = [(name, symbol) for name, symbol in symbols if pattern.search(symbol.name)]
    outer = max(scopes, key=len, default="")
    defined = _definitions(reader, [name.text for name in names], outer, pattern, limit + len(found))
    found = _each_once(found, list(defined))
    order = {name.text: (name.fit, i) for i, name in enumerate(names)}
    found.sort(key=lambda item: (order[item[0]][0], _after_own(item[1]), _after_recorded(item[1]), order[item[0]][1]))
    return [symbol for _, symbol in found[:limit]]


@dataclass(frozen=True, slots=True)
class _Name:
    """A short name that matches, and the quality of the match."""

    text: str
    fit: Fit
    is_recorded: bool


def _names(reader: Reader, part: str) -> list[_Name]:
    """Return the names that contain this part, best first."""
    rows = reader.rows(
        "SELECT name, is_recorded FROM names WHERE name >= ?1 COLLATE NOCASE AND name < ?2 COLLATE NOCASE LIMIT ?3",
        part,
        part + _AFTER_ALL,
        _MOST_NAMES,
    )
    if len(part) >= _LEAST_FOR_PARTS:
        # Too common a part is cut off by the limit; recorded names get a query of their own so that they are kept.
        rows += reader.rows(
            "SELECT name, is_recorded FROM names INDEXED BY names_recorded WHERE is_recorded"
            " AND instr(lower(name), lower(?)) LIMIT ?",
            part,
            _MOST_NAMES,
        )
        quoted = part.replace('"', '""')
        rows += reader.rows(
            "SELECT n.name, n.is_recorded FROM name_parts p JOIN names n ON n.id = p.rowid"
            " WHERE name_parts MATCH ? LIMIT ?",
            f'"{quoted}"',
            _MOST_NAMES,
        )
    recorded: dict[str, int] = dict(rows)
    fits = ((text, fit(text, part) or Fit.PART, bool(is_recorded)) for text, is_recorded in recorded.items())
    names = [_Name(*each) for each in fits]
    return sorted(names, key=lambda name: (name.fit, not name.is_recorded, len(name.text), name.text))


def _place(symbol: FoundSymbol) -> tuple[str, int] | None:
    return (symbol.location.path, symbol.location.line) if symbol.location else None


def _each_once(recorded: list[_Found], defined: list[_Found]) -> list[_Found]:
    """Merge recorded and defined symbols, keeping each function once."""
    keys = {_key(symbol) for _, symbol in recorded}
    places = {_place(symbol) for _, symbol in recorded}
    names = {symbol.name for _, symbol in (*recorded, *defined) if symbol.kind != "declaration" and symbol.location}
    return recorded + [
        (name, symbol)
        for name, symbol in defined
        if _key(symbol) not in keys
        and _place(symbol) not in places
        and not (symbol.kind == "declaration" and symbol.name in names)
    ]


def _key(symbol: FoundSymbol) -> tuple[object, ...]:
    """Return the key that two symbols of one function share: its name, file and last line."""
    return symbol.name, symbol.location and symbol.location.path, symbol.end_line


def _after_own(symbol: FoundSymbol) -> bool:
    return symbol.location is None or not symbol.location.path.endswith(".py") or not is_own(symbol.location.path)


def _after_recorded(symbol: FoundSymbol) -> int:
    if symbol.function is not None or symbol.call is not None:
        return 0
    return 2 if symbol.kind == "declaration" else 1


def _pattern(scopes: Sequence[str], part: str) -> re.Pattern[str]:
    """Return the pattern of a qualified name: the scopes in order, in outer components, then the part."""
    outer = "".join(rf"{re.escape(scope)}.*?(?:::|\.).*?" for scope in scopes)
    return re.compile(outer + re.escape(part), re.IGNORECASE | re.DOTALL)


def _functions(reader: Reader, names: Sequence[str]) -> Iterator[_Found]:
    """Yield the recorded functions with these names; of several at one location, the one with most calls."""
    rows = reader.rows(
        f"SELECT fn.short_name, {FUNCTION_COLUMNS} FROM {FUNCTION_TABLES}"
        f" WHERE fn.short_name {IN_JSON} ORDER BY fn.calls DESC, fn.id",
        json_list(names),
    )
    seen: set[tuple[object, ...]] = set()
    functions = at_names(reader, function_rows(reader, [row[1:] for row in rows]))
    for (short_name, *_), function in zip(rows, functions, strict=True):
        where = function.location
        key = (where.path, where.line) if where else (function.module, function.name)
        if key not in seen:
            seen.add(key)
            yield short_name, FoundSymbol(function.name, "function", where, function.end_line, function)


def _boundaries(reader: Reader, names: Sequence[str]) -> Iterator[_Found]:
    """Yield the boundary functions with these names."""
    rows = reader.rows(
        "SELECT name, (SELECT max(latest_call) FROM call_kinds WHERE boundary = b.id)"
        f" FROM boundaries b WHERE name {IN_JSON}"
        " AND id NOT IN (SELECT boundary FROM ffi_functions)",
        json_list(names),
    )
    for name, call in rows:
        if call is not None:
            yield name, FoundSymbol(name, "boundary", None, 0, call=call)


def _targets(reader: Reader, names: Sequence[str]) -> Iterator[_Found]:
    """Yield the FFI targets with these names that ran, located at the source of their handler."""
    rows = reader.rows(
        "SELECT runs.target, runs.call, fr.function FROM ("
        "  SELECT t.target, max(k.latest_call) AS call"
        "  FROM ffi_functions t JOIN call_kinds k ON k.boundary = t.boundary"
        f"  WHERE t.target {IN_JSON} GROUP BY t.target) runs"
        " JOIN calls c ON c.id = runs.call JOIN stacks s ON s.id = c.stack JOIN nodes n ON n.id = s.leaf"
        " LEFT JOIN ffi_handlers h ON h.frame = n.frame JOIN frames fr ON fr.id = coalesce(h.implementation, n.frame)",
        json_list(names),
    )
    functions = functions_by_id(reader, [row[2] for row in rows])
    for target, call, function_id in rows:
        function = functions[function_id]
        yield target, FoundSymbol(target, "target", function.location, function.end_line, function, call)


def _definitions(
    reader: Reader, names: Sequence[str], outer: str, pattern: re.Pattern[str], limit: int
) -> Iterator[_Found]:
    """Yield the first definitions of these names that contain `outer` and match the pattern, in name order."""
    rows = reader.each(
        "SELECT w.value, d.name, d.kind, f.path, d.line, d.end_line FROM json_each(?) w"
        " CROSS JOIN definitions d ON d.short_name = w.value CROSS JOIN files f ON f.id = d.file"
        f" WHERE instr(lower(d.name), lower(?)) AND d.kind {IN_JSON}",
        json_list(names),
        outer,
        json_list(SEARCHED),
    )
    fitting = (row for row in rows if pattern.search(row[1]))
    for short_name, name, kind, path, line, end_line in islice(fitting, limit):
        yield short_name, FoundSymbol(name, kind, Location(path, line, How.DEFINITION), end_line)
