"""The fixture `recorded`: records parts of a test, and holds them to budgets."""

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
    """Records blocks of one test; their captures and indexes are kept only where one is over its budget."""

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

        Raises FramedexError where a budget cannot be understood.
        """
        named = {"compiles": compiles, "implicit_transfers": implicit_transfers, "memory": memory}
        return self.block(budgets_named(named), clear_caches=clear_caches)

    def block(self, budgets: Sequence[Budget], *, clear_caches: bool, whose: str = "this block") -> Block:
        """The same for budgets that were read before; `whose` they are is said where one is broken."""
        self._recordings.append(Recording(self._folder / f"{len(self._recordings) + 1}"))
        return Block(self, self._recorder, self._recordings[-1], budgets, clear_caches, whose)

    def keep(self) -> None:
        """Keep what was recorded: somebody is told to look at it."""
        self._is_kept = True

    def __enter__(self) -> Recorded:
        return self

    def __exit__(self, *_: object) -> None:
        for recording in self._recordings:
            recording.close()
        if not self._is_kept:
            shutil.rmtree(self._folder, ignore_errors=True)


class Block:
    """A `with` block that is recorded, and fails at its end where it is over a budget."""

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
        """Begin to record. Raises FramedexError where that cannot be."""
        jax = sys.modules.get("jax")
        if self._clear_caches and jax is not None:
            jax.clear_caches()
        self._captures = self._stack.enter_context(self._recorder.block())
        return self._recording

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End, and fail where a budget is broken; an exception of the block's own goes on its way."""
        __tracebackhide__ = True
        self._stack.__exit__(kind, error, trace)
        self._recording.ended(self._captures)
        if error is None and self._budgets and (told := self._told()):
            pytest.fail(told, pytrace=self._whose != "this test")

    def _told(self) -> str:
        """What is over a budget, or why that is not known; empty where nothing is."""
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
