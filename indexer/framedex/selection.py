"""What a recording lacks, so that it does not tell everything: calls left out on purpose, and those after its end."""

from __future__ import annotations

from collections.abc import Iterable

STOPPED_EARLY = "Recording stopped early"
"""What the sentence begins with that says so among the problems of a capture."""

UNNAMED = "its frames stay as module and offset."
"""What the sentence ends with that says of a binary that it gives no names."""


def early_stop(problems: Iterable[str]) -> str | None:
    """What the problems of a capture say of calls that are missing at its end; None where it goes to its program's."""
    return next((problem for problem in problems if problem.startswith(STOPPED_EARLY)), None)


def doubts(problems: Iterable[str]) -> list[str]:
    """Those of a capture's problems by which what it tells may be wrong or lack something, an early stop apart.

    That a binary is not here takes names from frames, and nothing from calls.
    """
    return [each for each in problems if not each.startswith(STOPPED_EARLY) and not each.endswith(UNNAMED)]
