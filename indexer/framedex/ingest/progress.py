"""What long work tells about its progress to a listener that it does not know."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol


class Progress(Protocol):
    """A listener: `task` opens a piece of work and gives a function to call with the number of units just done."""

    def task(self, description: str, total: int | None) -> AbstractContextManager[Callable[[int], None]]:
        """Begin a piece of work of `total` units (None: unknown)."""
        ...

    def note(self, text: str) -> None:
        """Say what can be done already while the work goes on."""
        ...


class Silence:
    """A listener that ignores everything."""

    def task(self, description: str, total: int | None) -> AbstractContextManager[Callable[[int], None]]:
        """Ignore the work."""
        return nullcontext(_ignore)

    def note(self, text: str) -> None:
        """Ignore the remark."""


def _ignore(amount: int) -> None:
    pass
