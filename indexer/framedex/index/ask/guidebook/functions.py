"""Observe the boundary functions that a capture called: times, paths, lines, examples and errors."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from framedex.index.ask.call.objects import name_objects
from framedex.index.ask.call.totals import sum_functions
from framedex.index.ask.guidebook.stacks import (
    PublicLocations,
    StackPaths,
    count_paths_to_functions,
    read_lines_of_functions,
    read_lines_of_stacks,
    shorten_paths,
)
from framedex.index.ask.guidebook.usage import ObjectUses, count_call_orders, count_object_uses
from framedex.index.file.conventions import IN_JSON, build_json_list
from framedex.index.read.rows import CALL_COLUMNS, CALL_TABLES, Reader, build_call
from framedex.model import CallFilter, CallRow
from framedex.model.guidebook import Example, LifeCycle, NameCount, ObservedError, ObservedFunction
from framedex.model.path_trees import PathTrees
from framedex.texts.calls import list_values_by_name
from framedex.texts.errors import name_error

BEHAVIOUR_BOUNDARY = "behaviour"
"""The boundary of `framedex run --behaviour`: its calls are not API calls, but they change API calls."""

_MAX_LINES = 50  # limit of program lines per function
_MAIN_THREAD = "main"


MAX_EXAMPLES = 3

_MAX_CALLS_READ = 24  # limit of calls read per function

_MAX_MESSAGE_CHARS = 2_000  # characters

_IDENTITIES = re.compile(r"0x[0-9a-f]+|#\d+")
"""Parts that differ between similar calls: addresses and object numbers."""


def observe_functions(
    reader: Reader, capture: int, run: str, stack_paths: StackPaths
) -> tuple[list[ObservedFunction], list[LifeCycle]]:
    """Return the called functions, by name, and the object types of a capture; `run` is its run key."""
    paths_to = count_paths_to_functions(reader, stack_paths)
    lines = read_lines_of_functions(reader, stack_paths)
    orders = count_call_orders(reader, capture)
    objects = count_object_uses(reader, capture)
    examples = find_examples(reader, capture, stack_paths.places)
    errors = find_errors(reader, capture)
    threads = _read_threads(reader, capture)
    names: dict[int, str] = dict(reader.rows("SELECT id, name FROM boundaries"))
    ids = {(boundary, name): each for each, boundary, name in reader.rows("SELECT id, boundary, name FROM boundaries")}
    found = []
    for totals in sum_functions(reader, CallFilter(capture=capture), by_thread=False):
        if totals.boundary == BEHAVIOUR_BOUNDARY:
            continue
        function = ids[totals.boundary, totals.function]
        trees = PathTrees()
        for path, calls in sorted(paths_to.get(function, Counter()).items(), key=lambda item: -item[1]):
            trees.add_path(path, calls)
        paths, left_out = trees.truncate()
        returned = totals.calls > totals.never_returned
        found.append(
            ObservedFunction(
                run=run,
                function=totals.function,
                boundary=totals.boundary,
                calls=totals.calls,
                median=totals.median if returned else None,
                p90=totals.p90 if returned else None,
                longest=totals.longest if returned else None,
                lines=tuple(lines.get(function, Counter()).most_common(_MAX_LINES)),
                paths=paths,
                omitted_calls=left_out,
                examples=examples.get(function, ()),
                errors=errors.get(function, ()),
                before=_sort_counts({names[a]: n for (a, b), n in orders.consecutive.items() if b == function}),
                after=_sort_counts({names[b]: n for (a, b), n in orders.consecutive.items() if a == function}),
                inside=_sort_counts({names[a]: n for (a, b), n in orders.nested.items() if b == function}),
                makes=_counts_of_function(objects.created, function),
                uses=_counts_of_function(objects.used, function),
                ends=_counts_of_function(_merge_ends(objects), function),
                threads=_sort_counts(threads[function]),
            )
        )
    return sorted(found, key=lambda each: (each.function, each.boundary)), _build_life_cycles(objects, names, run)


def _build_life_cycles(objects: ObjectUses, names: Mapping[int, str], run: str) -> list[LifeCycle]:
    def by_name(counts: Mapping[int, int]) -> tuple[NameCount, ...]:
        return _sort_counts({names[function]: count for function, count in counts.items()})

    return [
        LifeCycle(
            run=run,
            type=kind,
            objects=objects.all[kind],
            made=by_name(objects.created[kind]),
            used=by_name(objects.used[kind]),
            deleted=by_name(objects.deleted[kind]),
            destroyed=by_name(objects.destroyed[kind]),
            left=objects.left[kind],
        )
        for kind in sorted(objects.all)
    ]


def _read_threads(reader: Reader, capture: int) -> dict[int, Counter[str]]:
    """Return thread names by boundary function (its id); the system's thread ids differ in each run."""
    found: dict[int, Counter[str]] = {}
    for function, name, label, calls in reader.rows(
        "SELECT k.boundary, t.name, t.label, sum(k.calls) FROM call_kinds k JOIN threads t ON t.id = k.thread"
        " WHERE k.capture = ? AND k.calls > 0 GROUP BY k.boundary, t.id",
        capture,
    ):
        found.setdefault(function, Counter())[_MAIN_THREAD if label == _MAIN_THREAD else name] += calls
    return found


