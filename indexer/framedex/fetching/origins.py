"""Where objects come from: a repository that git fetches from, or the objects of a clone on this machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from framedex.fetching.store import ObjectStore
from framedex.fetching.wanted import Wanted

Told = Callable[[int, int], None]
"""Gets how many objects of how many have come."""


class OtherCommitError(Exception):
    """A repository answers with another commit than the one that is wanted; the text says which."""


class Origin(Protocol):
    """A place that may have what is wanted. Each method raises GitFailedError where it fails."""

    @property
    def address(self) -> str:
        """What it is called."""
        ...

    def bring_commit(self, store: ObjectStore, wanted: Wanted, told: Told) -> str | None:
        """Bring a commit with all its folders into a store; its id. None where it is not there."""
        ...

    def bring_contents(self, store: ObjectStore, wanted: Wanted, contents: Sequence[str], told: Told) -> None:
        """Bring the contents of files, at least those that are there."""
        ...
