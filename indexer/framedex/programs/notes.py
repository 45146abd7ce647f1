"""JAX's note on a compiled program, as `framedex_native/ffi/notes.py` writes it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from framedex.model.programs import CompileNote, NoteArgument


def read_note(data: bytes) -> CompileNote | None:
    """Return the note on a program; None if it is malformed."""
    if not data.startswith(b"{"):
        return None
    try:
        fields = json.loads(data)
        function, _, place = str(fields["function"]).partition(" at ")
        return CompileNote(
            name=str(fields["name"]),
            function=function if place else "",
            defined=place,
            arguments=tuple(_build_argument(*each) for each in fields["arguments"]),
            statics=tuple((str(name), str(value)) for name, value in fields["statics"]),
            donated=tuple(place for place in fields.get("donated", ()) if type(place) is int),
            keys=_read_keys(fields.get("keys")),
            cache_key=tuple((str(part), str(value)) for part, value in fields.get("cache_key", ())),
            cache_minimum_s=float(fields.get("cache_minimum_s", 0)),
        )
    except (ValueError, LookupError, TypeError, RecursionError):
        return None


def build_note(fields: Mapping[str, Any]) -> CompileNote:
    """Return a note from its JSON fields, in the form of `dataclasses.asdict`."""
    return CompileNote(
        name=fields["name"],
        function=fields["function"],
        defined=fields["defined"],
        arguments=tuple(NoteArgument(**each) for each in fields["arguments"]),
        statics=tuple((name, value) for name, value in fields["statics"]),
        donated=tuple(fields.get("donated", ())),
        keys=_read_keys(fields.get("keys")),
        cache_key=tuple((part, value) for part, value in fields.get("cache_key", ())),
        cache_minimum_s=fields.get("cache_minimum_s", 0.0),
    )


def _read_keys(keys: Any) -> tuple[tuple[str, str, str], ...] | None:
    return tuple((str(kind), str(subject), str(value)) for kind, subject, value in keys) if keys else None


def _build_argument(name: Any, kind: Any, is_weak: Any) -> NoteArgument:
    return NoteArgument(str(name), str(kind), bool(is_weak))
