"""The ranks of a running job as lines to print."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from framedex.base import words
from framedex.base.plaintext import make_printable
from framedex.commands.output.render_live import render_frame_location_line, render_process_lines, render_thread_lines
from framedex.commands.output.terminal import Line, Span, format_row, measure_columns, render_text_line
from framedex.fleet.running.reports import MAX_LINES
from framedex.fleet.running.states import RankActivity
from framedex.fleet.running.verdicts import RankVerdict

if TYPE_CHECKING:
    from framedex.fleet.running.reports import JobReport, RankLine
    from framedex.fleet.running.states import RankState, RunningJob
    from framedex.fleet.running.verdicts import JobDiagnosis
    from framedex.live.model import LiveFrame, ProcessSnapshot

_INDENT = "  "
_MAX_GROUPS = 20


def render_job_lines(report: JobReport) -> Iterator[Line]:
    """The verdict with the lines of the ranks to blame, then all ranks, those with equal states together."""
    job, diagnosis, now, last = report.job, report.diagnosis, report.now, report.last
    states = {each.rank: each for each in job.ranks}
    title, sentence = _verdict(job, diagnosis)
    yield (Span(f"{title}: ", "head" if diagnosis.verdict is RankVerdict.RUNNING else "error"), Span(sentence))
    for rank in diagnosis.blamed[:MAX_LINES]:
        if rank in now or rank in last:
            yield from _rank_lines(rank, now.get(rank, (None, "")), last.get(rank, (None, "")))
        elif rank in states and states[rank].line is not None:
            yield from _rank_lines(rank, (states[rank].line, states[rank].function), (None, ""))
    yield ()
    hosts = len({each.host for each in job.ranks})
    name = f"{make_printable(job.name)}: " if job.name else ""
    yield render_text_line(f"{name}{words.count(len(job.ranks), 'rank')} on {words.count(hosts, 'host')}", "head")
    yield from _group_lines(job)


def rank_snapshot_lines(snapshots: Mapping[int, ProcessSnapshot], count: int, *, all_frames: bool) -> Iterator[Line]:
    """The process of each rank, with its main thread and its threads with calls in progress.

    `count` is the number of all ranks of the job.
    """
    for rank, snapshot in snapshots.items():
        yield render_text_line(f"rank {rank}", "head")
        yield from render_process_lines(snapshot)
        for thread in snapshot.threads:
            if thread.tid == snapshot.pid or thread.open_calls:
                yield from render_thread_lines(thread, snapshot, all_frames=all_frames)
        yield ()
    if others := count - len(snapshots):
        yield render_text_line(f"… {words.count(others, 'more rank')}; `framedex ranks` lists all of them", "dim")


def _verdict(job: RunningJob, diagnosis: JobDiagnosis) -> tuple[str, str]:
    which = f"{'rank' if len(diagnosis.blamed) == 1 else 'ranks'} {words.format_ranges(diagnosis.blamed)}"
    have = "has" if len(diagnosis.blamed) == 1 else "have"
    waiting = f"{words.count(len(diagnosis.waiting), 'rank')} {'waits' if len(diagnosis.waiting) == 1 else 'wait'}"
    match diagnosis.verdict:
        case RankVerdict.MISSING:
            return "Missing", f"{which} of {job.size} {have} no capture, and {waiting}."
        case RankVerdict.DIFFERENT_PROGRAM:
            wait = "waits" if len(diagnosis.blamed) == 1 else "wait"
            names = make_printable(words.format_first_names(diagnosis.programs, "program"))
            program = f"a different program from most, {names}," if names else "a different program from most"
            return "Differs", f"{which} compiled {program} and {wait}."
        case RankVerdict.ENDED:
            return "Ended", f"{which} {have} ended, and {waiting}."
        case RankVerdict.ABSENT:
            return "Absent", f"{which} {have} not arrived, and {waiting}."
        case RankVerdict.ELSEWHERE:
            return (
                "Apart",
                f"{which} {'waits' if len(diagnosis.blamed) == 1 else 'wait'} at a different line from most.",
            )
        case RankVerdict.SAME_LINE:
            return "Arrived", f"{waiting}, and none of the others is late. A device or the network may not answer."
    return "Running", "no rank has waited in the runtime for long."


def _rank_lines(rank: int, now: RankLine, last: RankLine) -> Iterator[Line]:
    if now[0] is not None:
        called = f", in {make_printable(now[1])}" if now[1] else ""
        place = Span(f" in {make_printable(now[0].function)}{called}", "dim")
        yield (Span(f"{_INDENT}rank {rank} is at "), *render_frame_location_line(now[0]), place)
    if last[0] is not None:
        yield (
            Span(f"{_INDENT}rank {rank} made its last call at "),
            *render_frame_location_line(last[0]),
            Span(f" ({make_printable(last[1])})", "dim"),
        )


def _group_lines(job: RunningJob) -> Iterator[Line]:
    """A row for each group of ranks with equal states, the least advanced first."""
    groups: dict[tuple[object, ...], list[RankState]] = {}
    for each in job.ranks:
        key = (each.activity, each.function, each.line, each.dispatched, each.end)
        groups.setdefault(key, []).append(each)
    ordered = sorted(groups.values(), key=lambda group: min(each.calls for each in group))
    rows = [_row(group, job.now_unix_ns) for group in ordered[:_MAX_GROUPS]]
    header = ("ranks", "calls", "since", "activity")
    widths = measure_columns(header, *(row[:4] for row in rows))
    yield render_text_line(format_row(header, widths, 0), "dim")
    for *cells, line in rows:
        place = (Span("  "), *render_frame_location_line(line)) if line is not None else ()
        yield (Span(format_row(cells, widths, 0)), *place)
    if len(ordered) > _MAX_GROUPS:
        yield render_text_line(f"… {len(ordered) - _MAX_GROUPS} more groups; --json lists all ranks", "dim")


def _row(group: Sequence[RankState], now_ns: int) -> tuple[str, str, str, str, LiveFrame | None]:
    first = group[0]
    since = [each.since_unix_ns for each in group if each.since_unix_ns is not None]
    age = words.format_duration(max(now_ns - min(since), 0)) if since else "-"
    return (
        words.format_ranges([each.rank for each in group]),
        _format_calls(group),
        age,
        _format_activity(first),
        first.line,
    )


def _format_calls(group: Iterable[RankState]) -> str:
    calls = sorted(each.calls for each in group)
    return f"{calls[0]:,}" if calls[0] == calls[-1] else f"{calls[0]:,}-{calls[-1]:,}"


def _format_activity(state: RankState) -> str:
    text = {
        RankActivity.WAITS_IN_CALL: f"waits in {state.function}",
        RankActivity.WAITS_FOR_RESULT: "waits for a result",
        RankActivity.RUNS_HOST_CODE: f"runs {state.function}",
        RankActivity.OUTSIDE: "outside the runtime" if state.calls else "has made no call",
        RankActivity.ENDED: "",
        RankActivity.UNREADABLE: state.problem,
    }[state.activity]
    if state.dispatched is not None:
        text += f" of line {state.dispatched.line}"
    return make_printable(", ".join(filter(None, (text, state.end))))
