"""What long work tells about its progress to a listener that it does not know."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
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


class Looking:
    """Tells a listener how far a question is that looks at many calls, whichever part of it looks at them."""

    def __init__(self) -> None:
        self.listener: Progress = Silence()
        self._advance: Advance = _ignore
        self._looks = self._told = 0
        self._calls_a_look = 1.0

    @contextmanager
    def through(self, calls: int, looks: int | None = None) -> Iterator[None]:
        """Inside, so many calls are gone through, with so many looks: as many, or more where some take several."""
        total = looks or calls
        self._looks = self._told = 0
        self._calls_a_look = calls / max(total, 1)
        with self.listener.task("Reading calls", total) as self._advance:
            try:
                yield
            finally:
                self._advance = _ignore

    def passed(self, looks: int) -> None:
        """So many more looks are done."""
        self._looks += looks
        calls = int(self._looks * self._calls_a_look) - self._told
        self._told += calls
        self._advance(looks, calls)


def _ignore(amount: int, /, calls: int = 0) -> None:
    pass
