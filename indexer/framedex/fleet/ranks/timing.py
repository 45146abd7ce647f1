"""Findings from times: ranks that make the others wait, and wrong clocks."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from framedex.base import words
from framedex.fleet.ranks.clocks import ClockAlignment, estimate_alignment
from framedex.fleet.ranks.loops import CallTimes, Floats, LoopSteps
from framedex.fleet.ranks.model import Clock, Finding, Kind, Loop
from framedex.fleet.ranks.steps import RankDelay, compute_lateness_limit, find_delays, measure_lateness
from framedex.model import Severity

if TYPE_CHECKING:
    from framedex.fleet.ranks.families import RankFamily
    from framedex.fleet.ranks.members import Members
    from framedex.fleet.ranks.reading import JobCalls

_MIN_OFFSET_NS = 500_000_000  # ns
_MIN_DRIFT_NS = 20_000_000  # ns, over the whole loop


@dataclass(frozen=True, slots=True)
class Timing:
    """The loop by which times were compared, the clocks of its ranks, and notes about unknown times."""

    loop: Loop
    clocks: tuple[Clock, ...]
    notes: tuple[str, ...]


def add_time_findings(
    findings: Sequence[Finding], family: RankFamily, members: Members, calls: JobCalls, steps: LoopSteps, floor: int
) -> tuple[list[Finding], Timing]:
    """Add findings from the times of a family's ranks. Delays of less than `floor` ns are left out."""
    times = CallTimes(family, calls.sequences, steps)
    machines = np.array([members.machines[place] for place in times.positions], np.int64)
    alignment = estimate_alignment(times, family.reference, steps, machines)
    lateness = measure_lateness(times, alignment, family.reference, steps, calls.tokens)
    departs = _find_deviating_steps(findings, times, members)
    delays = list(find_delays(times, alignment, steps, lateness, departs, floor))
    found = list(_build_delay_findings(findings, delays, lateness.losses, times, family, steps, members, calls))
    clocks: tuple[Clock, ...] = ()
    if alignment.is_synchronized:
        waited = np.where(lateness.losses >= compute_lateness_limit(lateness, floor), lateness.losses, 0.0)
        waited[[delay.row for delay in delays if delay.is_steady]] = 0.0
        findings = _set_delays(findings, waited, times, members)
        clocks = _build_clocks(times, alignment, members)
        found += _build_clock_findings(clocks, machines.tolist(), lateness.step_duration * steps.count)
    anchor = calls.tokens[steps.anchor]
    loop = Loop(anchor.path, anchor.line, anchor.function, steps.count, round(lateness.step_duration))
    unknown = "Nothing shows that ranks wait for one another in the loop: delays count from the first step."
    if len(set(machines.tolist())) > 1:
        unknown += " Clock offsets are unknown."
    return [*findings, *found], Timing(loop, clocks, () if alignment.is_synchronized else (unknown,))


def _find_deviating_steps(findings: Sequence[Finding], times: CallTimes, members: Members) -> dict[int, set[int]]:
    """Return the steps in which each rank, by row, makes different calls than the others, intended or not."""
    rows = _rows_by_rank(times, members)
    departs: dict[int, set[int]] = defaultdict(set)
    for each in findings:
        for rank in each.ranks:
            if rank in rows:
                departs[rows[rank]] |= _add_next_steps(each)
    return departs


def _rows_by_rank(times: CallTimes, members: Members) -> dict[int, int]:
    return {members.members[place].rank: row for row, place in enumerate(times.positions)}


def _add_next_steps(finding: Finding) -> set[int]:
    """Return the steps of a finding, each with its next step, which a delay at the end of a step may affect."""
    return {later for step in finding.steps for later in (step, step + 1)}


def _set_delays(findings: Sequence[Finding], waited: Floats, times: CallTimes, members: Members) -> list[Finding]:
    """Set the delay of each finding. `waited` is how long the others waited for each rank in each step."""
    rows = _rows_by_rank(times, members)
    updated = []
    for each in findings:
        own = [step for step in _add_next_steps(each) if step < waited.shape[1]]
        of_ranks = [rows[rank] for rank in each.ranks if rank in rows and each.severity is not Severity.NOTE]
        updated.append(replace(each, delay=max((int(waited[row, own].sum()) for row in of_ranks), default=0)))
    return updated


