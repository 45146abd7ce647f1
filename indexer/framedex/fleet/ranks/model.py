"""What is found about the ranks of a job."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from framedex.model import Severity


class Kind(StrEnum):
    """What a rank does otherwise than the others."""

    MISSING = "missing"  # no capture of it is in the store
    CLAIMED = "claimed-twice"  # two captures say that they are this rank
    VERSIONS = "versions"  # other versions of packages
    FAILS = "fails"  # calls do that succeed in the others
    HANG = "hang"  # a call that never returned, where the others went on
    ENDED = "ended"  # it stopped before the others
    SHAPE = "shape"
    PROGRAM = "program"
    RECOMPILED = "recompiled"
    EXTRA_CALL = "extra-call"
    MISSING_CALL = "missing-call"
    ORDER = "order"
    OTHER_CALL = "other-call"
    APART = "apart"  # next to nothing is as in the others
    OTHER_THREAD = "other-thread"  # a thread beside the one that runs programs does what it does nowhere else
    SLOW = "slow"  # in most steps it comes later than the others
    SLOW_STEP = "slow-step"
    CLOCK = "clock"


@dataclass(frozen=True, slots=True)
class Finding:
    """What one rank, or several in the same way, do otherwise than the others.

    `tells` says it in a sentence. `steps` are those of the job's loop in which it shows, counted from 0, and `step` the
    first of them, None outside of it; `times` how often it shows in the first of `ranks`, which are ordered. `path` and
    `line` are of the program's Python there, None where no line is to blame. `capture`, `call` and `stack` lead to the
    first of these ranks' call; `other_rank` and `other_call` to what another rank does there. `delay` is how long the
    others waited for it in ns, as far as that can be told: all steps together.
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
    """The capture that is compared as a rank: an id, where it lay, on which host, and how many calls it has."""

    rank: int
    capture: str
    path: str
    host: str
    calls: int


@dataclass(frozen=True, slots=True)
class Loop:
    """The loop by whose rounds times are told: one round begins with each run of a program by a line.

    `steps` are as many as most ranks ran, `step` how long one usually takes in ns.
    """

    path: str
    line: int
    function: str
    steps: int
    step: int


@dataclass(frozen=True, slots=True)
class Clock:
    """How far a rank's clock is ahead of the others' at the loop's beginning in ns, and what it gains in ns a
    second."""

    rank: int
    offset: int
    drift: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """What the ranks of a job differ in, worst first.

    `compared` is how many calls of each rank were held against the others', at most. `clocks` are empty, and `loop`
    is None, where nothing tells them. `notes` are sentences: what could not be compared.
    """

    job: str
    members: tuple[Member, ...]
    compared: int
    loop: Loop | None
    clocks: tuple[Clock, ...]
    findings: tuple[Finding, ...]
    notes: tuple[str, ...] = ()
