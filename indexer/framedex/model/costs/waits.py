"""Waits of Python for the runtime, by program line, and the time breakdown of the steps of its loops."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from framedex.model.rows import PythonLine
    from framedex.model.tables import Table


class WaitHow(enum.Enum):
    """The reason of a wait."""

    READY = "result"  # block_until_ready, an event
    COPY = "copy to the host"  # float(x), np.asarray(x), device_get
    RUN = "run"  # a program launch that returned late: the program ran synchronously, or the queue was full


@dataclass(frozen=True, slots=True)
class Waits:
    """The time that a Python thread was blocked on the runtime in a line; durations in ns.

    Of `count` waits, `unsure` have no recorded end of the awaited work: they count until the thread's next call.
    `unended` have no recorded end at all: they took at least until its last call. The calls are the blocking ones, or
    the ones before the waits.
    """

    line: PythonLine | None
    outward: tuple[PythonLine, ...]
    how: WaitHow
    thread: str
    count: int
    unsure: int
    total_duration: int
    longest_duration: int
    longest_call: int
    first_call: int
    latest_call: int
    unended: int = 0


PARTS_OF_STEPS = ("compile", "dispatch", "transfer", "wait")
"""The parts of a loop step in the runtime, by the fields with their durations; the rest is `own`."""


@dataclass(frozen=True, slots=True)
class LoopStep:
    """One round of a loop of the program; times in ns.

    `compile`, `dispatch`, `transfer` and `wait` are non-overlapping times of the thread in the runtime.
    """

    number: int
    start: int
    duration: int
    compile: int
    dispatch: int
    transfer: int
    wait: int
    first_call: int

    @property
    def own(self) -> int:
        """The rest of `duration` in ns: the program itself."""
        return _own(self)


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop detected by repetition: a line of the program that is in every round, and its steps.

    Times in ns: `duration` and the fields after it are totals of all `rounds`, `median_duration` is of one round.
    `steps` has all rounds. If there are thousands, it has only the longest of each group; groups are equal in size.
    """

    capture: int
    thread: str
    line: PythonLine | None
    rounds: int
    start: int
    duration: int
    median_duration: int
    compile: int
    dispatch: int
    transfer: int
    wait: int
    steps: tuple[LoopStep, ...]

    @property
    def own(self) -> int:
        """The rest of `duration` in ns: the program itself."""
        return _own(self)


def _own(spent: LoopStep | Loop) -> int:
    in_runtime: int = sum(getattr(spent, part) for part in PARTS_OF_STEPS)
    return max(spent.duration - in_runtime, 0)


@dataclass(frozen=True, slots=True)
class Waiting:
    """All waits and loops of some captures.

    `recorded` is the time from the first call to the end of the last. `device` is the part of it in which a program is
    known to have run (None: unknown). Both are in ns, as totals of the captures.

    In `unseen` ns, `unseen_times` times, a thread made no call until its own program had ended. Whether it waited is
    not recorded. `unseen_call` is the call before the longest of these times, or 0.

    `ended_by` has the signals that killed programs, one for each such capture. Waits between a thread's last call and
    the signal are not recorded.
    """

    lines: Table[Waits]
    loops: Table[Loop]
    recorded: int
    device: int | None
    unseen: int = 0
    unseen_times: int = 0
    unseen_call: int = 0
    ended_by: tuple[str, ...] = ()
