"""Findings by times: which ranks make the others wait, and whose clocks are off."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from framedex import words
from framedex.fleet.ranks.clocks import Alignment, alignment_of
from framedex.fleet.ranks.loops import Floats, Steps, Times
from framedex.fleet.ranks.model import Clock, Finding, Kind, Loop
from framedex.fleet.ranks.steps import Delay, delays_of, lateness_of
from framedex.model import Severity

if TYPE_CHECKING:
    from framedex.fleet.ranks.families import Family
    from framedex.fleet.ranks.members import Members
    from framedex.fleet.ranks.reading import Calls

_CLOCK_IS_OFF = 500_000_000  # ns
_IS_OFF_OR_LATE = 60_000_000_000  # ns, where nothing tells one from the other
_DRIFT_IS_SEEN = 20_000_000  # ns, over the whole loop


@dataclass(frozen=True, slots=True)
class Timing:
    """The loop by which times were compared, the clocks of the ranks in it, and as sentences what could not be told."""

    loop: Loop
    clocks: tuple[Clock, ...]
    notes: tuple[str, ...]


def with_times(
    findings: Sequence[Finding], family: Family, members: Members, calls: Calls, steps: Steps, floor: int
) -> tuple[list[Finding], Timing]:
    """The findings with what times tell of the ranks of a family. Delays of less than `floor` ns are left out."""
    times = Times(family, calls.sequences, steps)
    alignment = alignment_of(times, family.reference, steps)
    lateness = lateness_of(times, alignment, family.reference, steps, calls.tokens)
    delays = list(delays_of(times, alignment, steps, lateness, floor))
    clocks = _clocks(times, alignment, members)
    told = _with_delays(findings, delays, lateness.losses, times, family, steps, members, calls)
    told += _clock_findings(clocks, alignment, lateness.step * steps.count)
    anchor = calls.tokens[steps.anchor]
    loop = Loop(anchor.path, anchor.line, anchor.function, steps.count, round(lateness.step))
    unknown = "Nothing shows that ranks wait for one another in the loop: how far clocks are apart cannot be told."
    return told, Timing(loop, clocks, () if alignment.waits else (unknown,))


def _with_delays(
    findings: Sequence[Finding],
    delays: Sequence[Delay],
    losses: Floats,
    times: Times,
    family: Family,
    steps: Steps,
    members: Members,
    calls: Calls,
) -> list[Finding]:
    """The findings with those of ranks that make others wait. What is wrong with a rank in a step is why it is late
    there."""
    rows = {members.members[place].rank: row for row, place in enumerate(times.places)}
    told = []
    departs: dict[int, set[int]] = defaultdict(set)
    late = {(delay.row, step) for delay in delays if not delay.is_steady for step in delay.steps.tolist()}
    for each in findings:
        waited = 0
        with_next = {later for step in each.steps for later in (step, step + 1)}  # what comes last makes that late
        for row in (rows[rank] for rank in each.ranks if rank in rows and each.severity is not Severity.NOTE):
            departs[row] |= with_next
            waited = max(waited, sum(int(losses[row, step]) for step in with_next if (row, step) in late))
        told.append(replace(each, delay=waited))
    for delay in delays:
        own = set() if delay.is_steady else departs[delay.row]
        left = [step for step in delay.steps.tolist() if step not in own]
        if not left:
            continue
        member = members.members[times.places[delay.row]]
        token = calls.tokens[int(family.reference[delay.place])]
        lost = sum(int(losses[delay.row, step]) for step in left)
        if delay.in_call:
            where = f"in {token.function}"
        else:
            where = f"before {token.function}"
            if delay.place:
                where += f", after {calls.tokens[int(family.reference[delay.place - 1])].place}"
        many = f"in {len(left):,} of {steps.count:,} steps" if len(left) > 1 else f"in step {left[0]}"
        each_time = f"{words.duration(delay.by)} each time, " if len(left) > 1 else ""
        told.append(
            Finding(
                Kind.SLOW if delay.is_steady else Kind.SLOW_STEP,
                Severity.WARNING,
                (member.rank,),
                f"It comes later than the others {many}: {each_time}{words.duration(lost)} together, {where}."
                if len(left) > 1
                else f"It comes {words.duration(lost)} later than the others {many}, {where}.",
                step=left[0],
                steps=tuple(left),
                times=len(left),
                path=token.path,
                line=token.line,
                capture=member.capture,
                call=times.call(delay.row, _place_in(delay, left[0], steps)),
                delay=lost,
            )
        )
    return told


def _place_in(delay: Delay, step: int, steps: Steps) -> int:
    """The call of a step that is as far behind its beginning as the one that is late."""
    of = steps.of(delay.place)
    behind = delay.place - int(steps.begins[of]) if of is not None else 0
    return min(int(steps.begins[step]) + behind, int(steps.begins[-1]) - 1)


def _clocks(times: Times, alignment: Alignment, members: Members) -> tuple[Clock, ...]:
    ordered = np.sort(times.base)
    usual = int(ordered[(len(ordered) - 1) // 2])
    ahead = [int(base) - usual + round(offset) for base, offset in zip(times.base, alignment.offset, strict=True)]
    common = sorted(ahead)[(len(ahead) - 1) // 2]
    return tuple(
        Clock(members.members[place].rank, each - common, float(drift) * 1e9)
        for place, each, drift in zip(times.places, ahead, alignment.drift, strict=True)
    )


def _clock_findings(clocks: Sequence[Clock], alignment: Alignment, span: float) -> Iterator[Finding]:
    for each in clocks:
        said = f"{words.duration(abs(each.offset))} {'ahead of' if each.offset > 0 else 'behind'} the others'"
        gained = each.drift * span / 1e9
        if not alignment.waits:
            if abs(each.offset) >= _IS_OFF_OR_LATE:
                late = "began so much later" if each.offset > 0 else "began so much earlier"
                yield Finding(Kind.CLOCK, Severity.WARNING, (each.rank,), f"Its clock is {said}, or it {late}.")
        elif abs(each.offset) >= _CLOCK_IS_OFF:
            yield Finding(Kind.CLOCK, Severity.WARNING, (each.rank,), f"Its clock is {said}.")
        elif abs(gained) >= _DRIFT_IS_SEEN:
            verb = "gains" if gained > 0 else "loses"
            each_second = words.duration(round(abs(each.drift)))
            yield Finding(Kind.CLOCK, Severity.WARNING, (each.rank,), f"Its clock {verb} {each_second} a second.")
