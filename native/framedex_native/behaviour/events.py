"""Waiting for and creating events of the runtime."""

from __future__ import annotations

from .errors import Failed
from .handles import Handle
from .table_calls import call_table


def await_event(event: Handle) -> None:
    """Wait for an event and destroy it. Raises Failed with the event's error."""
    try:
        call_table("PJRT_Event_Await", event=event)
    finally:
        call_table("PJRT_Event_Destroy", event=event)


def ready_event(buffer: Handle | None = None) -> Handle:
    """Create a ready event, or take the ready event of `buffer` if the table cannot create events.

    Raises Failed if both are impossible.
    """
    event: Handle
    try:
        event = call_table("PJRT_Event_Create").event
    except Failed:
        if buffer is None:
            raise
        event = call_table("PJRT_Buffer_ReadyEvent", buffer=buffer).event
        return event
    call_table("PJRT_Event_Set", event=event, error_code="OK")
    return event
