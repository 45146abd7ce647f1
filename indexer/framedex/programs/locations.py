"""MLIR's locations, as JAX writes them: the name of an op around the lines of the Python stack that made it.

The name of the op is the outermost; a name right around a line is that of the function which the line is in; a call
site is a line and the lines that called it. JAX leaves frames of its own files out, and those beyond the ten innermost
(`jax_traceback_in_locations_limit`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from framedex.model.programs import ProgramFrame

MOST_FRAMES = 100
"""Frames of an op that are looked at."""

_MOST_STEPS = 10_000  # of one op; locations of a damaged program may be in each other


@dataclass(frozen=True, slots=True)
class Line:
    """A place in a file."""

    path: str
    line: int


@dataclass(frozen=True, slots=True)
class Named:
    """A name around a location."""

    name: str
    inner: int


@dataclass(frozen=True, slots=True)
class Joined:
    """Locations one after the other, the innermost first: a call site, or what was fused."""

    parts: tuple[int, ...]


Node = Line | Named | Joined | None
"""A location by its number in the program; None where it is not known."""


class Locations:
    """The names and lines of ops by the number of their location."""

    def __init__(self, node: Callable[[int], Node]) -> None:
        """`node` gives a location by its number; it raises nothing."""
        self._node = node
        self._known: dict[int, tuple[str, tuple[ProgramFrame, ...]]] = {}

    def of_op(self, number: int) -> tuple[str, tuple[ProgramFrame, ...]]:
        """The name of an op, and its lines, the innermost first."""
        known = self._known.get(number)
        if known is None:
            known = self._known[number] = self._found(number)
        return known

    def _found(self, number: int) -> tuple[str, tuple[ProgramFrame, ...]]:
        name, at = "", number
        for _ in range(MOST_FRAMES):
            node = self._node(at)
            if isinstance(node, Joined) and not name and node.parts:  # fused: the first tells the name
                inner, _ = self._named(node.parts[0])
                name = inner
                break
            if not isinstance(node, Named) or (name and isinstance(self._node(node.inner), Line)):
                break
            # `reduce_sum:` only repeats what kind of op it is.
            name = node.name if not name or name.endswith(":") else name
            at = node.inner
        return name.rstrip(":"), tuple(self._frames(at))

    def _named(self, number: int) -> tuple[str, int]:
        node = self._node(number)
        is_op = isinstance(node, Named) and not isinstance(self._node(node.inner), Line)
        return (node.name, node.inner) if isinstance(node, Named) and is_op else ("", number)

    def _frames(self, number: int) -> list[ProgramFrame]:
        found: list[ProgramFrame] = []
        pending = [(number, "")]  # with the function that is named around it
        for _ in range(_MOST_STEPS):
            if not pending or len(found) == MOST_FRAMES:
                break
            at, function = pending.pop()
            node = self._node(at)
            if isinstance(node, Line):
                found.append(ProgramFrame(node.path, node.line, function))
            elif isinstance(node, Named):
                pending.append((node.inner, node.name))
            elif isinstance(node, Joined):
                pending += [(part, "") for part in reversed(node.parts)]
        return found
