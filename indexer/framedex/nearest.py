"""What somebody meant who wrote a name that is none."""

from __future__ import annotations

from collections.abc import Iterable

_LIKENESS = 0.5  # of difflib: two of three letters, in their order


def nearest(name: str, known: Iterable[str], likeness: float = _LIKENESS) -> str | None:
    """The known name that is most like this one, without regard to case; None where none is so like it (of difflib)."""
    import difflib  # wrong names are rare

    spelled = {each.lower(): each for each in known}
    found = difflib.get_close_matches(name.lower(), spelled, 1, likeness)
    return spelled[found[0]] if found else None
