"""Parse the marks of recorded tests, choose the process of each test, and store its state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from framedex.base.errors import FramedexError
from framedex.budgets.model import Budget, parse_budgets
from framedex.integrations.pytesting.child_process import SubprocessTest

if TYPE_CHECKING:
    from framedex.integrations.pytesting.recordings import BlockRecorder


_REMEDY = "Write it like @pytest.mark.framedex(compiles=1, implicit_transfers=0, memory='2GiB')."


@dataclass(frozen=True, slots=True)
class MarkedBudgets:
    """The budgets of a test, and whether to clear JAX's compilation caches before its body."""

    budgets: tuple[Budget, ...]
    clear_caches: bool = False


def parse_marks(item: pytest.Item) -> MarkedBudgets | None:
    """The budgets in the marks of a test; its own marks override those of its class and module.

    None without a mark. Raises FramedexError if a mark is malformed.
    """
    marks = list(item.iter_markers("framedex"))
    if not marks:
        return None
    values: dict[str, object] = {}
    for mark in reversed(marks):
        if mark.args:
            raise FramedexError(
                f"@pytest.mark.framedex takes only keyword arguments, not {mark.args[0]!r}.",
                _REMEDY,
            )
        values |= mark.kwargs
    clear_caches = bool(values.pop("clear_caches", False))
    if not values:
        raise FramedexError("@pytest.mark.framedex has no budget.", _REMEDY)
    return MarkedBudgets(parse_budgets(values), clear_caches)


_MARKED_BUDGETS = pytest.StashKey[MarkedBudgets]()
_BLOCK_RECORDER: pytest.StashKey[BlockRecorder] = pytest.StashKey()
_SUBPROCESS_TEST = pytest.StashKey[SubprocessTest]()


@contextmanager
def recording_process(item: pytest.Item, typed: Sequence[str], variable: str) -> Iterator[None]:
    """Within the block, run the test so that it is recorded: in this process or in a child process.

    `typed` are pytest's arguments. `variable` is the environment variable with the report file of a child process.
    """
    try:
        # Both need the native part; without it the test must fail with the reason.
        from framedex.integrations.process_recorder import can_record_here
        from framedex.integrations.pytesting.recordings import BlockRecorder

        budgets = parse_marks(item)
        child = None if can_record_here() else SubprocessTest(item, typed, variable)
    except FramedexError as error:
        _fail_at_setup(item, str(error))
        yield
        return
    if child is not None:
        item.stash[_SUBPROCESS_TEST] = child
        child.replace()
        yield
        return
    if budgets is not None:
        item.stash[_MARKED_BUDGETS] = budgets
    with BlockRecorder() as recorded:
        item.stash[_BLOCK_RECORDER] = recorded
        yield


@contextmanager
def check_marked_budgets(item: pytest.Item) -> Iterator[None]:
    """Record the block, and fail if it exceeds the budgets of the test's mark; do nothing if a child runs the test."""
    marked = item.stash.get(_MARKED_BUDGETS, None)
    if marked is None:
        yield
        return
    with recorder_of(item).block(marked.budgets, clear_caches=marked.clear_caches, owner="this test"):
        yield


def recorder_of(item: pytest.Item) -> BlockRecorder:
    """The recorder of a test in this process. Raises FramedexError if the test did not request one."""
    recorded = item.stash.get(_BLOCK_RECORDER, None)
    if recorded is None:
        raise FramedexError(
            "This test is not marked for recording.",
            "Add `recorded` to its arguments, or to those of its fixtures.",
        )
    return recorded


def run_in_subprocess(item: pytest.Item, phase: str) -> pytest.TestReport | None:
    """The report of the child process on a phase of the test; None if the test runs here."""
    child = item.stash.get(_SUBPROCESS_TEST, None)
    return child.reports.get(phase) if child is not None else None


def _fail_at_setup(item: pytest.Item, text: str) -> None:
    def setup() -> None:
        pytest.fail(text, pytrace=False)

    item.setup = setup  # type: ignore[method-assign]