def _build_delay_findings(
    findings: Sequence[Finding],
    delays: Sequence[RankDelay],
    losses: Floats,
    times: CallTimes,
    family: RankFamily,
    steps: LoopSteps,
    members: Members,
    calls: JobCalls,
) -> Iterator[Finding]:
    """Yield findings about ranks that make others wait. Steps that another finding explains are left out."""
    departs = _find_deviating_steps([each for each in findings if each.severity is not Severity.NOTE], times, members)
    for delay in delays:
        own = set() if delay.is_steady else departs.get(delay.row, set())
        left = [step for step in delay.steps.tolist() if step not in own]
        if not left:
            continue
        member = members.members[times.positions[delay.row]]
        token = calls.tokens[int(family.reference[delay.position])]
        lost = sum(int(losses[delay.row, step]) for step in left)
        place = _position_in_step(delay, left[0], steps)
        if delay.is_in_call:
            where = f"in {token.function}"
        else:
            before = Counter(family.reference[max(_position_in_step(delay, step, steps) - 1, 0)] for step in left)
            after = calls.tokens[int(before.most_common(1)[0][0])]
            where = f"between calls at {token.line_key}"
            if after.line_key != token.line_key:
                where = f"between the calls at {after.line_key} and {token.line_key}"
        many = f"in {len(left):,} of {steps.count:,} steps" if len(left) > 1 else f"in step {left[0]}"
        each_time = f"{words.format_duration(delay.median)} each time, " if len(left) > 1 else ""
        yield Finding(
            Kind.SLOW if delay.is_steady else Kind.SLOW_STEP,
            Severity.WARNING,
            (member.rank,),
            f"It is later than the others {many}: {each_time}{words.format_duration(lost)} in total, {where}."
            if len(left) > 1
            else f"It is {words.format_duration(lost)} later than the others {many}, {where}.",
            step=left[0],
            steps=tuple(left),
            times=len(left),
            path=token.path,
            line=token.line,
            capture=member.capture,
            call=times.call(delay.row, place),
            delay=lost,
        )


def _position_in_step(delay: RankDelay, step: int, steps: LoopSteps) -> int:
    """Return the index, in a step, of the call that corresponds to the call of a delay."""
    of = steps.step_of(delay.position)
    behind = delay.position - int(steps.starts[of]) if of is not None else 0
    return min(int(steps.starts[step]) + behind, int(steps.starts[-1]) - 1)


def _build_clocks(times: CallTimes, alignment: ClockAlignment, members: Members) -> tuple[Clock, ...]:
    ordered = np.sort(times.base)
    usual = int(ordered[(len(ordered) - 1) // 2])
    ahead = [int(base) - usual + round(offset) for base, offset in zip(times.base, alignment.offset, strict=True)]
    common = sorted(ahead)[(len(ahead) - 1) // 2]
    return tuple(
        Clock(members.members[place].rank, each - common, float(drift) * 1e9)
        for place, each, drift in zip(times.positions, ahead, alignment.drift, strict=True)
    )


def _build_clock_findings(clocks: Sequence[Clock], machines: Sequence[int], span: float) -> Iterator[Finding]:
    """Yield findings about wrong clocks, one for each machine."""
    by_machine: dict[int, list[Clock]] = defaultdict(list)
    for each, machine in zip(clocks, machines, strict=True):
        by_machine[machine].append(each)
    for of_machine in by_machine.values():
        first = of_machine[0]
        ranks = tuple(each.rank for each in of_machine)
        gained = first.drift * span / 1e9
        whose = "Its clock" if len(ranks) == 1 else "Their machine's clock"
        if abs(first.offset) >= _MIN_OFFSET_NS:
            direction = "ahead of" if first.offset > 0 else "behind"
            error = f"is {words.format_duration(abs(first.offset))} {direction} the others'"
        elif abs(gained) >= _MIN_DRIFT_NS:
            error = f"{'gains' if gained > 0 else 'loses'} {words.format_duration(round(abs(first.drift)))} per second"
        else:
            continue
        yield Finding(Kind.CLOCK, Severity.WARNING, ranks, f"{whose} {error}.")
