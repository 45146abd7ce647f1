"""What a recording lacks, so that it does not tell everything: calls left out on purpose, and those after its end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

STOPPED_EARLY = "Recording stopped early"
"""What the sentence begins with that says so among the problems of a capture."""


def early_stop(problems: Iterable[str]) -> str | None:
    """What the problems of a capture say of calls that are missing at its end; None where it goes to its program's."""
    return next((problem for problem in problems if problem.startswith(STOPPED_EARLY)), None)


def selected_by(metadata: Mapping[str, object]) -> tuple[str, ...]:
    """The variables by which the calls of a capture were selected, as its recorder noted them; empty: all are there."""
    names = metadata.get("selected_by")
    return tuple(sorted(map(str, names))) if isinstance(names, list) else ()
