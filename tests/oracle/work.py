"""Pieces of work on native threads, tracked by the objects that they create.

A program compiled on a thread of XLA's pool is an object that the requesting thread receives: the first thread that
uses it is the one that waited. A piece of work is a call that creates an object, and the earlier calls without Python
that work on it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, field

from framedex.model import Capture
from framedex.programs.objects import BoundaryFunction, ObjectRole, find_boundary_function
from framedex.programs.objects.table import iterate_objects, parse_address


@dataclass(frozen=True, slots=True)
class Work:
    """The pieces of work by number.

    `of_call` maps rows of `Capture.calls` to their pieces. `taken_by` maps a piece to the row of the first call of a
    Python thread that received an object of it.
    """

    of_call: dict[int, int] = field(default_factory=dict)
    taken_by: dict[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Sighting:
    type: str
    address: int
    role: ObjectRole


class _Made:
    """The objects that no Python thread has received yet, each with its piece of work and time of birth."""

    def __init__(self) -> None:
        self._of_type: dict[str, dict[int, tuple[int, int]]] = {}

    def may_hold(self, function: BoundaryFunction) -> bool:
        """Whether the function takes objects of one of these types."""
        return any(self._of_type.get(known.type) for known in function.inputs)

    def add(self, seen: _Sighting, piece: int, time: int) -> None:
        """Add an object of a piece, which exists from this time on."""
        self._of_type.setdefault(seen.type, {})[seen.address] = piece, time

    def piece_of(self, seen: _Sighting, time: int) -> int | None:
        """The piece whose object was at an address at this time; None without one."""
        piece, born = self._of_type.get(seen.type, {}).get(seen.address, (None, 0))
        return piece if time >= born else None

    def forget(self, seen: _Sighting) -> None:
        """Remove a destroyed object."""
        self._of_type.get(seen.type, {}).pop(seen.address, None)

    def forget_piece(self, piece: int) -> None:
        """Remove the objects of a piece that has a receiver."""
        for objects in self._of_type.values():
            for address in [address for address, (of, _) in objects.items() if of == piece]:
                del objects[address]


def follow_work(capture: Capture, with_python: Set[int]) -> Work:
    """The pieces of work of the threads not `with_python` (indices in `Capture.threads`)."""
    functions = [find_boundary_function(function.name) for function in capture.functions]
    calls = capture.calls
    made, work = _Made(), Work()
    columns = (calls.thread, calls.function, calls.start, calls.duration)
    for call, (thread, place, start, duration) in enumerate(zip(*(column.tolist() for column in columns), strict=True)):
        function = functions[place]
        if thread in with_python:
            if made.may_hold(function):
                for piece in _pieces_given(made, _sightings(function, calls.arguments[call]), start):
                    work.taken_by[piece] = call
                    made.forget_piece(piece)
        elif function.objects and duration >= 0:
            seen = list(_sightings(function, calls.arguments[call]))
            created = [each for each in seen if each.role is ObjectRole.CREATES]
            given = set(_pieces_given(made, seen, start))
            if given or created:
                piece = work.of_call[call] = min(given, default=call)
                for each in created:
                    made.add(each, piece, start + duration)
            for each in seen:
                if each.role is ObjectRole.DESTROYS:
                    made.forget(each)
    return work


def _pieces_given(made: _Made, seen: Iterable[_Sighting], time: int) -> Iterator[int]:
    for each in seen:
        if each.role is not ObjectRole.CREATES and (piece := made.piece_of(each, time)) is not None:
            yield piece


def _sightings(function: BoundaryFunction, text: str) -> Iterator[_Sighting]:
    """The objects among the values of a call, except those owned by another object."""
    try:
        arguments = json.loads(text)
    except ValueError:
        return
    if not isinstance(arguments, dict):
        return
    for known in function.objects:
        for element in iterate_objects(known, arguments.get(known.name)):
            if known.role is not ObjectRole.NAMES and (address := parse_address(element)):
                yield _Sighting(known.type, address, known.role)
