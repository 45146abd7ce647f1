"""The called functions that match a name: one rule for all commands and the server.

A function of exactly that name comes first. The user's own code precedes installed packages and the interpreter, and a
whole word precedes any other part. A pattern (`*put*`) selects all functions that match it.
"""

from __future__ import annotations

import re
from fnmatch import translate

from framedex.index.ask.name.fits import Fit, fit_of_function
from framedex.index.ask.name.headers import at_names
from framedex.index.file.conventions import IN_JSON, Row, json_list
from framedex.index.file.installed import is_own
from framedex.index.read.rows import FUNCTION_COLUMNS, FUNCTION_TABLES, Reader, function_rows
from framedex.model import FunctionRow, MeantFunctions, Role

_MOST = 1000
_WITHOUT_LOCALS = "replace(n.name, '.<locals>', '')"
_ASKED_FOR_PARTS = re.compile(r"[*?]")


def meant_functions(reader: Reader, name: str) -> MeantFunctions:
    """Return the called functions that match a name, its last parts, a part or a pattern.

    The author's name of an FFI handler selects the compiled handler.
    """
    fits = _fits(reader, name)
    if _ASKED_FOR_PARTS.search(name) and not any(fit.is_name for fit in fits.values()):
        fits = _of_pattern(reader, name)
    best = min(fits.values(), default=Fit.PART)
    if best.is_name:
        fits = {function: fit for function, fit in fits.items() if fit is best}
    ranked = sorted((_rank(row, fits[row[0]]), -row[-1], row[3], row[0]) for row in _called(reader, fits))
    found = _functions(reader, [identifier for *_, identifier in ranked[:_MOST]])
    likely = sum(rank[0] == ranked[0][0][0] for rank, *_ in ranked)
    return MeantFunctions(tuple(found), best.is_name, likely, len(ranked))


def _rank(row: Row, fit: Fit) -> tuple[int, int]:
    """Return the rank of a match, and whether readers may hide the function."""
    _, module, role, *_ = row
    is_hidden = int(role != Role.CODE.value)
    if is_own(module) and not is_hidden:  # an interpreter may be installed anywhere
        return 0, is_hidden
    if fit.is_name:
        return 1, is_hidden
    return (1 if fit is Fit.WORDS else 2), is_hidden


def _fits(reader: Reader, name: str) -> dict[int, Fit]:
    """Return {function id: fit} for the functions whose name contains this one."""
    has_it = "instr(lower({}), lower(?1)) > 0"
    condition = f"({has_it.format('n.name')} OR {has_it.format(_WITHOUT_LOCALS)})"
    found: dict[int, Fit] = {}
    for identifier, whole, short in _named_like(reader, condition, name):
        fit = fit_of_function(whole, short, name)
        if fit is not None:
            found[identifier] = min(fit, found.get(identifier, fit))
    return found


def _of_pattern(reader: Reader, pattern: str) -> dict[int, Fit]:
    """Return the functions whose name or last part matches a pattern; brackets are literal, as in `operator[]`."""
    expression = re.compile(translate(pattern.replace("[", "[[]")), re.IGNORECASE)
    return {
        identifier: Fit.NAME
        for identifier, *names in _named_like(reader, "?1 <> ''", pattern)
        if any(map(expression.match, names))
    }


def _named_like(reader: Reader, condition: str, name: str) -> list[Row]:
    """Return (id, name, short name) of functions that match a condition on `functions n`."""
    return reader.rows(
        f"SELECT n.id, n.name, n.short_name FROM functions n WHERE n.calls > 0 AND {condition}"
        " UNION SELECT fr.function, n.name, n.short_name FROM functions n JOIN frames m ON m.function = n.id"
        f" JOIN ffi_handlers h ON h.implementation = m.id JOIN frames fr ON fr.id = h.frame WHERE {condition}",
        name,
    )


def _called(reader: Reader, fits: dict[int, Fit]) -> list[Row]:
    """Return (id, module, role, name, calls) of the given functions that calls passed."""
    return reader.rows(
        f"SELECT id, module, role, name, calls FROM functions WHERE calls > 0 AND id {IN_JSON}", json_list(sorted(fits))
    )


def _functions(reader: Reader, ids: list[int]) -> list[FunctionRow]:
    rows = reader.rows(
        f"SELECT {FUNCTION_COLUMNS} FROM {FUNCTION_TABLES} WHERE fn.id {IN_JSON}", json_list(sorted(ids))
    )
    found = {function.id: function for function in at_names(reader, function_rows(reader, rows))}
    return [found[identifier] for identifier in ids]
