"""The answer about a job: its verdict, and the lines of the ranks to blame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from framedex.fleet.running.lines import find_current_line, find_last_call_line
from framedex.fleet.running.states import RankState, RunningJob
from framedex.fleet.running.verdicts import JobDiagnosis, RankVerdict, diagnose_job

if TYPE_CHECKING:
    from framedex.live.model import LiveFrame

RankLine = tuple["LiveFrame | None", str]
"""A user's line, None if unknown, and the function that it calls."""

MAX_LINES = 3
"""The maximum number of blamed ranks that are shown with their lines."""

_NS_PER_S = 1_000_000_000


@dataclass(frozen=True, slots=True)
class JobReport:
    """A job with its diagnosis.

    `now` has the current lines of the first blamed ranks, `last` the lines of the last calls of those whose current
    line is unknown.
    """

    job: RunningJob
    diagnosis: JobDiagnosis
    now: Mapping[int, RankLine]
    last: Mapping[int, RankLine]

    @property
    def has_waits(self) -> bool:
        """Whether ranks wait for others, or for a device."""
        return self.diagnosis.verdict is not RankVerdict.RUNNING

    @property
    def suspects(self) -> Sequence[RankState]:
        """The first blamed ranks that have a capture. Without any: the first rank that waits, or the first ranks."""
        ranks, diagnosis = self.job.ranks, self.diagnosis
        blamed = [each for each in ranks if each.rank in diagnosis.blamed]
        waiting = [each for each in ranks if each.rank in diagnosis.waiting[:1]]
        return (blamed or waiting or ranks)[:MAX_LINES]

    def document(self) -> dict[str, Any]:
        """The report as a JSON document."""
        document = asdict(self.job)
        for each, state in zip(document["ranks"], self.job.ranks, strict=True):
            each["capture"] = str(state.capture)
            for key, places in (("line_now", self.now), ("line_of_last_call", self.last)):
                line = places.get(state.rank, (None, ""))[0]
                each[key] = asdict(line) if line is not None else None
        return document | asdict(self.diagnosis)


def report_job(job: RunningJob, patience_s: float) -> JobReport:
    """Return the report on a job. A rank counts as waiting after `patience_s` seconds in one wait."""
    diagnosis = diagnose_job(job, round(patience_s * _NS_PER_S))
    blamed = [each for each in job.ranks if each.rank in diagnosis.blamed][:MAX_LINES]
    now = {each.rank: find_current_line(each) for each in blamed}
    last = {each.rank: find_last_call_line(each.capture) for each in blamed if now[each.rank][0] is None}
    return JobReport(job, diagnosis, now, last)
