"""What the guidebook's pictures have in common."""

from __future__ import annotations

from markupsafe import Markup


def arrow_tip(name: str) -> Markup:
    """The definition of the tip of arrows, as a `marker` with this id: no two pictures of a page may share one."""
    return Markup(
        '<defs><marker id="{}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8"'
        ' markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0 8 4 0 8z" class="tip"/></marker></defs>'
    ).format(name)