def _merge_ends(objects: ObjectUses) -> dict[str, Counter[int]]:
    """Return the deleted or destroyed objects, by type and function."""
    return {kind: objects.deleted[kind] + objects.destroyed[kind] for kind in objects.all}


def _counts_of_function(counts: Mapping[str, Counter[int]], function: int) -> tuple[NameCount, ...]:
    return _sort_counts({kind: by_function[function] for kind, by_function in counts.items()})


def _sort_counts(counts: Mapping[str, int]) -> tuple[NameCount, ...]:
    """Return the counts as a tuple, most first."""
    return tuple(
        NameCount(name, count) for name, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])) if count
    )


def find_examples(reader: Reader, capture: int, locations: PublicLocations) -> dict[int, tuple[Example, ...]]:
    """Return examples by boundary function (its id): the first calls whose values differ beyond object identity."""
    rows = reader.rows(
        "SELECT boundary, call FROM (SELECT boundary, first_call AS call, calls FROM call_kinds"
        " WHERE capture = ?1 AND calls > 0 AND error = 0 UNION SELECT boundary, latest_call, calls FROM call_kinds"
        " WHERE capture = ?1 AND calls > 1 AND error = 0) ORDER BY boundary, calls DESC, call",
        capture,
    )
    chosen: dict[int, list[int]] = {}
    for boundary, call in rows:
        of_boundary = chosen.setdefault(boundary, [])
        if len(of_boundary) < _MAX_CALLS_READ:
            of_boundary.append(call)
    calls = _read_calls(reader, (call for of_boundary in chosen.values() for call in of_boundary))
    lines = read_lines_of_stacks(reader, {call.stack for call in calls.values()}, locations)
    found = {}
    for boundary, of_boundary in chosen.items():
        distinct: dict[tuple[tuple[str, str], ...], Example] = {}
        for call in sorted(of_boundary):
            values = tuple((name, shorten_paths(text)) for name, text in list_values_by_name(calls[call]))
            kind = tuple((name, _IDENTITIES.sub("", text)) for name, text in values)
            distinct.setdefault(kind, Example(values, lines.get(calls[call].stack)))
        found[boundary] = tuple(distinct.values())[:MAX_EXAMPLES]
    return found


def find_errors(reader: Reader, capture: int) -> dict[int, tuple[ObservedError, ...]]:
    """Return the errors of calls by boundary function (its id), most calls first."""
    rows = reader.rows(
        "SELECT boundary, error, sum(calls), min(first_call) FROM call_kinds"
        " WHERE capture = ? AND calls > 0 AND error > 0 GROUP BY 1, 2 ORDER BY 1, 3 DESC, 2",
        capture,
    )
    calls = _read_calls(reader, (call for *_, call in rows))
    found: dict[int, tuple[ObservedError, ...]] = {}
    for boundary, error, count, call in rows:
        message = shorten_paths(str(calls[call].arguments.get("error_message") or ""))[:_MAX_MESSAGE_CHARS]
        found[boundary] = (*found.get(boundary, ()), ObservedError(name_error(error), message, count))
    return found


def _read_calls(reader: Reader, wanted: Iterable[int]) -> dict[int, CallRow]:
    rows = reader.rows(f"SELECT {CALL_COLUMNS} FROM {CALL_TABLES} WHERE c.id {IN_JSON}", build_json_list(wanted))
    return {call.id: call for call in name_objects(reader, list(map(build_call, rows)))}
