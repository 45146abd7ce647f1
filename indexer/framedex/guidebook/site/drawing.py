"""Shared parts of the guidebook's pictures."""

from __future__ import annotations

from markupsafe import Markup


def arrow_tip(name: str) -> Markup:
    """Return the definition of an arrow tip, as a `marker` with this id, which must be unique on a page."""
    return Markup(
        '<defs><marker id="{}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8"'
        ' markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0 8 4 0 8z" class="tip"/></marker></defs>'
    ).format(name)
