"""The state of each rank of a job, from the captures of its processes as they are now."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from framedex.base import words
from framedex.base.errors import FramedexError
from framedex.captures.folders import find_captures_within
from framedex.captures.metadata import read_metadata, read_program_end
from framedex.fleet.origin import Origin, read_job_size
from framedex.live.waits import call_frames, find_innermost_line

if TYPE_CHECKING:
    from framedex.captures.open_calls import OpenCall, ThreadCalls
    from framedex.live.model import LiveFrame
    from framedex.live.targets import Target
    from framedex.model import Metadata

_RUNTIME_CALL = "PJRT_"


class RankActivity(StrEnum):
    """The activity of a rank. Ranks that wait have reached the point that the other ranks have to reach."""

    WAITS_IN_CALL = "waits in a call"  # of the runtime, which has not returned
    WAITS_FOR_RESULT = "waits for a result"  # of work that it has dispatched
    RUNS_HOST_CODE = "runs host code"  # a callback or a handler that the runtime called
    OUTSIDE = "is outside the runtime"  # it makes no call and waits for none
    ENDED = "has ended"
    UNREADABLE = "is unreadable"

    @property
    def is_wait(self) -> bool:
        """Whether the rank waits for the runtime, so possibly for other ranks."""
        return self in (RankActivity.WAITS_IN_CALL, RankActivity.WAITS_FOR_RESULT)


@dataclass(frozen=True, slots=True)
class RankState:
    """A rank and its activity since `since_unix_ns`, None if it has made no call.

    `function` is the call in progress, empty if none. `line` is the user's line that waits, or that made the call in
    progress. `dispatched` is the line that dispatched the oldest work whose result it waits for. `calls` is the number
    of its calls so far. `end` describes the end of the process, empty if unknown or if it is running. `problem` is the
    reason if the capture is unreadable.
    """

    rank: int
    capture: Path
    host: str
    activity: RankActivity
    since_unix_ns: int | None
    calls: int = 0
    function: str = ""
    line: LiveFrame | None = None
    dispatched: LiveFrame | None = None
    end: str = ""
    ended_unix_ns: int | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class RunningJob:
    """A job: its name, empty if unknown, its number of ranks as far as known, and its ranks with captures, in order.

    `now_unix_ns` is the time of the states: the present, or the end of a job that has ended.
    """

    name: str
    size: int
    ranks: tuple[RankState, ...]
    now_unix_ns: int


def read_job(folders: Iterable[Path], name: str | None = None) -> RunningJob:
    """The newest job with captures in these folders, or the job of that name.

    If a rank has several captures, only those of its latest `framedex run` count. Among these, the one with the most
    calls is used. Raises FramedexError if there is none whose ranks are known.
    """
    found = [(capture, metadata, Origin.from_metadata(metadata)) for capture, metadata in _read_all(folders)]
    ranked = [each for each in found if each[2].rank is not None and name in (None, each[2].job)]
    if not ranked:
        raise _no_ranks_error(found, name)
    chosen = max(ranked, key=lambda each: each[2].started_ns)[2].job if name is None else name
    captures: dict[int, list[tuple[Path, Metadata, Origin]]] = {}
    for each in ranked:
        if each[2].job == chosen and each[2].rank is not None:
            captures.setdefault(each[2].rank, []).append(each)
    ranks = tuple(_read_rank(rank, captures[rank]) for rank in sorted(captures))
    sizes = [read_job_size(metadata) or 0 for of_rank in captures.values() for _, metadata, _ in of_rank]
    ends = [each.ended_unix_ns for each in ranks if each.ended_unix_ns is not None]
    now = max(ends) if len(ends) == len(ranks) else time.time_ns()
    return RunningJob(chosen, max(*sizes, ranks[-1].rank + 1), ranks, now)


def find_job_of_target(target: Target, folder: Path) -> RunningJob | None:
    """The job of a target, if a folder has captures of several ranks of that job; otherwise None."""
    if target.capture == folder or target.metadata is None:
        return None
    origin = Origin.from_metadata(target.metadata)
    if origin.rank is None:
        return None
    job = read_job([folder], origin.job)
    if not origin.job and any(
        each.ended_unix_ns is not None and each.ended_unix_ns < origin.started_ns for each in job.ranks
    ):
        return None  # an earlier run: jobs without a name cannot be distinguished
    return job if len(job.ranks) > 1 else None


def _read_all(folders: Iterable[Path]) -> Iterable[tuple[Path, Metadata]]:
    for folder in folders:
        for capture in find_captures_within(folder):
            try:
                yield capture, read_metadata(capture)
            except FramedexError:  # another version, or its first file is being written
                continue


def _no_ranks_error(found: Sequence[tuple[Path, Metadata, Origin]], name: str | None) -> FramedexError:
    jobs = sorted({origin.job for *_, origin in found if origin.rank is not None and origin.job})
    if name is not None and jobs:
        return FramedexError(
            f"There is no job {name!r}.", f"These captures have {words.format_first_names(jobs, 'job')}."
        )
    return FramedexError(
        f"No rank is known for {words.count(len(found), 'capture')}.",
        "Slurm, MPI, Kubernetes and JAX_PROCESS_ID set the rank. Otherwise set FRAMEDEX_RANK in each process.",
    )


def _read_rank(rank: int, captures: Sequence[tuple[Path, Metadata, Origin]]) -> RankState:
    latest = max(captures, key=lambda each: each[2].started_ns)[1]
    run = latest.launch.run if latest.launch is not None else None
    of_run = [
        (capture, metadata)
        for capture, metadata, _ in captures
        if metadata is latest or (run is not None and metadata.launch is not None and metadata.launch.run == run)
    ]
    states = [_read_state(rank, capture, metadata) for capture, metadata in of_run]
    return max(states, key=lambda state: state.calls)


def _read_state(rank: int, capture: Path, metadata: Metadata) -> RankState:
    from framedex.captures.open_calls import read_open_calls

    host = metadata.host or ""
    try:
        threads = read_open_calls(capture)
    except FramedexError as error:
        return RankState(rank, capture, host, RankActivity.UNREADABLE, None, problem=error.message)
    calls = sum(thread.calls for thread in threads)
    end = read_program_end(capture)
    ended = end.ended_unix_ns if end is not None else None
    to_unix = (metadata.started_unix_ns or 0) - (metadata.started_clock_ns or 0)

    def state(activity: RankActivity, since: int | None, call: OpenCall | None = None) -> RankState:
        line = find_innermost_line(call_frames(call)) if call is not None else None
        function = call.function if call is not None and activity is not RankActivity.WAITS_FOR_RESULT else ""
        dispatched = _dispatching_line(threads, line) if activity is RankActivity.WAITS_FOR_RESULT else None
        since = None if since is None else since + to_unix
        end_text = end.text if end is not None else ""
        return RankState(
            *(rank, capture, host, activity, since, calls, function, line),
            dispatched=dispatched,
            end=end_text,
            ended_unix_ns=ended,
        )

    opened = [call for thread in threads for call in thread.open_calls]
    host_code = [call for call in opened if not call.function.startswith(_RUNTIME_CALL)]
    if host_code:
        call = max(host_code, key=lambda each: each.since_ns)
        return state(RankActivity.RUNS_HOST_CODE, call.since_ns, call)
    if opened:
        call = min(opened, key=lambda each: each.since_ns)
        return state(RankActivity.WAITS_IN_CALL, call.since_ns, call)
    if pending := [call for thread in threads for call in thread.pending]:
        call = max(pending, key=lambda each: each.since_ns)
        return state(RankActivity.WAITS_FOR_RESULT, call.since_ns, call)
    if end is not None and end.status == 0:
        return state(RankActivity.ENDED, None if ended is None else ended - to_unix)
    last = max((each.last_record_ns for each in threads if each.last_record_ns is not None), default=None)
    return state(RankActivity.OUTSIDE, last)


def _dispatching_line(threads: Sequence[ThreadCalls], waiting: LiveFrame | None) -> LiveFrame | None:
    """The line that dispatched the oldest work that has not finished; None if it is the waiting line itself."""
    oldest = min((call for thread in threads for call in thread.pending), key=lambda each: each.since_ns)
    line = find_innermost_line(call_frames(oldest))
    return None if line == waiting else line
