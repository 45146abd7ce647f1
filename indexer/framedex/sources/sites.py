"""The stored form of a definition's calls: `[[line, column, kind, callee, written], ...]` as JSON."""

from __future__ import annotations

import json

from framedex.model import CallSite


def call_sites(text: str | None) -> tuple[CallSite, ...]:
    """Parse calls from the extractor's JSON; empty for None."""
    return tuple(CallSite(*site) for site in json.loads(text)) if text else ()
