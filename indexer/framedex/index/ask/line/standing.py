"""The nodes of the stack tree that are on a line: the start of every query for stacks through it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from framedex.index.ask.line.narrowing import nodes_in
from framedex.index.file.conventions import IN_JSON, json_list
from framedex.index.read.asked import AskedLine

MOST_STANDING = 100
"""Limit of nodes followed per line: lines that every call passes have thousands."""

_MOST_SIFTED = 2000
"""Limit of nodes on a line that are searched for those of one capture."""

_COLUMNS = "n.id, n.parent, n.frame, n.depth, n.calls, n.longest"


@dataclass(frozen=True, slots=True)
class Standing:
    """A node on a line: its parent (0: none), frame and stack depth, with calls and `longest` (ns) as in `nodes`."""

    node: int
    parent: int
    frame: int
    depth: int
    calls: int
    longest: int


def standing_on(line: AskedLine, within: Collection[int] | None = None, limit: int = MOST_STANDING) -> list[Standing]:
    """Return at most `limit` nodes on the line, ordered by the longest stack below them, then by calls.

    `within` restricts the result to these nodes; a capture restricts it to nodes that it passed.
    """
    if line.capture is None:
        return _longest(line, within, limit)
    found = _longest(line, within, _MOST_SIFTED)
    kept = nodes_in(line.reader, line.capture, [each.node for each in found])
    return [each for each in found if each.node in kept][:limit]


def of_run_of(line: AskedLine, nodes: Collection[int]) -> AskedLine:
    """Restrict the line to the latest run that passed one of these nodes, so that the next step stays in that run."""
    query = f"SELECT max(run) FROM nodes WHERE id {IN_JSON}"
    return replace(line, reader=line.reader.of_latest(query, json_list(nodes)))


def _longest(line: AskedLine, within: Collection[int] | None, limit: int) -> list[Standing]:
    reader = line.reader
    nodes = reader.totals("nodes")
    if within is None:
        # Only a few index steps per frame, regardless of its number of nodes.
        rows = reader.rows(
            f"SELECT {_COLUMNS} FROM frames fr CROSS JOIN {nodes} n ON n.id IN"
            f" (SELECT id FROM {nodes} WHERE frame = fr.id ORDER BY longest DESC, calls DESC, id LIMIT ?1)"
            f" WHERE {line.on('fr')} ORDER BY n.longest DESC, n.calls DESC, n.id LIMIT ?1",
            limit,
        )
    else:
        rows = reader.rows(
            f"SELECT {_COLUMNS} FROM {nodes} n CROSS JOIN frames fr ON fr.id = n.frame"
            f" WHERE n.id {IN_JSON} AND {line.on('fr')}"
            " ORDER BY n.longest DESC, n.calls DESC, n.id LIMIT ?",
            json_list(within),
            limit,
        )
    return [Standing(*row) for row in rows]
