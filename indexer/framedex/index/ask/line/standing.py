"""The nodes of the tree of stacks that stand on a line: where every question about the stacks through it begins."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from framedex.index.ask.line.narrowing import nodes_in
from framedex.index.file.conventions import IN_JSON, json_list
from framedex.index.read.asked import AskedLine

MOST_STANDING = 100
"""Nodes of a line that are followed: thousands stand on the lines that every call goes through."""

_MOST_SIFTED = 2000
"""Nodes of a line among which those of one capture are looked for."""

_COLUMNS = "n.id, n.parent, n.frame, n.depth, n.calls, n.longest"


@dataclass(frozen=True, slots=True)
class Standing:
    """A node on a line: its parent (0: none) and frame, its depth in the stacks, and what passed it, as in `nodes`."""

    node: int
    parent: int
    frame: int
    depth: int
    calls: int
    longest: int


def standing_on(line: AskedLine, within: Collection[int] | None = None, limit: int = MOST_STANDING) -> list[Standing]:
    """The nodes on the line, at most `limit`, those first below which a stack took longest, or by calls.

    With `within`, only nodes out of that; with a capture, only nodes that it passed.
    """
    if line.capture is None:
        return _longest(line, within, limit)
    found = _longest(line, within, _MOST_SIFTED)
    kept = nodes_in(line.reader, line.capture, [each.node for each in found])
    return [each for each in found if each.node in kept][:limit]


def of_run_of(line: AskedLine, nodes: Collection[int]) -> AskedLine:
    """The line as the latest run has it that passed one of these nodes: whoever came by them goes on in that run."""
    query = f"SELECT max(run) FROM nodes WHERE id {IN_JSON}"
    return replace(line, reader=line.reader.of_latest(query, json_list(nodes)))


def _longest(line: AskedLine, within: Collection[int] | None, limit: int) -> list[Standing]:
    reader = line.reader
    nodes = reader.totals("nodes")
    if within is None:
        # A few steps in the index for each frame, however many nodes have it.
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
