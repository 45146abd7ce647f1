"""Track the runtime's objects through a capture: when each was created, used and destroyed, and violations.

An address is an object only from its creation to its destruction; later it may be another one. So calls are processed
once, in the order in which they take effect: inputs count at the call's start, outputs at its end. Thus a destruction
on one thread precedes the creation, on another, that got the same address. A missing record never counts as a
violation. A type that can be created unseen (errors, truncated lists) may have a new object at an old address, and two
threads' clocks may differ slightly.
"""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache

from framedex.model import Capture
from framedex.programs.objects.table import (
    BoundaryFunction,
    ObjectField,
    ObjectRole,
    ViolationKind,
    find_boundary_function,
    iterate_objects,
    load_boundary_functions,
    parse_address,
)

CLOCK_SLACK = 10_000
"""Nanoseconds by which the clocks of two threads may differ."""

_ALWAYS = 1 << 62
_NEVER = -_ALWAYS


@dataclass(slots=True)
class RecordedObject:
    """An object of the runtime.

    Calls are rows of `Capture.calls`; `owner` is the index of its client in the objects. `born` is the time, in
    nanoseconds since the recording began, from which its address means this object. `created_call` is None for objects
    owned by another, and for those first seen in use. `number` distinguishes the objects of a type: the runtime's own
    id if all of them have one, else the order of birth from 1. `deleted_call` may also be a call that only reported the
    deletion. `size` is in bytes, None if no call has it.
    """

    type: str
    address: int
    born: int
    created_call: int | None
    first_call: int
    last_call: int
    number: int = 0
    uses: int = 0
    destroyed_call: int | None = None
    deleted_call: int | None = None
    owner: int | None = None
    size: int | None = None
    is_foreign: bool = False


@dataclass(frozen=True, slots=True)
class Violation:
    """A call (a row) that misused an object (its index in the objects); `earlier_call` made that a misuse."""

    kind: ViolationKind
    object: int
    call: int
    earlier_call: int | None


@dataclass(frozen=True, slots=True)
class Lifetimes:
    """The objects of a capture in order of their birth, and the violations in order of their calls."""

    objects: tuple[RecordedObject, ...] = ()
    violations: tuple[Violation, ...] = ()


def follow_objects(capture: Capture) -> Lifetimes:
    """The objects in the calls of a capture."""
    follower = _Follower(capture)
    follower.run()
    _number(follower.objects, follower.ids)
    return Lifetimes(tuple(follower.objects), tuple(sorted(follower.violations, key=lambda found: found.call)))


Sighting = tuple[str, int, ObjectRole]  # type, address, role


@dataclass(frozen=True, slots=True)
class _Values:
    """The objects in the values of a call. `hidden` are the types of objects that it created unrecorded."""

    inputs: tuple[Sighting, ...]
    results: tuple[Sighting, ...]
    sized: int | None
    hidden: tuple[str, ...]
    identified: tuple[str, int, int] | None  # type, address, id
    is_deleted: bool


@dataclass(order=True, slots=True)
class _Effect:
    """The effects of a call's end."""

    time: int
    call: int
    values: _Values | None = field(compare=False)
    given: tuple[int, ...] = field(compare=False)


@dataclass(slots=True)
class _Life:
    """A living object: its number of references, and the end time of the call that uses it."""

    index: int
    references: int = 1
    busy_until: int = -1
    busy_call: int = -1


