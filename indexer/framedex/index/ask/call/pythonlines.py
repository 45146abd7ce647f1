"""The line of Python that led to a call: the one place that a user of the program recognises."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from framedex.index.ask.call.causal_links import linked_nodes
from framedex.index.file.conventions import IN_JSON, json_list
from framedex.index.read.installed import is_installed
from framedex.index.read.rows import Reader, place_columns, place_tables
from framedex.index.read.urls import Urls
from framedex.model import PythonLine


def python_lines(reader: Reader, stacks: Mapping[int, int]) -> dict[int, PythonLine]:
    """For each call (id: stack) with Python the innermost line of the program itself, else the innermost of all.

    A call whose stack has no Python has the line of what had it made, unless several places may have.
    """
    query = f"SELECT id, coalesce(nullif(site_leaf, 0), nullif(python_leaf, 0), leaf) FROM stacks WHERE id {IN_JSON}"
    node_of: dict[int, int] = dict(reader.rows(query, json_list(sorted(set(stacks.values())))))
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
    """The line of Python of each path in the tree that has one, by the path's innermost node."""
    rows = reader.rows(
        "WITH RECURSIVE up(leaf, node) AS ("
        " SELECT value, value FROM json_each(?)"
        " UNION ALL SELECT up.leaf, n.parent FROM up JOIN nodes n ON n.id = up.node WHERE n.parent"
        f") SELECT up.leaf, fn.name, {place_columns('fr')} FROM up JOIN nodes n ON n.id = up.node"
        " JOIN frames fr ON fr.id = n.frame JOIN functions fn ON fn.id = fr.function AND fn.language = 'python'"
        f" {place_tables('fr')} WHERE fr.file IS NOT NULL ORDER BY up.leaf, n.depth DESC",
        json_list(sorted(set(nodes))),
    )
    chosen: dict[int, tuple[str, list[Any]]] = {}
    own: set[int] = set()
    for leaf, function, *place in rows:
        is_own = not is_installed(place[0])
        if place[1] and leaf not in own and (leaf not in chosen or is_own):
            chosen[leaf] = function, place
            own.update({leaf} if is_own else ())
    urls = Urls(reader)
    located = ((leaf, function, reader.location(*place)) for leaf, (function, place) in chosen.items())
    return {leaf: PythonLine(function, urls.added(place)) for leaf, function, place in located if place is not None}
