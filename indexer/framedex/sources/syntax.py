"""One tree-sitter parse and one query over it, in bounded time."""

from __future__ import annotations

import time
from dataclasses import dataclass

from tree_sitter import Language, Node, Parser, Query, QueryCursor

SECONDS = 5.0
"""What the parse of one file may take. XLA's slowest takes 0.1 s."""

WIDEST = 20_000
"""Children of one error node. A query over it is quadratic in them (20,000: 0.2 s) and cannot be interrupted."""

_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class Grammar:
    """A language and the query for what is wanted of its files."""

    language: Language
    query: Query

    def capture(self, source: bytes) -> list[tuple[int, int, str, Node]]:
        """Start byte, end byte, capture name and node of all that the query finds, outer before inner.

        Raises: ValueError when the file is so far from its language that this would take too long.
        """
        deadline = time.monotonic() + SECONDS

        def is_late(_offset: int, _has_error: bool) -> bool:
            return time.monotonic() > deadline

        tree = Parser(self.language).parse(lambda at, _point: source[at : at + _CHUNK], progress_callback=is_late)
        if is_late(0, False) or _is_hopeless(tree.root_node):
            raise ValueError("its syntax is too far from the language")
        captures = QueryCursor(self.query).captures(tree.root_node)
        found = [(node.start_byte, node.end_byte, name, node) for name, nodes in captures.items() for node in nodes]
        return sorted(found, key=lambda entry: (entry[0], -entry[1]))


def _is_hopeless(root: Node) -> bool:
    """Whether an error node is too wide to be queried; only the branches that have errors are looked at."""
    pending = [root]
    while pending:
        node = pending.pop()
        if not node.has_error:
            continue
        if node.is_error and node.child_count > WIDEST:
            return True
        pending.extend(node.children)
    return False