class _Follower:
    def __init__(self, capture: Capture) -> None:
        calls = capture.calls
        self._functions = [find_boundary_function(function.name) for function in capture.functions]
        self._function = calls.function.tolist()
        self._start = calls.start.tolist()
        self._duration = calls.duration.tolist()
        self._error = calls.error.tolist()
        self._thread = calls.thread.tolist()
        self._last_of_thread = {thread: call for call, thread in enumerate(self._thread)}
        self._arguments = calls.arguments
        self._creates_client = [function.name == "PJRT_Client_Create" for function in capture.functions]
        self._sees_beginning = False
        self._living: dict[tuple[str, int], _Life] = {}
        self._pending: list[_Effect] = []
        self._hidden_since = dict.fromkeys(_unseen_types(), _ALWAYS)
        self.objects: list[RecordedObject] = []
        self.ids: dict[int, int] = {}
        self.violations: list[Violation] = []

    def run(self) -> None:
        """Process all calls."""
        known: dict[tuple[int, str], _Values] = {}
        for call, place in enumerate(self._function):
            function, start = self._functions[place], self._start[call]
            while self._pending and self._pending[0].time <= start:
                self._take_effect(heapq.heappop(self._pending))
            self._sees_beginning = self._sees_beginning or self._creates_client[place]
            values = None
            given: list[int] = []
            if function.inputs or function.results:
                key = place, self._arguments[call]
                values = known.get(key)
                if values is None:
                    values = known[key] = _read(function, key[1])
                for sighting in values.inputs:
                    given.append(self._meet(call, function, *sighting))
            if self._duration[call] >= 0:
                end = start + self._duration[call]
                if self._error[call] > 0:
                    heapq.heappush(self._pending, _Effect(end, call, None, ()))
                elif values and (values.results or values.hidden or values.identified or values.is_deleted):
                    heapq.heappush(self._pending, _Effect(end, call, values, tuple(given)))
        while self._pending:
            self._take_effect(heapq.heappop(self._pending))

    def _meet(self, call: int, function: BoundaryFunction, kind: str, address: int, role: ObjectRole) -> int:
        """Record that a call receives an object; return the object's index."""
        life = self._life_at(call, kind, address, role)
        found = self.objects[life.index]
        found.last_call = call
        found.uses += 1
        fault = self._fault(found, function, role)
        if fault is not None:
            self._blame(fault[0], life.index, call, fault[1])
        if found.destroyed_call is None and self._error[call] <= 0:  # otherwise it reported that it had no effect
            self._apply(life, call, function, role)
        return life.index

    def _life_at(self, call: int, kind: str, address: int, role: ObjectRole) -> _Life:
        """The object at an address when a call began; a new one if first seen here."""
        start = self._start[call]
        life = self._living.get((kind, address))
        if (life is None or self.objects[life.index].destroyed_call is not None) and self._pending:
            life = self._after_all(kind, address, start)
        if life is not None and not self._may_be_another(self.objects[life.index]):
            return life
        if role is ObjectRole.DESTROYS and life is None and self._sees_beginning and kind not in self._hidden_since:
            self._blame(ViolationKind.UNKNOWN_DESTROY, len(self.objects), call, None)
        return self._begin(kind, address, start, None, call)

    def _fault(
        self, found: RecordedObject, function: BoundaryFunction, role: ObjectRole
    ) -> tuple[ViolationKind, int | None] | None:
        """The violation of giving this object to this function, and the call that made it one."""
        if found.destroyed_call is not None:
            is_again = role is ObjectRole.DESTROYS
            kind = ViolationKind.DOUBLE_DESTROY if is_again else ViolationKind.USE_AFTER_DESTROY
            return kind, found.destroyed_call
        if role is ObjectRole.DESTROYS and found.is_foreign:
            return ViolationKind.FOREIGN_DESTROY, found.first_call
        owner = None if found.owner is None else self.objects[found.owner]
        if owner is not None and owner.destroyed_call is not None:
            return ViolationKind.USE_AFTER_CLIENT, owner.destroyed_call
        if function.reads and role is ObjectRole.USES and found.deleted_call is not None:
            return ViolationKind.USE_AFTER_DELETE, found.deleted_call
        return None

    def _apply(self, life: _Life, call: int, function: BoundaryFunction, role: ObjectRole) -> None:
        """Let a call destroy or delete a living object among its inputs, as its function does."""
        found, start = self.objects[life.index], self._start[call]
        if role is ObjectRole.DESTROYS:
            if life.busy_until > start + CLOCK_SLACK and self._thread[life.busy_call] != self._thread[call]:
                self._blame(ViolationKind.DESTROYED_IN_USE, life.index, call, life.busy_call)
            life.references -= 1
            if life.references == 0:
                found.destroyed_call = call
        elif role is ObjectRole.DELETES:
            found.deleted_call = call if found.deleted_call is None else found.deleted_call
        elif not function.takes_callback and (end := self._end(call)) > life.busy_until:
            life.busy_until, life.busy_call = end, call

    def _end(self, call: int) -> int:
        """The end time of a call. An unreturned call ends after all others if it is its thread's last, else at once."""
        if self._duration[call] >= 0:
            end: int = self._start[call] + self._duration[call]
            return end
        return _ALWAYS if self._last_of_thread[self._thread[call]] == call else -1

    def _take_effect(self, effect: _Effect) -> None:
        if effect.values is None:
            self._hide("error", effect.time)
            return
        values = effect.values
        for kind in values.hidden:
            self._hide(kind, effect.time)
        owner = self._client_of(effect.given)
        for kind, address, role in values.results:
            life = self._living.get((kind, address))
            if life is not None and self._is_alive(life) and (role is ObjectRole.NAMES or self._is_shared(life)):
                # Returned again. If this is a creation, each reference must be destroyed.
                life.references += role is ObjectRole.CREATES
                self.objects[life.index].last_call = max(self.objects[life.index].last_call, effect.call)
                continue
            created = effect.call if role is ObjectRole.CREATES else None
            life = self._begin(kind, address, effect.time, created, effect.call)
            found = self.objects[life.index]
            found.owner = owner
            found.is_foreign = role is ObjectRole.NAMES
            found.size = self._size(effect, kind)
        if values.identified is not None:
            kind, address, number = values.identified
            life = self._living.get((kind, address))
            if life is not None:
                self.ids[life.index] = number
        if values.is_deleted and effect.given:
            first = self.objects[effect.given[0]]
            first.deleted_call = effect.call if first.deleted_call is None else first.deleted_call

    def _size(self, effect: _Effect, kind: str) -> int | None:
        """The size of a created object: from its call's arguments, or that of its original.

        Objects in a list, such as a program's results, are not copies.
        """
        assert effect.values is not None
        function = self._functions[self._function[effect.call]]
        if any(result.name in function.sizes and result.type == kind for result in function.results):
            return effect.values.sized
        if any(result.is_list and result.type == kind for result in function.results):
            return None
        return next((self.objects[place].size for place in effect.given if self.objects[place].type == kind), None)

    def _begin(self, kind: str, address: int, born: int, created: int | None, call: int) -> _Life:
        life = _Life(len(self.objects))
        self._living[kind, address] = life
        self.objects.append(RecordedObject(kind, address, born, created, call, call))
        return life

    def _hide(self, kind: str, time: int) -> None:
        self._hidden_since[kind] = max(time, self._hidden_since.get(kind, time))

    def _may_be_another(self, found: RecordedObject) -> bool:
        """Whether a destroyed object's address may meanwhile belong to one whose creation was not seen."""
        if found.destroyed_call is None:
            return False
        destroyed: int = self._start[found.destroyed_call]
        return self._hidden_since.get(found.type, _NEVER) >= destroyed

    def _is_alive(self, life: _Life) -> bool:
        """Whether both the object and its client are alive."""
        found = self.objects[life.index]
        owner = None if found.owner is None else self.objects[found.owner]
        return found.destroyed_call is None and (owner is None or owner.destroyed_call is None)

    def _is_shared(self, life: _Life) -> bool:
        return self.objects[life.index].created_call is not None

    def _after_all(self, kind: str, address: int, start: int) -> _Life | None:
        """The object of that address if its creation on another thread only seems to end slightly later."""
        late = [
            effect
            for effect in self._pending
            if effect.time <= start + CLOCK_SLACK
            and effect.values is not None
            and any(result[:2] == (kind, address) for result in effect.values.results)
        ]
        for effect in sorted(late):
            self._pending.remove(effect)
            self._take_effect(replace(effect, time=min(effect.time, start)))
        if late:
            heapq.heapify(self._pending)
        return self._living.get((kind, address))

    def _client_of(self, given: tuple[int, ...]) -> int | None:
        for place in given:
            if self.objects[place].type == "client":
                return place
        return next((self.objects[place].owner for place in given if self.objects[place].owner is not None), None)

    def _blame(self, kind: ViolationKind, place: int, call: int, earlier: int | None) -> None:
        self.violations.append(Violation(kind, place, call, earlier))


