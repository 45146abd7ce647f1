"""MLIR's locations, as JAX writes them: the name of an op around the lines of the Python stack that created it.

The outermost name is the name of the op. A name directly around a line is the name of the line's function. A call site
is a line and the lines that called it. JAX omits frames of its own files, and frames beyond the ten innermost
(`jax_traceback_in_locations_limit`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from framedex.model.programs import ProgramFrame

MAX_FRAMES = 100
"""The maximum number of frames of an op."""

_MAX_DEPTH = 200  # the maximum nesting of locations


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a file."""

    path: str
    line: int


@dataclass(frozen=True, slots=True)
class NamedLocation:
    """A name around a location."""

    name: str
    inner: int


@dataclass(frozen=True, slots=True)
class LocationSequence:
    """A sequence of locations, the innermost first: a call site, or fused locations."""

    parts: tuple[int, ...]


Node = Line | NamedLocation | LocationSequence | None
"""A location by its number in the program; None if unknown."""


class OpLocations:
    """The names and lines of ops by the number of their location."""

    def __init__(self, node: Callable[[int], Node]) -> None:
        """`node` returns a location by its number, and never raises."""
        self._read_node = node
        self._nodes: dict[int, Node] = {}
        self._frames_of: dict[int, tuple[ProgramFrame, ...]] = {}
        self._known: dict[int, tuple[str, tuple[ProgramFrame, ...]]] = {}

    def find_op(self, number: int) -> tuple[str, tuple[ProgramFrame, ...]]:
        """Return the name of an op, and its lines, the innermost first."""
        known = self._known.get(number)
        if known is None:
            known = self._known[number] = self._find(number)
        return known

    def _node(self, number: int) -> Node:
        if number not in self._nodes:
            self._nodes[number] = self._read_node(number)
        return self._nodes[number]

    def _find(self, number: int) -> tuple[str, tuple[ProgramFrame, ...]]:
        name, position = "", number
        for _ in range(MAX_FRAMES):
            node = self._node(position)
            if not isinstance(node, NamedLocation) or (name and isinstance(self._node(node.inner), Line)):
                break
            # `reduce_sum:` only repeats the kind of the op.
            name = node.name if not name or name.endswith(":") else name
            position = node.inner
        return _remove_scopes(name.rstrip(":"), self._frames(position))

    def _frames(self, number: int, depth: int = 0) -> tuple[ProgramFrame, ...]:
        known = self._frames_of.get(number)
        if known is None:
            self._frames_of[number] = ()  # for a location that contains itself
            known = self._frames_of[number] = (
                self._build_frames(self._node(number), depth) if depth < _MAX_DEPTH else ()
            )
        return known

    def _build_frames(self, node: Node, depth: int) -> tuple[ProgramFrame, ...]:
        if isinstance(node, Line):
            return (ProgramFrame(node.path, node.line, ""),)
        if isinstance(node, NamedLocation):
            frames = self._frames(node.inner, depth + 1)
            if not frames or frames[0].function:
                return frames
            return (ProgramFrame(frames[0].path, frames[0].line, node.name), *frames[1:])
        if isinstance(node, LocationSequence):
            found: list[ProgramFrame] = []
            for part in node.parts:
                found += self._frames(part, depth + 1)
                if len(found) >= MAX_FRAMES:
                    break
            return tuple(found[:MAX_FRAMES])
        return ()


def _remove_scopes(name: str, frames: tuple[ProgramFrame, ...]) -> tuple[str, tuple[ProgramFrame, ...]]:
    """Return the name and the lines of an op if JAX wrote transformations instead of functions around lines.

    Transformations look like `jit(f)/jvp()`, which cannot be the name of a Python function. JAX writes them if
    `jax_include_full_tracebacks_in_locations` is off. The innermost of several joined lines then has the name of the
    op.
    """
    scopes = [frame.function for frame in frames if _is_scope(frame.function)]
    if not scopes:
        return name, frames
    if not name and not _is_scope(frames[0].function):
        name = frames[0].function
    lines = tuple(ProgramFrame(frame.path, frame.line, "") for frame in frames)
    return (name if _is_scope(name) else f"{scopes[-1]}/{name}".rstrip("/")), lines


def _is_scope(name: str) -> bool:
    return "(" in name or "/" in name
