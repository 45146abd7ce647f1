"""Choose the process for a recorded test, and keep its state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from framedex.errors import FramedexError
from framedex.pytesting.apart import Apart
from framedex.pytesting.marks import Asked, asked_of

if TYPE_CHECKING:
    from framedex.pytesting.recorded import Recorded

_asked = pytest.StashKey[Asked]()
_recorded: pytest.StashKey[Recorded] = pytest.StashKey()
_apart = pytest.StashKey[Apart]()


@contextmanager
def arranged(item: pytest.Item, typed: Sequence[str], variable: str) -> Iterator[None]:
    """Within the block, run the test so that it is recorded: in this process or in one of its own.

    `typed` are pytest's arguments. `variable` is the environment variable with the report file for another process.
    """
    try:
        # Both need the native part; without it the test must fail with the reason.
        from framedex.inprocess import can_record_here
        from framedex.pytesting.recorded import Recorded

        asked = asked_of(item)
        apart = None if can_record_here() else Apart(item, typed, variable)
    except FramedexError as error:
        _fail_at_setup(item, str(error))
        yield
        return
    if apart is not None:
        item.stash[_apart] = apart
        apart.replace()
        yield
        return
    if asked is not None:
        item.stash[_asked] = asked
    with Recorded() as recorded:
        item.stash[_recorded] = recorded
        yield


@contextmanager
def held_to_mark(item: pytest.Item) -> Iterator[None]:
    """Record the block if the test runs in this process, and fail if it exceeds the budgets of its mark."""
    asked = item.stash.get(_asked, None)
    if asked is None:
        yield
        return
    with recorded_of(item).block(asked.budgets, clear_caches=asked.clear_caches, whose="this test"):
        yield


def recorded_of(item: pytest.Item) -> Recorded:
    """The recorder of a test in this process. Raises FramedexError if the test did not request one."""
    recorded = item.stash.get(_recorded, None)
    if recorded is None:
        raise FramedexError(
            "This test was not marked for recording.",
            "Add `recorded` to its arguments, or to those of its fixtures.",
        )
    return recorded


def told_elsewhere(item: pytest.Item, when: str) -> pytest.TestReport | None:
    """The report of another process on a phase of the test; None if the test runs here."""
    apart = item.stash.get(_apart, None)
    return apart.reports.get(when) if apart is not None else None


def _fail_at_setup(item: pytest.Item, text: str) -> None:
    def setup() -> None:
        pytest.fail(text, pytrace=False)

    item.setup = setup  # type: ignore[method-assign]
