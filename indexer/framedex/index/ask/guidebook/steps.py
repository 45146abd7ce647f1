"""The calls of a program's steps, in order, including calls made for it by other threads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby

from framedex.errorcodes import error_name
from framedex.index.ask.guidebook.stacks import Ways
from framedex.index.read.rows import Reader, chain, frames_by_id
from framedex.model import FrameRow, Language, LinkHow
from framedex.model.guidebook.observed import Road, Step, StepCall
from framedex.model.guidebook.programs import ProgramStep

MOST_CALLS = 200
"""Limit of shown calls per step."""

_MOST_READ = 100_000
"""Limit of calls of a capture; larger captures get no calls per step, since demonstration programs are small."""

_COLUMNS = "c.id, c.id - c.inside, s.leaf, s.python_leaf, b.name, t.name, t.label, c.duration, k.error"


def calls_of_steps(
    reader: Reader, capture: int, program: str, steps: Sequence[ProgramStep], ways: Ways
) -> tuple[Step, ...]:
    """Return each step with its calls, or without calls if the capture has more than `_MOST_READ`."""
    calls: dict[int, list[StepCall]] = {number: [] for number in range(len(steps))}
    for number, call in _Steps(reader, capture, program, steps, ways).each():
        calls[number].append(call)
    found = []
    for number, step in enumerate(steps):
        shown = _folded(calls[number])
        kept = tuple(shown[:MOST_CALLS])
        left_out = sum(1 + call.repeated for call in shown[MOST_CALLS:])
        found.append(Step(step.title, step.text, step.code, kept, left_out))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Standing:
    """The step of a stack's innermost line inside one, and the path from that line to the call."""

    step: int | None
    road: tuple[Road, ...]


class _Steps:
    """Assigns the calls of a capture to steps."""

    def __init__(self, reader: Reader, capture: int, program: str, steps: Sequence[ProgramStep], ways: Ways) -> None:
        self._reader = reader
        self._capture = capture
        self._program = program
        self._steps = steps
        self._ways = ways
        self._standing = cache(self._stand)
        # The last step, if it has no code, takes the calls after the program's end.
        self._end = len(steps) - 1 if steps and not steps[-1].code else None

    def each(self) -> Iterator[tuple[int, StepCall]]:
        """Yield (step number, call) in start order."""
        rows = self._reader.rows(
            f"SELECT {_COLUMNS} FROM call_rows c CROSS JOIN call_kinds k ON k.id = c.kind"
            " CROSS JOIN stacks s ON s.id = k.stack CROSS JOIN boundaries b ON b.id = k.boundary"
            " CROSS JOIN threads t ON t.id = k.thread JOIN captures p ON c.id BETWEEN p.first_call AND p.last_call"
            " WHERE p.id = ? AND p.calls <= ? ORDER BY c.id",
            self._capture,
            _MOST_READ,
        )
        linked = self._linked()
        standings = {call: self._standing(leaf, python_leaf, name) for call, _, leaf, python_leaf, name, *_ in rows}
        last_own = max((call for call, standing in standings.items() if standing.step is not None), default=0)
        step_of: dict[int, int | None] = {}
        depth_of: dict[int, int] = {}
        for call, outer, _, _, name, thread, label, duration, error in rows:
            depth_of[call] = depth_of.get(outer, -1) + 1
            after_all = self._end if call > last_own else None
            told = (standings[call].step, step_of.get(outer), linked.get(call), after_all)
            step = step_of[call] = next((each for each in told if each is not None), None)
            if step is not None:
                yield (
                    step,
                    StepCall(
                        function=name,
                        depth=depth_of[call],
                        thread=label if label == "main" else thread,
                        duration=duration if duration >= 0 else None,
                        error=error_name(error) if error > 0 else "",
                        road=standings[call].road,
                        repeated=0,
                    ),
                )

    def _stand(self, leaf: int, python_leaf: int, boundary: str) -> _Standing:
        """Return the step and the path of a stack with these end nodes."""
        frames = self._ways.chain(leaf)
        begin = next((at for at in reversed(range(len(frames))) if self._step_at(frames[at]) is not None), None)
        step = self._innermost_step(self._ways.chain(python_leaf)) if begin is None else self._step_at(frames[begin])
        way = self._ways.way(frames[begin or 0 :], boundary)
        road = (Road(each.function, each.language, each.place, 1, each.folded, ()) for each in way)
        return _Standing(step, tuple(road))

    def _innermost_step(self, frames: Sequence[FrameRow]) -> int | None:
        steps = (self._step_at(frame) for frame in reversed(frames))
        return next((step for step in steps if step is not None), None)

    def _step_at(self, frame: FrameRow) -> int | None:
        """Return the number of the step that contains a frame's line, or None."""
        if frame.function.language is Language.PYTHON and frame.function.module == self._program:
            for number, step in enumerate(self._steps):
                if step.first <= frame.line <= step.last:
                    return number
        return None

    def _linked(self) -> dict[int, int | None]:
        """Return the steps that dispatched calls to threads without Python, leaving out ambiguous links."""
        rows = self._reader.rows(
            "SELECT l.call, l.node FROM call_links l JOIN captures p ON l.call BETWEEN p.first_call AND p.last_call"
            " WHERE p.id = ? AND l.how <> ? AND p.calls <= ?",
            self._capture,
            LinkHow.CANDIDATES.value,
            _MOST_READ,
        )
        chains = {node: chain(self._reader, node) for _, node in rows}
        frames = frames_by_id(self._reader, {frame for each in chains.values() for frame in each})
        return {call: self._innermost_step([frames[frame] for frame in chains[node]]) for call, node in rows}


def _folded(calls: Sequence[StepCall]) -> list[StepCall]:
    """Fold consecutive calls that differ only in duration into the first one and a repeat count."""
    found = []
    for _, alike in groupby(calls, lambda call: replace(call, duration=None)):
        first, *others = alike
        found.append(replace(first, repeated=len(others)))
    return found
