"""Events of the runtime, waited for and made."""

from __future__ import annotations

from .asking import ask
from .errors import Failed
from .handles import Handle


def await_event(event: Handle) -> None:
    """Wait for an event, and end it. Raises Failed with its error."""
    try:
        ask("PJRT_Event_Await", event=event)
    finally:
        ask("PJRT_Event_Destroy", event=event)


def ready_event(buffer: Handle | None = None) -> Handle:
    """A new event whose work is done; in a table that has none to make, that of a buffer which is there.

    Raises Failed where it can be had in neither way.
    """
    event: Handle
    try:
        event = ask("PJRT_Event_Create").event
    except Failed:
        if buffer is None:
            raise
        event = ask("PJRT_Buffer_ReadyEvent", buffer=buffer).event
        return event
    ask("PJRT_Event_Set", event=event, error_code="OK")
    return event
