"""The interface through which long work reports its progress."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Protocol


class AdvanceCallback(Protocol):
    """Receives the number of units just done, and optionally the number of calls in them."""

    def __call__(self, amount: int, /, calls: int = 0) -> None:
        """Report finished units."""


class Progress(Protocol):
    """A listener: `task` opens a piece of work and returns a function that reports finished units."""

    def task(self, description: str, total: int | None) -> AbstractContextManager[AdvanceCallback]:
        """Start a piece of work of `total` units (None: unknown)."""
        ...

    def note(self, text: str) -> None:
        """Report a result that is usable before the work ends."""
        ...


class SilentProgress:
    """A listener that ignores everything."""

    def task(self, description: str, total: int | None) -> AbstractContextManager[AdvanceCallback]:
        """Ignore the work."""
        return nullcontext(_ignore)

    def note(self, text: str) -> None:
        """Ignore the note."""


class QueryProgress:
    """Reports the progress of a query that reads many calls. Any function that the query calls can add to it."""

    def __init__(self) -> None:
        self.listener: Progress = SilentProgress()
        self._advance: AdvanceCallback = _ignore
        self._reads = self._reported = 0
        self._calls_per_read = 1.0

    @contextmanager
    def expect_calls(self, calls: int, reads: int | None = None) -> Iterator[None]:
        """Report progress within the block: `calls` calls in `reads` reads, by default one read per call.

        `reads` is higher than `calls` if some calls need several reads.
        """
        total = reads or calls
        self._reads = self._reported = 0
        self._calls_per_read = calls / max(total, 1)
        with self.listener.task("Reading calls", total) as self._advance:
            try:
                yield
            finally:
                self._advance = _ignore

    def advance(self, reads: int) -> None:
        """Report this many more finished reads."""
        self._reads += reads
        calls = int(self._reads * self._calls_per_read) - self._reported
        self._reported += calls
        self._advance(reads, calls)


def _ignore(amount: int, /, calls: int = 0) -> None:
    pass
