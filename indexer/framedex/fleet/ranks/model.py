"""The result of comparing the ranks of a job."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from framedex.model import Severity


class Kind(StrEnum):
    """The kind of a difference between ranks."""

    MISSING = "missing"  # the rank has no capture in the store
    CLAIMED = "claimed-twice"  # several captures claim this rank
    VERSIONS = "versions"  # different package versions
    FAILS = "fails"  # calls fail that succeed on most ranks
    HANG = "hang"  # a call never returned, while the others continued
    ENDED = "ended"  # the rank made its last call before the others
    SHAPE = "shape"
    PROGRAM = "program"
    RECOMPILED = "recompiled"
    EXTRA_CALL = "extra-call"
    MISSING_CALL = "missing-call"
    ORDER = "order"
    OTHER_CALL = "other-call"
    APART = "apart"  # almost no calls in common with the others
    OTHER_THREAD = "other-thread"  # calls that only this rank makes, on a thread that does not run the programs
    SLOW = "slow"  # late in most steps
    SLOW_STEP = "slow-step"
    CLOCK = "clock"


@dataclass(frozen=True, slots=True)
class Finding:
    """A difference between one rank, or several ranks, and the others.

    `tells` describes it in a sentence. `steps` are the affected steps of the job's loop, counted from 0; `step` is the
    first of them, or None outside the loop. `times` is the number of occurrences in the first of `ranks`, which are
    sorted. `path` and `line` are the Python line, or None if no line is responsible. `capture`, `call` and `stack` are
    those of the first rank; `other_rank` and `other_call` are the counterpart. `delay` is the total time, in ns, that
    the others waited for the rank, if it is known.
    """

    kind: Kind
    severity: Severity
    ranks: tuple[int, ...]
    tells: str
    step: int | None = None
    times: int = 1
    path: str | None = None
    line: int | None = None
    capture: str | None = None
    call: int | None = None
    stack: str | None = None
    other_rank: int | None = None
    other_call: int | None = None
    delay: int = 0
    steps: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Member:
    """The capture of a rank: its id, original path, host and number of calls."""

    rank: int
    capture: str
    path: str
    host: str
    calls: int


@dataclass(frozen=True, slots=True)
class Loop:
    """The loop by which times are compared: each step runs one program, at `path` and `line`.

    `steps` is the number of steps that most ranks ran, `step` their typical duration in ns.
    """

    path: str
    line: int
    function: str
    steps: int
    step: int


@dataclass(frozen=True, slots=True)
class Clock:
    """A rank's clock: its lead over the others at the start of the loop in ns, and its drift in ns per second."""

    rank: int
    offset: int
    drift: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """The differences between the ranks of a job, worst first.

    `compared` is the greatest number of compared calls of a rank. `clocks` is empty and `loop` None if they are
    unknown. `notes` has sentences about what could not be compared.
    """

    job: str
    members: tuple[Member, ...]
    compared: int
    loop: Loop | None
    clocks: tuple[Clock, ...]
    findings: tuple[Finding, ...]
    notes: tuple[str, ...] = ()
