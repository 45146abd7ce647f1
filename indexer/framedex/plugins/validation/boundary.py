"""Find functions that are missing, exceptions that cross the C boundary, unfilled results, and wrong struct sizes.

framedex's wrappers notice these and add values to the call: see `native/abi/generate_trace.py`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

from framedex.model import CallRow
from framedex.plugins.validation.handles import is_size_query
from framedex.plugins.validation.violations import Violation

TABLE_FUNCTION = "GetPjrtApi"
_API_VERSION = '"minor_version": '  # a value of TABLE_FUNCTION
_SIZE, _EXCEPTION, _MISSING, _NULL_FUNCTIONS, _UNFILLED = (
    "struct_size",
    "exception",
    "missing_function",
    "null_functions",
    "unfilled",
)
_SIZE_VALUE = re.compile(rf'"([\w.]*{_SIZE})": (\d+)')
# XLA's check of a struct's size (`ActualStructSizeIsGreaterOrEqual` and its predecessors).
_REFUSED_SIZE = re.compile(r"Unexpected \S+ size: expected (?P<expected>\d+), got (?P<got>\d+)")
_REFUSED_SIZE_TEXT = "Unexpected PJRT_"

PROBLEM_TEXTS = (*(f'"{name}": ' for name in (_EXCEPTION, _MISSING, _UNFILLED)), _REFUSED_SIZE_TEXT)
"""The JSON of the arguments of a call with a violation contains one of these texts, or SIZE_TEXT."""

SIZE_TEXT = f'{_SIZE}": '

# A newer client's structs are larger than the described ones, but no struct has doubled from release to release.
_MAX_GROWTH = 2


def may_be_violation(arguments: str) -> bool:
    """Return whether a call with these arguments, as JSON, may be a violation; false for calls of GetPjrtApi."""
    if any(text in arguments for text in PROBLEM_TEXTS):
        return True
    if _API_VERSION in arguments:
        return False
    bounds = _read_size_bounds()
    return any(
        name in bounds and not bounds[name][0] <= int(size) <= bounds[name][1]
        for name, size in _SIZE_VALUE.findall(arguments)
    )


def find_boundary_violations(calls: Iterable[CallRow]) -> Iterator[Violation]:
    """Yield the violations in these calls of TABLE_FUNCTION, and in those that `may_be_violation`."""
    for call in calls:
        if call.function == TABLE_FUNCTION:
            for name in find_null_functions(call):
                yield Violation.of_rule("null-function", call, noun=name)
            continue
        if missing := call.arguments.get(_MISSING):
            yield Violation.of_rule("missing-function" if missing == "null" else "function-beyond-table", call)
        if exception := call.arguments.get(_EXCEPTION):
            yield Violation.of_rule("exception", call, noun=str(exception))
        if (unfilled := call.arguments.get(_UNFILLED)) and not is_size_query(call):
            yield Violation.of_rule("ok-without-result", call, noun=str(unfilled))
        yield from _check_sizes(call)


def find_null_functions(call: CallRow) -> list[str]:
    """Return the functions that are null in the table that this call of TABLE_FUNCTION returned."""
    value = call.arguments.get(_NULL_FUNCTIONS)
    return value.split(", ") if isinstance(value, str) and value else []


def _check_sizes(call: CallRow) -> Iterator[Violation]:
    for name, (oldest, described) in _read_struct_sizes().get(call.function, {}).items():
        size = call.arguments.get(name)
        if not isinstance(size, int):
            continue
        if oldest <= size <= _MAX_GROWTH * described:
            continue
        rule, bound = ("struct-too-small", oldest) if size < oldest else ("struct-too-large", described)
        yield Violation.of_rule(
            rule, call, noun=f"{name} {size}, {'at least' if size < oldest else 'described as'} {bound}"
        )
    refused = _REFUSED_SIZE.search(str(call.arguments.get("error_message", "")))
    if refused is not None and int(refused["got"]) > int(refused["expected"]):
        yield Violation.of_rule(
            "larger-struct-refused", call, noun=f"{refused['got']} bytes, not {refused['expected']}"
        )


@cache
def _read_struct_sizes() -> Mapping[str, Mapping[str, tuple[int, int]]]:
    """Return the sizes of each function's structs in the first known version and in our description's version."""
    sizes: Mapping[str, Mapping[str, tuple[int, int]]] = json.loads(
        Path(__file__).with_name("struct_sizes.json").read_text("utf-8")
    )["functions"]
    return sizes


@cache
def _read_size_bounds() -> dict[str, tuple[int, int]]:
    """Return the sizes that are right for every function with a struct size of this name."""
    bounds: dict[str, tuple[int, int]] = {}
    for sizes in _read_struct_sizes().values():
        for name, (oldest, described) in sizes.items():
            low, high = bounds.get(name, (oldest, _MAX_GROWTH * described))
            bounds[name] = max(low, oldest), min(high, _MAX_GROWTH * described)
    return bounds
