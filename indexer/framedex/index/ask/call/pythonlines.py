"""The Python line that led to a call: the line that the program's author recognises."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from framedex.index.ask.call.causal_links import linked_nodes
from framedex.index.file.conventions import IN_JSON, PYTHON_LEAF, json_list
from framedex.index.read.rows import Reader, place_columns, place_tables
from framedex.index.read.urls import Urls
from framedex.model import PythonLine


def python_lines(reader: Reader, stacks: Mapping[int, int]) -> dict[int, PythonLine]:
    """Return, for each call (id: stack) with Python, the innermost line of the user's program, otherwise of any Python.

    A call whose stack has no Python gets the line that dispatched it, unless several lines may have.
    """
    node_of = python_nodes(reader, stacks.values())
    lines = lines_of_nodes(reader, node_of.values())
    found = {call: lines[node_of[stack]] for call, stack in stacks.items() if node_of.get(stack, 0) in lines}
    return found | _linked_lines(reader, stacks.keys() - found.keys())


def _linked_lines(reader: Reader, calls: Iterable[int]) -> dict[int, PythonLine]:
    linked = linked_nodes(reader, calls)
    lines = lines_of_nodes(reader, {node for links in linked.values() for node, _ in links})
    found = {}
    for call, links in linked.items():
        of_call = {replace(lines[node], link=how) for node, how in links if node in lines}
        if len(of_call) == 1:
            found[call] = of_call.pop()
    return found


def lines_of_nodes(reader: Reader, nodes: Iterable[int]) -> dict[int, PythonLine]:
    """Return the Python line of each tree path that has one, by the path's innermost node."""
    rows = reader.rows(
        f"SELECT n.id, fn.name, {place_columns('fr')} FROM json_each(?) s JOIN nodes n ON n.id = s.value"
        " JOIN nodes u ON u.id = n.user_node JOIN frames fr ON fr.id = u.frame"
        f" JOIN functions fn ON fn.id = fr.function {place_tables('fr')}",
        json_list(sorted(set(nodes))),
    )
    urls = Urls(reader)
    located = ((node, function, reader.location(*place)) for node, function, *place in rows)
    return {node: PythonLine(function, urls.added(place)) for node, function, place in located if place is not None}


def outward_lines(reader: Reader, stacks: Iterable[int]) -> dict[int, tuple[PythonLine, ...]]:
    """Return the user's lines outward of each stack's innermost one, nearest first."""
    node_of = python_nodes(reader, stacks)
    found = outward_lines_of_nodes(reader, node_of.values())
    return {stack: found.get(node, ()) for stack, node in node_of.items()}


def outward_lines_of_nodes(reader: Reader, nodes: Iterable[int]) -> dict[int, tuple[PythonLine, ...]]:
    """Return the user's lines outward of the innermost one for tree paths, by innermost node, if there are any."""
    rows = reader.rows(
        "WITH RECURSIVE up(leaf, node) AS ("
        f" SELECT id, user_node FROM nodes WHERE id {IN_JSON} AND user_node"
        " UNION ALL SELECT up.leaf, p.user_node FROM up JOIN nodes n ON n.id = up.node"
        " JOIN nodes p ON p.id = n.parent WHERE p.user_node"
        ") SELECT leaf, node FROM up",
        json_list(sorted(set(nodes))),
    )
    lines = lines_of_nodes(reader, {node for _, node in rows})
    found: dict[int, list[PythonLine]] = {}
    for leaf, node in rows:  # breadth first: the nearest line of each leaf comes first
        if node in lines:
            found.setdefault(leaf, []).append(lines[node])
    return {leaf: tuple(way[1:]) for leaf, way in found.items()}


def python_nodes(reader: Reader, stacks: Iterable[int]) -> dict[int, int]:
    """Return the innermost node of each stack on its path out to Python."""
    query = f"SELECT s.id, {PYTHON_LEAF} FROM stacks s WHERE s.id {IN_JSON}"
    return dict(reader.rows(query, json_list(sorted(set(stacks)))))
