"""Where Python waits for the runtime, by the lines of the program, and what the steps of its loops consist of."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from framedex.model.rows import PythonLine
    from framedex.model.tables import Table


class WaitHow(enum.Enum):
    """What a thread was waiting for."""

    READY = "result"  # block_until_ready, an event
    COPY = "copy to the host"  # float(x), np.asarray(x), device_get
    RUN = "run"  # a call that runs a program and returned late: it ran in it, or its queue was full


@dataclass(frozen=True, slots=True)
class Waits:
    """The time in which a thread of Python was blocked on the runtime in a line; durations in ns.

    Of `count` waits nothing tells of the `unsure` ones when what was waited for was there: they count to the thread's
    next call. The recording has no end of the `unended` ones: they took at least until its last call. Calls are those
    that it was blocked in, or after.
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
"""What the steps of a loop spend in the runtime, by the fields that tell how long; the rest is `own`."""


@dataclass(frozen=True, slots=True)
class LoopStep:
    """One round of a loop of the program; times in ns: what of it went where.

    `compile`, `dispatch`, `transfer` and `wait` are times of the thread in the runtime, which do not overlap.
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
        """What is left of `duration`, ns: the program itself."""
        return _own(self)


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop that was found by what it repeats: a line of the program that is in every round, and its steps.

    Times in ns: `duration` and what follows it are of all `rounds` together, `median_duration` is of one. `steps` are
    all rounds, or of thousands the longest of equal numbers of them.
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
        """What is left of `duration`, ns: the program itself."""
        return _own(self)


def _own(spent: LoopStep | Loop) -> int:
    in_runtime: int = sum(getattr(spent, part) for part in PARTS_OF_STEPS)
    return max(spent.duration - in_runtime, 0)


@dataclass(frozen=True, slots=True)
class Waiting:
    """All of it for some captures. `recorded` is from the first call to the end of the last, `device` in how much of
    that a program is known to have been under way (None: not known), both in ns, the captures' together.

    In `unseen` ns, `unseen_times` times, a thread made no call until a program of its own had ended: whether it waited
    is not recorded. `unseen_call` is the call before the longest of these times, or 0.

    `ended_by` names the signals that ended programs, one for each such capture: how long a thread waited between its
    last call and the signal is not recorded.
    """

    lines: Table[Waits]
    loops: Table[Loop]
    recorded: int
    device: int | None
    unseen: int = 0
    unseen_times: int = 0
    unseen_call: int = 0
    ended_by: tuple[str, ...] = ()
