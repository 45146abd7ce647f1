"""Causal links: from a call on a native thread to the Python stack that caused it.

XLA compiles on its own threads while the requesting Python thread waits inside one native call. Such a thread makes no
calls meanwhile, but often some just before and just after, from the same Python. The common frames of those two stacks
are where it waited. That is an inference: a link has its evidence (`LinkEvidence`), and is never part of the stack.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from framedex.model import Capture, LinkEvidence, MergeOutcome, PythonFrame, Stack
from framedex.programs.objects import ObjectRole, find_boundary_function
from tests.oracle.nesting import enclosing_calls
from tests.oracle.work import follow_work

_MAX_CANDIDATES = 8  # more of them add no information
_FOREVER = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class CausalLink:
    """A call (a row of `Capture.calls`) and the stack that caused it, on a thread of `Capture.threads`.

    `frames` are indices into `Capture.frames`, innermost first: the outer part of a recorded stack.
    """

    call: int
    thread: int
    frames: tuple[int, ...]
    how: LinkEvidence


@dataclass(frozen=True, slots=True)
class _Pause:
    """A time in which a Python thread made no calls, between two calls whose stacks share `frames`."""

    thread: int
    after: int
    frames: tuple[int, ...]
    is_one_line: bool  # all Python frames of both: it did not leave the native call in which the first was made


def find_causal_links(capture: Capture) -> tuple[CausalLink, ...]:
    """The links of all calls on threads that never ran Python, as inferred from other threads' calls."""
    return tuple(_Finder(capture).links())


class _Finder:
    def __init__(self, capture: Capture) -> None:
        self._capture = capture
        self._thread = capture.calls.thread.tolist()
        has_python = np.array([_has_python(capture, stack) for stack in capture.stacks] or [False], np.bool_)
        self._with_python = frozenset(np.unique(capture.calls.thread[has_python[capture.calls.stack]]).tolist())
        self._shared = cache(self._compare)

    def links(self) -> Iterator[CausalLink]:
        calls = self._capture.calls
        pool = np.flatnonzero(~np.isin(calls.thread, list(self._with_python)))
        if not len(pool) or not self._with_python:
            return
        outermost = _outermost(self._capture)
        work = follow_work(self._capture, self._with_python)
        pauses = self._pauses_during(pool[outermost[pool] == pool], outermost)
        for call in pool.tolist():
            root = int(outermost[call])
            taken = work.taken_by.get(work.of_call.get(root, -1))
            taken_by = None if taken is None else (self._thread[taken], int(outermost[taken]))
            for pause, how in self._judge(root, pauses.get(root, ()), taken_by):
                yield CausalLink(call, pause.thread, pause.frames, how)

    def _judge(
        self, call: int, pauses: Sequence[_Pause], taken_by: tuple[int, int] | None
    ) -> Iterator[tuple[_Pause, LinkEvidence]]:
        """The pauses of threads that may have caused the call; `taken_by`: who received its result (thread, call)."""
        if taken_by is not None:
            pauses = [pause for pause in pauses if pause.thread == taken_by[0]]
            if pauses and pauses[0].after == taken_by[1]:
                yield pauses[0], LinkEvidence.HANDED_OVER
                return
        elif self._destroys(call):  # with no waiting thread
            return
        # A thread that moved to another line may have waited for something else, unless it is the only one.
        pauses = [pause for pause in pauses if pause.is_one_line or len(self._with_python) == 1]
        if self._lacks_calls() or len(pauses) > _MAX_CANDIDATES:
            return
        yield from ((pause, LinkEvidence.BETWEEN if len(pauses) == 1 else LinkEvidence.CANDIDATES) for pause in pauses)

    def _pauses_during(self, pool: np.ndarray, outermost: np.ndarray) -> dict[int, list[_Pause]]:
        """For each of these calls the pauses, one per thread at most, that begin before and end after it."""
        calls = self._capture.calls
        end = np.where(calls.duration < 0, _FOREVER, calls.start + calls.duration)
        found: dict[int, list[_Pause]] = {}
        for thread in sorted(self._with_python):
            rows = np.flatnonzero((calls.thread == thread) & (outermost == np.arange(len(calls))))
            after = np.searchsorted(calls.start[rows], end[pool])
            busy_until = np.maximum.accumulate(end[rows])
            paused = (after > 0) & (after < len(rows)) & (busy_until[np.maximum(after - 1, 0)] <= calls.start[pool])
            for call, place in zip(pool[paused].tolist(), after[paused].tolist(), strict=True):
                first, second = (int(calls.stack[rows[each]]) for each in (place - 1, place))
                frames, is_one_line = self._shared(first, second)
                if frames:
                    found.setdefault(call, []).append(_Pause(thread, int(rows[place]), frames, is_one_line))
        return found

    def _compare(self, first: int, second: int) -> tuple[tuple[int, ...], bool]:
        """The common outer frames of two stacks, and whether they include all Python frames of both.

        Empty without Python frames.
        """
        one, other = (_chain(self._capture.stacks[stack]) for stack in (first, second))
        count = 0
        for mine, others in zip(reversed(one), reversed(other), strict=False):
            if mine != others:
                break
            count += 1
        shared = one[len(one) - count :]
        if not any(map(self._is_python, shared)):
            return (), False
        rest = one[: len(one) - count] + other[: len(other) - count]
        return shared, not any(map(self._is_python, rest))

    def _is_python(self, frame: int) -> bool:
        return isinstance(self._capture.frames[frame], PythonFrame)

    def _destroys(self, call: int) -> bool:
        function = self._capture.functions[self._capture.calls.function[call]]
        return any(known.role is ObjectRole.DESTROYS for known in find_boundary_function(function.name).inputs)

    def _lacks_calls(self) -> bool:
        """Whether the recording omitted calls, so that a thread without one may have made some."""
        return bool(self._capture.metadata.selected_by)


def _chain(stack: Stack) -> tuple[int, ...]:
    """The frames to compare: the Python ones where merging failed, and none of a truncated merged stack."""
    if stack.outcome is not MergeOutcome.MERGED:
        return stack.python
    return () if stack.is_truncated else stack.frames


def _has_python(capture: Capture, stack: Stack) -> bool:
    return any(isinstance(capture.frames[frame], PythonFrame) for frame in stack.python or stack.frames)


def _outermost(capture: Capture) -> np.ndarray:
    """For each call the row of the outermost call of its thread that encloses it: often itself."""
    found: list[int] = []
    for call, parent in enumerate(enclosing_calls(capture.calls)):
        found.append(call if parent is None else found[parent])
    return np.array(found, np.int64)
