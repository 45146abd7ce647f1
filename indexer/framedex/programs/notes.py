"""JAX's note on a compiled program, as `framedex_native/ffi/notes.py` writes it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from framedex.model.programs import Noted, NotedArgument


def read_note(data: bytes) -> Noted | None:
    """Return the note on a program; None if it is malformed."""
    if not data.startswith(b"{"):
        return None
    try:
        told = json.loads(data)
        function, _, place = str(told["function"]).partition(" at ")
        return Noted(
            name=str(told["name"]),
            function=function if place else "",
            defined=place,
            arguments=tuple(_argument(*each) for each in told["arguments"]),
            statics=tuple((str(name), str(value)) for name, value in told["statics"]),
            donated=tuple(place for place in told.get("donated", ()) if type(place) is int),
        )
    except (ValueError, LookupError, TypeError, RecursionError):
        return None


def note_from_fields(told: Mapping[str, Any]) -> Noted:
    """Return a note from its JSON fields, in the form of `dataclasses.asdict`."""
    return Noted(
        name=told["name"],
        function=told["function"],
        defined=told["defined"],
        arguments=tuple(NotedArgument(**each) for each in told["arguments"]),
        statics=tuple((name, value) for name, value in told["statics"]),
        donated=tuple(told.get("donated", ())),
    )


def _argument(name: Any, kind: Any, is_weak: Any) -> NotedArgument:
    return NotedArgument(str(name), str(kind), bool(is_weak))
