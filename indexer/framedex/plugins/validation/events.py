"""Find events that are set twice or never, and errors that are read before their event is ready."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from framedex.model import CallRow
from framedex.plugins.validation.violations import Violation

_CREATE, _SET, _DESTROY = "PJRT_Event_Create", "PJRT_Event_Set", "PJRT_Event_Destroy"
_IS_READY, _AWAIT, _ON_READY, _ERROR = (f"PJRT_Event_{name}" for name in ("IsReady", "Await", "OnReady", "Error"))
EVENT_TRIGGERS = frozenset({_CREATE, _SET, _ERROR})
"""A capture without these functions cannot break a rule about events."""

EVENT_FUNCTIONS = EVENT_TRIGGERS | {_DESTROY, _IS_READY, _AWAIT, _ON_READY}


@dataclass(slots=True)
class _Event:
    """The history of an event. `waiting` is a call that waits for it."""

    created: CallRow | None = None
    set: CallRow | None = None
    waiting: CallRow | None = None
    may_be_ready: bool = False


def find_event_violations(calls: Iterable[CallRow]) -> Iterator[Violation]:
    """Yield the violations in these calls of EVENT_FUNCTIONS, which are in order of start."""
    events: dict[str, _Event] = {}
    for call in calls:
        address = call.arguments.get("event")
        if not isinstance(address, str):
            continue
        if call.function == _CREATE:
            events[address] = _Event(created=call)
            continue
        event = events.setdefault(address, _Event())
        yield from _check_event(event, call)
        _record_call(event, call)
        if call.function == _DESTROY:
            del events[address]


def _check_event(event: _Event, call: CallRow) -> Iterator[Violation]:
    if call.function == _SET and event.set is not None:
        yield Violation.of_rule("event-set-twice", call, event.set, "event", "event")
    elif call.function == _ERROR and not event.may_be_ready:
        yield Violation.of_rule("error-before-ready", call, event.created, "event", "event")
    elif call.function == _DESTROY and event.created and event.waiting and event.set is None:
        yield Violation.of_rule("event-never-set", call, event.waiting, "event", "event")


def _record_call(event: _Event, call: CallRow) -> None:
    if call.function == _SET:
        event.set = event.set or call
        event.may_be_ready = True
    elif call.function in (_AWAIT, _ON_READY):
        event.waiting = event.waiting or call
        event.may_be_ready = True  # after OnReady: its callback reads the error
    elif call.function == _IS_READY and call.arguments.get("is_ready"):
        event.may_be_ready = True
