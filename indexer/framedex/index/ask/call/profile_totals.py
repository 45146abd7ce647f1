"""Self and total weight by function of the samples in imported profiles.

A recursive function gets the weight of a stack only once.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING

from framedex.index.ask.call.exported import Exported
from framedex.model.profile_totals import PROFILE, ProfileTotals, SampledFunction

if TYPE_CHECKING:
    from framedex.index.read.rows import Reader
    from framedex.model import CallFilter, FunctionRow

_SAMPLES = "samples (count)"

_Nodes = Mapping[int, tuple[int, int]]


def profile_totals(reader: Reader, wanted: CallFilter, *, by_thread: bool) -> list[ProfileTotals]:
    """Return the totals of the samples that pass the filter: one per value (and thread), most weight first.

    If the filter reads single samples, samples weighted by anything but time count once each.
    """
    exported = Exported(reader, wanted)
    kinds = {identifier: kind for identifier, kind in exported.kinds.items() if kind.boundary == PROFILE}
    if not kinds:
        return []
    weights = exported.weights()
    timed = {kinds[kind].function for (kind, _), each in weights.items() if kind in kinds and each.time > 0}
    ends: dict[tuple[str, str | None], Counter[int]] = defaultdict(Counter)
    for (identifier, _), each in weights.items():
        kind = kinds.get(identifier)
        if kind is None or each.calls <= 0:
            continue
        is_time = kind.function in timed
        value = kind.function if is_time or exported.is_of_kinds else _SAMPLES
        thread = exported.threads[kind.thread].label if by_thread else None
        ends[value, thread][exported.stacks[kind.stack].leaf] += each.time if is_time else each.calls
    nodes = exported.nodes({leaf for counted in ends.values() for leaf in counted})
    functions = {
        identifier: row.function for identifier, row in exported.frames({f for _, f in nodes.values()}).items()
    }
    found = [
        ProfileTotals(value, thread, value in timed, counted.total(), _by_function(counted, nodes, functions))
        for (value, thread), counted in ends.items()
    ]
    return sorted(found, key=lambda totals: (-totals.weight, totals.value, totals.thread or ""))


def _by_function(
    ends: Mapping[int, int], nodes: _Nodes, functions: Mapping[int, FunctionRow]
) -> tuple[SampledFunction, ...]:
    """Return the functions on the paths to the sampled nodes, most self weight first."""
    callees: dict[int, list[int]] = defaultdict(list)
    needed = set(ends)
    pending = list(needed)
    while pending:
        node = pending.pop()
        parent = nodes[node][0] if node in nodes else 0
        if node:
            callees[parent].append(node)
        if parent and parent not in needed:
            needed.add(parent)
            pending.append(parent)
    own: Counter[int] = Counter()
    total: Counter[int] = Counter()
    rows: dict[int, FunctionRow] = {}
    depth: Counter[int] = Counter()  # occurrences of each function on the path to the current node
    below: Counter[int] = Counter()
    walk = [(node, False) for node in callees[0]]
    while walk:
        node, is_left = walk.pop()
        parent, frame = nodes[node]
        function = functions[frame]
        if is_left:
            depth[function.id] -= 1
            below[parent] += below[node]
            if not depth[function.id]:
                total[function.id] += below[node]
            continue
        rows[function.id] = function
        depth[function.id] += 1
        own[function.id] += ends.get(node, 0)
        below[node] += ends.get(node, 0)
        walk.append((node, True))
        walk.extend((callee, False) for callee in callees[node])
    found = (SampledFunction(rows[identifier], own[identifier], weight) for identifier, weight in total.items())
    return tuple(sorted(found, key=lambda each: (-each.self_weight, -each.total, each.function.name)))
