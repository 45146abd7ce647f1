"""The calls of a definition as the text that they are kept as: `[[line, column, kind, callee, written], ...]`, JSON."""

from __future__ import annotations

import json

from framedex.model import CallSite


def call_sites(text: str | None) -> tuple[CallSite, ...]:
    """The calls in a text that the extractor made of them; no calls for None."""
    return tuple(CallSite(*site) for site in json.loads(text)) if text else ()