def _read(function: BoundaryFunction, text: str) -> _Values:
    """Parse the objects among the values of a call; none if the values are damaged."""
    try:
        arguments = json.loads(text)
    except ValueError:
        arguments = None
    if not isinstance(arguments, dict):
        arguments = {}
    results = tuple(sighting for result in function.results for sighting in _sightings(result, arguments))
    size, number = arguments.get("bytes"), arguments.get("id")
    identified = None
    for known in function.objects:
        address = parse_address(arguments.get(known.name))
        if known.name == function.identifies and address and isinstance(number, int):
            identified = known.type, address, number
    return _Values(
        inputs=tuple(sighting for given in function.inputs for sighting in _sightings(given, arguments)),
        results=results,
        sized=size if isinstance(size, int) else None,
        hidden=tuple(
            result.type
            for result in function.results
            if result.role is ObjectRole.CREATES and _is_cut(result, arguments)
        ),
        identified=identified,
        is_deleted=function.reports_deletion is not None and arguments.get(function.reports_deletion) is True,
    )


def _sightings(known: ObjectField, arguments: dict[str, object]) -> Iterator[Sighting]:
    for element in iterate_objects(known, arguments.get(known.name)):
        if address := parse_address(element):
            yield known.type, address, known.role


def _is_cut(known: ObjectField, arguments: dict[str, object]) -> bool:
    """Whether a value has more objects than were recorded: only the address of a list, or not all its elements."""
    if known.is_list and isinstance(arguments.get(known.name), str):
        return True
    return "more_values_not_recorded" in arguments and (known.is_list or known.name not in arguments)


def _number(objects: list[RecordedObject], ids: dict[int, int]) -> None:
    """Number the objects of each type: by the runtime's own ids if they distinguish all of them."""
    by_type: dict[str, list[int]] = {}
    for place, found in enumerate(objects):
        by_type.setdefault(found.type, []).append(place)
    for places in by_type.values():
        known = {ids[place] for place in places if place in ids}
        for order, place in enumerate(places, 1):
            objects[place].number = ids[place] if len(known) == len(places) else order


@cache
def _unseen_types() -> frozenset[str]:
    """The types of objects that some function destroys and none returns (errors, callbacks): they appear unseen."""
    functions = load_boundary_functions().values()
    handed_out = {field.type for function in functions for field in function.results}
    destroyed = {
        field.type for function in functions for field in function.objects if field.role is ObjectRole.DESTROYS
    }
    return frozenset(destroyed - handed_out)
