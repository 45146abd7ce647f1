"""The fixture `recorded`: record parts of a test, and check them against budgets."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

import pytest

from framedex.budgets.model import Budget
from framedex.budgets.reading import budgets_named
from framedex.errors import FramedexError
from framedex.inprocess import Recorder
from framedex.plaintext import shell_word
from framedex.pytesting.recording import Recording


class Recorded:
    """The recorder of one test's blocks. Captures and indexes are kept only if a block exceeds its budget."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="framedex-"))
        self._recorder = Recorder(self._folder / "captures")
        self._recordings: list[Recording] = []
        self._is_kept = False

    def __call__(
        self,
        *,
        compiles: object = None,
        implicit_transfers: object = None,
        memory: int | str | None = None,
        clear_caches: bool = False,
    ) -> Block:
        """Record a `with` block, whose value is a `Recording`; the budgets are as those of the mark.

        Raises FramedexError if a budget is malformed.
        """
        named = {"compiles": compiles, "implicit_transfers": implicit_transfers, "memory": memory}
        return self.block(budgets_named(named), clear_caches=clear_caches)

    def block(self, budgets: Sequence[Budget], *, clear_caches: bool, whose: str = "this block") -> Block:
        """Record a block with parsed budgets; `whose` names their owner in the message about an exceeded budget."""
        self._recordings.append(Recording(self._folder / f"{len(self._recordings) + 1}"))
        return Block(self, self._recorder, self._recordings[-1], budgets, clear_caches, whose)

    def keep(self) -> None:
        """Keep the recordings, because a message refers to them."""
        self._is_kept = True

    def __enter__(self) -> Recorded:
        return self

    def __exit__(self, *_: object) -> None:
        for recording in self._recordings:
            recording.close()
        if not self._is_kept:
            shutil.rmtree(self._folder, ignore_errors=True)


class Block:
    """A `with` block that is recorded, and fails at its end if it exceeds a budget."""

    def __init__(
        self,
        recorded: Recorded,
        recorder: Recorder,
        recording: Recording,
        budgets: Sequence[Budget],
        clear_caches: bool,
        whose: str,
    ) -> None:
        self._recorded, self._recorder, self._recording = recorded, recorder, recording
        self._budgets, self._clear_caches, self._whose = budgets, clear_caches, whose
        self._stack = ExitStack()

    def __enter__(self) -> Recording:
        """Start recording. Raises FramedexError if that is impossible."""
        jax = sys.modules.get("jax")
        if self._clear_caches and jax is not None:
            jax.clear_caches()
        self._captures = self._stack.enter_context(self._recorder.block())
        return self._recording

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop recording, and fail if a budget is exceeded. An exception of the block takes precedence."""
        __tracebackhide__ = True
        self._stack.__exit__(kind, error, trace)
        self._recording.ended(self._captures)
        if error is None and self._budgets and (told := self._told()):
            pytest.fail(told, pytrace=self._whose != "this test")

    def _told(self) -> str:
        """The exceeded budgets, or why they cannot be judged; empty if all are kept."""
        try:
            broken = self._recording.hold_to(self._budgets)
        except FramedexError as error:
            return str(error)
        if not broken:
            return ""
        self._recorded.keep()
        index = shell_word(str(self._recording.index_path))
        more = f"`framedex --index {index} compiles`, `transfers` and `memory` tell more."
        return f"Over the budget of {self._whose}:\n{broken}\n{more}"
