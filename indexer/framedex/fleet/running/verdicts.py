"""The ranks that the other ranks of a job wait for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING

from framedex.fleet.running.programs import find_different_programs
from framedex.fleet.running.states import RankActivity

if TYPE_CHECKING:
    from framedex.fleet.running.states import RankState, RunningJob

_SAME_END_NS = 10_000_000_000  # a scheduler kills the ranks of a job within this time


MAX_MISSING = 10_000
"""The maximum number of listed ranks without a capture: any process may state any size of its job."""


class RankVerdict(StrEnum):
    """The reason why a job does not reach its next step."""

    MISSING = "missing"  # ranks without a capture
    DIFFERENT_PROGRAM = "different program"  # waiting ranks compiled a different program from most
    ENDED = "ended"  # ranks whose program ended before
    ABSENT = "absent"  # ranks that have not arrived where the others wait
    ELSEWHERE = "elsewhere"  # few ranks wait at a different line from most
    SAME_LINE = "same line"  # all ranks have arrived
    RUNNING = "running"  # no rank has waited in the runtime for long


@dataclass(frozen=True, slots=True)
class JobDiagnosis:
    """The verdict on a job: the `blamed` ranks, and the ranks that wait for them, both in order.

    `programs` are those of the blamed ranks that most ranks lack, if the verdict is DIFFERENT_PROGRAM.
    """

    verdict: RankVerdict
    blamed: tuple[int, ...]
    waiting: tuple[int, ...]
    programs: tuple[str, ...] = ()


def diagnose_job(job: RunningJob, patience_ns: int) -> JobDiagnosis:
    """Find the ranks that others wait for. A wait counts after `patience_ns`.

    A rank that was killed keeps the state that it had, so the answer is the same after the job's end. A rank that ended
    earlier than the others has ended by itself.
    """

    def is_long(state: RankState) -> bool:
        return state.since_unix_ns is None or job.now_unix_ns - state.since_unix_ns >= patience_ns

    waiting = [each for each in job.ranks if each.activity.is_wait and is_long(each)]
    waiting_ranks = tuple(each.rank for each in waiting)
    if not waiting:
        return JobDiagnosis(RankVerdict.RUNNING, (), ())
    known = {each.rank for each in job.ranks}
    if missing := tuple(islice((rank for rank in range(job.size) if rank not in known), MAX_MISSING)):
        return JobDiagnosis(RankVerdict.MISSING, missing, waiting_ranks)
    different = find_different_programs(job.ranks)
    if others := tuple(rank for rank in waiting_ranks if rank in different):
        left = tuple(rank for rank in waiting_ranks if rank not in different)
        names = dict.fromkeys(name for rank in others for name in different[rank])
        return JobDiagnosis(RankVerdict.DIFFERENT_PROGRAM, others, left, tuple(names))
    if ended := tuple(each.rank for each in job.ranks if _ended_before(each, waiting)):
        left = tuple(rank for rank in waiting_ranks if rank not in ended)
        return JobDiagnosis(RankVerdict.ENDED, ended, left)
    arrived = (RankActivity.WAITS_IN_CALL, RankActivity.WAITS_FOR_RESULT, RankActivity.UNREADABLE)
    if absent := tuple(each.rank for each in job.ranks if each.activity not in arrived and is_long(each)):
        return JobDiagnosis(RankVerdict.ABSENT, absent, waiting_ranks)
    few = _find_ranks_at_other_lines(waiting)
    if few and len(waiting) == len(job.ranks):
        return JobDiagnosis(RankVerdict.ELSEWHERE, few, tuple(rank for rank in waiting_ranks if rank not in few))
    return JobDiagnosis(RankVerdict.SAME_LINE, (), waiting_ranks)


def _ended_before(state: RankState, waiting: Sequence[RankState]) -> bool:
    """Whether a rank ended by itself while the others waited, not with them."""
    if state.ended_unix_ns is None:
        return False
    others = [each.ended_unix_ns for each in waiting if each is not state]
    return any(each is None or state.ended_unix_ns + _SAME_END_NS <= each for each in others)


def _find_ranks_at_other_lines(waiting: Sequence[RankState]) -> tuple[int, ...]:
    """The ranks that do not wait at the line at which most ranks wait; empty if there is no majority."""
    lines: dict[object, list[int]] = {}
    for each in waiting:
        lines.setdefault((each.dispatched or each.line), []).append(each.rank)
    most = max(lines.values(), key=len)
    if 2 * len(most) <= len(waiting):
        return ()
    return tuple(sorted(rank for ranks in lines.values() if ranks is not most for rank in ranks))
