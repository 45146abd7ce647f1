"""What the problems of a capture, which are sentences, say of what it tells: that it ends early, or may be wrong."""

from __future__ import annotations

from collections.abc import Iterable

STOPPED_EARLY = "Recording stopped early"
"""The beginning of the sentence that says of a capture that calls are missing at its end."""

UNNAMED = "its frames stay as module and offset."
"""The end of each sentence that says of a binary that it gives no names."""


def early_stop(problems: Iterable[str]) -> str | None:
    """The sentence that says which calls are missing at the end of a capture, and why; None where none are."""
    return next((problem for problem in problems if problem.startswith(STOPPED_EARLY)), None)


def doubts(problems: Iterable[str]) -> list[str]:
    """The problems by which what a capture tells may be wrong or lack something, apart from an early stop.

    A binary that gives no names is none of them: it takes names from frames, and nothing from calls.
    """
    return [each for each in problems if not each.startswith(STOPPED_EARLY) and not each.endswith(UNNAMED)]
