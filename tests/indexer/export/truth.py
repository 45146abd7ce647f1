"""The expected contents of an export, queried from the index by SQL over its readable views, without framedex."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

UNMERGED = "[native stack that could not be merged with the Python stack above]"

Frame = tuple[str, str | None, int | None, str | None]
"""A function, its line, and the binary of native code."""

_FRAMES = """
    WITH RECURSIVE up(stack, chain, node) AS (
        SELECT id, 'merged', leaf FROM stacks UNION ALL SELECT id, 'python', python_leaf FROM stacks
        UNION ALL SELECT up.stack, up.chain, n.parent FROM up JOIN nodes n ON n.id = up.node
    )
    SELECT up.stack, up.chain, r.function, r.path, r.line, r.module FROM up JOIN nodes n ON n.id = up.node
    JOIN frames_readable r ON r.id = n.frame ORDER BY n.depth
"""


@dataclass
class Call:
    """A call in the index; `stack` is outermost first and ends with the called function."""

    id: int
    function: str
    thread: str
    start: int
    duration: int
    own: int
    stack: tuple[Frame, ...]
    arguments: str
    capture: int
    bytes: int = 0
    children: list[int] = field(default_factory=list)


def calls_of(index: Path) -> list[Call]:
    """All calls of the index, by id."""
    with closing(sqlite3.connect(index)) as connection:
        ask = connection.execute
        chains: dict[tuple[int, str], list[Frame]] = {}
        for stack, chain, function, path, line, binary in ask(_FRAMES):
            chains.setdefault((stack, chain), []).append((function, path, line, binary))
        calls = {
            row[0]: Call(
                *(row[0], row[1], row[2], row[3], row[4], max(row[4], 0)),
                *(_stack(chains, row[5], row[1]), row[6], row[7]),
            )
            for row in ask(
                "SELECT c.id, b.name, t.label, c.start, c.duration, c.stack, a.json, c.capture FROM calls c"
                " JOIN boundaries b ON b.id = c.boundary JOIN threads t ON t.id = c.thread"
                " JOIN arguments a ON a.id = c.arguments ORDER BY c.id"
            )
        }
        for call, parent in ask("SELECT id, parent FROM calls WHERE parent IS NOT NULL"):
            calls[parent].own -= max(calls[call].duration, 0)
            calls[parent].children.append(call)
        for call, size in ask("SELECT created_call, sum(size) FROM objects WHERE size > 0 GROUP BY 1"):
            if call is not None:
                calls[call].bytes = size
    return list(calls.values())


def _stack(chains: dict[tuple[int, str], list[Frame]], stack: int, function: str) -> tuple[Frame, ...]:
    python, merged = chains.get((stack, "python"), []), chains.get((stack, "merged"), [])
    frames = [*python, *([(UNMERGED, None, None, None)] if python else []), *merged]
    return tuple(frames if frames and frames[-1][0] == function else [*frames, (function, None, None, None)])


def sums(calls: list[Call], weight: str, *, key: Any = lambda call: (call.thread, call.stack)) -> Counter[Any]:
    """The sum of the calls' weights by thread and stack, without zero sums."""
    found: Counter[Any] = Counter()
    for call in calls:
        found[key(call)] += {"time": max(call.own, 0), "calls": 1, "bytes": call.bytes}[weight]
    return +found
