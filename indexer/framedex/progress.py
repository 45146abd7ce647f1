"""What long work tells about its progress to a listener that it does not know."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Protocol


class Advance(Protocol):
    """Takes the number of units just done, and how many calls they held where those are what is worth showing."""

    def __call__(self, amount: int, /, calls: int = 0) -> None:
        """Note what was done."""


class Progress(Protocol):
    """A listener: `task` opens a piece of work and gives a function to call with what was just done."""

    def task(self, description: str, total: int | None) -> AbstractContextManager[Advance]:
        """Begin a piece of work of `total` units (None: unknown)."""
        ...

    def note(self, text: str) -> None:
        """Say what can be done already while the work goes on."""
        ...


class Silence:
    """A listener that ignores everything."""

    def task(self, description: str, total: int | None) -> AbstractContextManager[Advance]:
        """Ignore the work."""
        return nullcontext(_ignore)

    def note(self, text: str) -> None:
        """Ignore the remark."""


def _ignore(amount: int, /, calls: int = 0) -> None:
    pass
