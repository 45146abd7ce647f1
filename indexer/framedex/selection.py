"""What a recording leaves out on purpose."""

from __future__ import annotations

from collections.abc import Mapping


def selected_by(metadata: Mapping[str, object]) -> tuple[str, ...]:
    """The variables by which the calls of a capture were selected, as its recorder noted them; empty: all are there."""
    names = metadata.get("selected_by")
    return tuple(sorted(map(str, names))) if isinstance(names, list) else ()
