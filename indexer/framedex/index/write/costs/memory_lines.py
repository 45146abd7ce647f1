"""The program lines of pieces of memory: the line that led to a call, and the sequence of lines to it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from framedex.index.file.conventions import IN_JSON, PYTHON_LEAF, json_list
from framedex.index.write.tree import Integers


@dataclass(frozen=True, slots=True)
class LineOf:
    """The groups of calls: by `line` and by the `way` of lines to it. `node` maps a group to a node of its stack.

    `nodes` are the nodes of the calls' lines, 0 if unknown or ambiguous.
    """

    line: Integers
    way: Integers
    node: tuple[int, ...]
    nodes: Integers

    @classmethod
    def of_calls(cls, connection: sqlite3.Connection, calls: Integers, kinds: Integers) -> LineOf:
        """Return the groups of these calls of these kinds. The call 0 has no line."""
        nodes = _nodes(connection, calls, kinds)
        known, place = np.unique(nodes, return_inverse=True)
        ways = Ways(connection, known.tolist())
        node = [0]  # group 0: the line is unknown
        number: dict[tuple[object, ...], int] = {}
        of_node = {0: (0, 0)}
        for each in sorted({*known.tolist()} - {0}):
            way = ways.way(each)
            groups = []
            for key in (("line", way[:2]), ("way", way)):
                if key not in number:
                    number[key] = len(node)
                    node.append(each)
                groups.append(number[key])
            of_node[each] = groups[0], groups[1]
        groups_of_calls = np.array([of_node[each] for each in known.tolist()], np.int64).reshape(-1, 2)[place]
        return cls(groups_of_calls[:, 0], groups_of_calls[:, 1], tuple(node), nodes)


def _nodes(connection: sqlite3.Connection, calls: Integers, kinds: Integers) -> Integers:
    """Return the node of each call's line, by its stack or else by its causal link; 0: unknown or ambiguous."""
    known, place = np.unique(kinds, return_inverse=True)
    query = (
        "SELECT k.id, n.user_node FROM call_kinds k JOIN stacks s ON s.id = k.stack"
        f" JOIN nodes n ON n.id = {PYTHON_LEAF}"
        f" WHERE n.user_node AND k.id {IN_JSON}"
    )
    by_stack = dict(connection.execute(query, (json_list(known.tolist()),)))
    nodes = np.array([by_stack.get(kind, 0) for kind in known.tolist()], np.int64)[place]
    without = np.flatnonzero((nodes == 0) & (calls > 0))
    linked = (
        "SELECT l.call, min(n.user_node) FROM call_links l JOIN nodes n ON n.id = l.node"
        f" WHERE n.user_node AND l.call {IN_JSON} GROUP BY l.call HAVING count(DISTINCT n.user_node) = 1"
    )
    by_link = dict(connection.execute(linked, (json_list(calls[without].tolist()),)))
    nodes[without] = [by_link.get(call, 0) for call in calls[without].tolist()]
    return nodes


class Ways:
    """The sequences of lines that lead to nodes: (function, line, the sequence to that line), () outside all lines."""

    def __init__(self, connection: sqlite3.Connection, nodes: Iterable[int]) -> None:
        self._steps: dict[int, tuple[int, int, int]] = {}  # by node: its function, its line, and the next node outward
        coming = {*nodes} - {0}
        query = (
            "SELECT n.id, fr.function, fr.recorded_line, coalesce(p.user_node, 0) FROM nodes n"
            " JOIN frames fr ON fr.id = n.frame LEFT JOIN nodes p ON p.id = n.parent"
            f" WHERE n.id {IN_JSON}"
        )
        while coming:
            new = {node: step for node, *step in connection.execute(query, (json_list(coming),))}
            self._steps.update((node, (step[0], step[1], step[2])) for node, step in new.items())
            coming = {step[2] for step in new.values()} - {0} - self._steps.keys()

    def way(self, node: int) -> tuple[int, ...]:
        """Return function and line of each line, the innermost first."""
        found: list[int] = []
        while node in self._steps:
            function, line, node = self._steps[node]
            found += (function, line)
        return tuple(found)
