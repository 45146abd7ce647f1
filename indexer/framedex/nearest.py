"""Suggestions for a misspelled name."""

from __future__ import annotations

from collections.abc import Iterable

_LIKENESS = 0.5  # difflib ratio: two of three letters, in their order


def nearest(name: str, known: Iterable[str], likeness: float = _LIKENESS) -> str | None:
    """The known name most similar to this one, ignoring case; None if no difflib ratio reaches `likeness`."""
    import difflib  # wrong names are rare

    spelled = {each.lower(): each for each in known}
    found = difflib.get_close_matches(name.lower(), spelled, 1, likeness)
    return spelled[found[0]] if found else None
