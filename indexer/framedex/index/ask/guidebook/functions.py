"""Observations of a capture about each boundary function that it called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from framedex.index.ask.call.totals import function_totals
from framedex.index.ask.guidebook.examples import errors_of_functions, examples_of_functions
from framedex.index.ask.guidebook.objects import ObjectUses, object_uses
from framedex.index.ask.guidebook.orders import call_orders
from framedex.index.ask.guidebook.runs import BEHAVIOURS
from framedex.index.ask.guidebook.stacks import Ways, lines_of_functions, ways_of_functions
from framedex.index.read.rows import Reader
from framedex.model import CallFilter
from framedex.model.guidebook.observed import Counted, LifeCycle, Observed
from framedex.roadtrees import RoadTrees

_MOST_LINES = 50  # limit of program lines per function
_MAIN = "main"


def observed_functions(reader: Reader, capture: int, run: str, ways: Ways) -> tuple[list[Observed], list[LifeCycle]]:
    """Return the called functions, by name, and the object types of a capture; `run` is its run key."""
    ways_to = ways_of_functions(reader, ways)
    lines = lines_of_functions(reader, ways)
    orders = call_orders(reader, capture)
    objects = object_uses(reader, capture)
    examples = examples_of_functions(reader, capture, ways.places)
    errors = errors_of_functions(reader, capture)
    threads = _threads(reader, capture)
    names: dict[int, str] = dict(reader.rows("SELECT id, name FROM boundaries"))
    ids = {(boundary, name): each for each, boundary, name in reader.rows("SELECT id, boundary, name FROM boundaries")}
    found = []
    for totals in function_totals(reader, CallFilter(capture=capture), by_thread=False):
        if totals.boundary == BEHAVIOURS:
            continue
        function = ids[totals.boundary, totals.function]
        trees = RoadTrees()
        for way, calls in sorted(ways_to.get(function, Counter()).items(), key=lambda item: -item[1]):
            trees.add_way(way, calls)
        roads, left_out = trees.cut()
        returned = totals.calls > totals.never_returned
        found.append(
            Observed(
                run=run,
                function=totals.function,
                boundary=totals.boundary,
                calls=totals.calls,
                median=totals.median if returned else None,
                p90=totals.p90 if returned else None,
                longest=totals.longest if returned else None,
                lines=tuple(lines.get(function, Counter()).most_common(_MOST_LINES)),
                roads=roads,
                roads_left_out=left_out,
                examples=examples.get(function, ()),
                errors=errors.get(function, ()),
                before=_counted({names[a]: n for (a, b), n in orders.following.items() if b == function}),
                after=_counted({names[b]: n for (a, b), n in orders.following.items() if a == function}),
                inside=_counted({names[a]: n for (a, b), n in orders.inside.items() if b == function}),
                makes=_of_function(objects.made, function),
                uses=_of_function(objects.used, function),
                ends=_of_function(_ended(objects), function),
                threads=_counted(threads[function]),
            )
        )
    return sorted(found, key=lambda each: (each.function, each.boundary)), _life_cycles(objects, names, run)


def _life_cycles(objects: ObjectUses, names: Mapping[int, str], run: str) -> list[LifeCycle]:
    def by_name(counts: Mapping[int, int]) -> tuple[Counted, ...]:
        return _counted({names[function]: count for function, count in counts.items()})

    return [
        LifeCycle(
            run=run,
            type=kind,
            objects=objects.all[kind],
            made=by_name(objects.made[kind]),
            used=by_name(objects.used[kind]),
            deleted=by_name(objects.deleted[kind]),
            destroyed=by_name(objects.destroyed[kind]),
            left=objects.left[kind],
        )
        for kind in sorted(objects.all)
    ]


def _threads(reader: Reader, capture: int) -> dict[int, Counter[str]]:
    """Return thread names by boundary function (its id); the system's thread ids differ in each run."""
    found: dict[int, Counter[str]] = {}
    for function, name, label, calls in reader.rows(
        "SELECT k.boundary, t.name, t.label, sum(k.calls) FROM call_kinds k JOIN threads t ON t.id = k.thread"
        " WHERE k.capture = ? AND k.calls > 0 GROUP BY k.boundary, t.id",
        capture,
    ):
        found.setdefault(function, Counter())[_MAIN if label == _MAIN else name] += calls
    return found


def _ended(objects: ObjectUses) -> dict[str, Counter[int]]:
    """Return the deleted or destroyed objects, by type and function."""
    return {kind: objects.deleted[kind] + objects.destroyed[kind] for kind in objects.all}


def _of_function(counts: Mapping[str, Counter[int]], function: int) -> tuple[Counted, ...]:
    return _counted({kind: by_function[function] for kind, by_function in counts.items()})


def _counted(counts: Mapping[str, int]) -> tuple[Counted, ...]:
    """Return the counts as a tuple, most first."""
    return tuple(
        Counted(name, count) for name, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])) if count
    )
