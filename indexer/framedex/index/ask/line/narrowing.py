"""Queries for one capture: its calls through a line, found below the line in the stack tree.

Line and node totals cover all counted captures. The contribution of one capture is stored in `capture_stacks`, so these
queries read the tree below the line: the deeper the line, the less they read. The same query runs over all captures if
line totals cannot be added up.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from framedex.index.file.conventions import IN_JSON, json_list
from framedex.index.read.asked import AskedLine
from framedex.index.read.rows import Reader

_STACKS_BELOW = (
    "WITH RECURSIVE below(start, node) AS ("
    f" SELECT id, id FROM nodes WHERE id {IN_JSON}"
    " UNION ALL SELECT b.start, n.id FROM below b JOIN nodes n ON n.parent = b.node"
    "), passed(start, stack) AS ("
    " SELECT b.start, s.id FROM below b CROSS JOIN stacks s ON s.leaf = b.node"
    " UNION SELECT b.start, s.id FROM below b CROSS JOIN stacks s ON s.python_leaf = b.node"
    " UNION SELECT b.start, s.id FROM below b CROSS JOIN stacks s ON s.site_leaf = b.node"
    ") SELECT p.start, x.stack, b.name, b.boundary, x.calls, x.duration, x.latest_call FROM passed p"
)
_OF_CAPTURE = (
    " CROSS JOIN capture_stacks x ON x.stack = p.stack AND x.capture = ? JOIN boundaries b ON b.id = x.boundary"
)

_ANY_STACK_BELOW = (
    "WITH RECURSIVE below(node) AS ("
    " VALUES (?1) UNION ALL SELECT n.id FROM below b JOIN nodes n ON n.parent = b.node"
    ") SELECT 1 FROM below b WHERE EXISTS ("
    " SELECT 1 FROM (SELECT id FROM stacks WHERE leaf = b.node"
    " UNION ALL SELECT id FROM stacks WHERE python_leaf = b.node"
    " UNION ALL SELECT id FROM stacks WHERE site_leaf = b.node) s"
    " CROSS JOIN capture_stacks x ON x.stack = s.id AND x.capture = ?2) LIMIT 1"
)


@dataclass(frozen=True, slots=True)
class Passage:
    """Calls with one stack and boundary function, of one or all captures, that passed a line at the node `start`."""

    start: int
    stack: int
    function: str
    boundary: str
    calls: int
    duration: int
    latest_call: int


def passages(line: AskedLine) -> list[Passage]:
    """Return the calls that passed the line, most first.

    They come from the line's capture if it has one, otherwise from all captures in the reader's scope. Under recursion
    only the innermost pass counts.
    """
    starts = line.reader.rows(
        f"SELECT n.id FROM frames fr JOIN nodes n ON n.frame = fr.id WHERE {line.on('fr')} ORDER BY n.depth DESC"
    )
    order = {node: position for position, (node,) in enumerate(starts)}
    found: dict[tuple[int, str, str], Passage] = {}
    if line.capture is None:
        totals = f" CROSS JOIN {line.reader.totals('stack_calls')} x ON x.stack = p.stack"
        rows = line.reader.rows(f"{_STACKS_BELOW}{totals} JOIN boundaries b ON b.id = x.boundary", json_list(order))
    else:
        rows = line.reader.rows(_STACKS_BELOW + _OF_CAPTURE, json_list(order), line.capture)
    for row in sorted(rows, key=lambda row: order[row[0]]):
        passage = Passage(*row)
        found.setdefault((passage.stack, passage.function, passage.boundary), passage)
    return sorted(found.values(), key=lambda passage: (-passage.calls, passage.stack, passage.function))


def nodes_in(reader: Reader, capture: int, nodes: Iterable[int]) -> set[int]:
    """Return the given nodes that stacks of the capture pass or end at."""
    return {node for node in nodes if reader.row(_ANY_STACK_BELOW, node, capture)}
