"""Where a test that is to be recorded runs, and what is kept of it meanwhile."""

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
    """Within the block, running the test has it recorded: here, or in a process of its own.

    `typed` are pytest's arguments; `variable` is one of the environment that tells another process where to report to.
    """
    try:
        # They need the native part, and who has none is to be told of the test.
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
    """Record the block, where it runs here, and fail where it does not keep to the budgets of the test's mark."""
    asked = item.stash.get(_asked, None)
    if asked is None:
        yield
        return
    with recorded_of(item).block(asked.budgets, clear_caches=asked.clear_caches, whose="this test"):
        yield


def recorded_of(item: pytest.Item) -> Recorded:
    """What records the test here. Raises FramedexError where nobody knew that it would be asked for."""
    recorded = item.stash.get(_recorded, None)
    if recorded is None:
        raise FramedexError(
            "This test was not marked for recording.",
            "Add `recorded` to its arguments, or to those of its fixtures.",
        )
    return recorded


def told_elsewhere(item: pytest.Item, when: str) -> pytest.TestReport | None:
    """What another process reported of a phase of the test; None where it ran here."""
    apart = item.stash.get(_apart, None)
    return apart.reports.get(when) if apart is not None else None


def _fail_at_setup(item: pytest.Item, text: str) -> None:
    def setup() -> None:
        pytest.fail(text, pytrace=False)

    item.setup = setup  # type: ignore[method-assign]
