"""Compare the ranks of a job."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from framedex.base import words
from framedex.fleet.ranks.failures import find_failures
from framedex.fleet.ranks.families import RankFamily, group_families
from framedex.fleet.ranks.loops import LoopSteps, find_loop_steps
from framedex.fleet.ranks.members import select_members
from framedex.fleet.ranks.model import Clock, Comparison, Finding, Kind, Loop
from framedex.fleet.ranks.reading import read_job_calls
from framedex.fleet.ranks.timing import add_time_findings
from framedex.fleet.ranks.together import describe_separate_runs
from framedex.fleet.store_queries import ForeignFilesError
from framedex.model import Severity

if TYPE_CHECKING:
    from framedex.fleet.ranks.departures import SequenceDifference
    from framedex.fleet.ranks.members import Members
    from framedex.fleet.ranks.reading import JobCalls
    from framedex.fleet.store_queries import StoreConnection

_ORDER = (Severity.ERROR, Severity.WARNING, Severity.NOTE)
_COMMON_RANKS, _COMMON_SHARE = 4, 0.25  # ranks: a difference that this number of ranks share may be intended
_MAX_FINDINGS_WITH_STACK = 1000  # findings with a stack


def compare(connection: StoreConnection, job: str, floor: int) -> Comparison:
    """Return the differences between the ranks of a job. Delays of less than `floor` ns are left out.

    Raises FramedexError if the job does not exist, it has fewer than two ranks, or the store cannot be read.
    """
    try:
        return _compare_ranks(connection, job, floor)
    except ForeignFilesError:  # retry without the captures that cannot be read
        return _compare_ranks(connection, job, floor)


def _compare_ranks(connection: StoreConnection, job: str, floor: int) -> Comparison:
    members = select_members(connection, job)
    calls = read_job_calls(connection, members)
    families = group_families(calls.sequences, calls.tokens)
    largest = families[0]
    steps = find_loop_steps(largest.reference, calls.tokens)
    findings = [
        *members.findings,
        *_find_departures(families, members, calls, steps),
        *_find_secondary_calls(members, calls),
    ]
    failures, never_returned = find_failures(connection, members)
    findings = _add_failures(findings, [_add_step(each, members, calls, largest, steps) for each in failures])
    notes = [
        *members.notes,
        *calls.notes,
        *never_returned,
        *_describe_other_families(families, members),
        *describe_separate_runs(members, calls),
    ]
    loop: Loop | None = None
    clocks: tuple[Clock, ...] = ()
    if steps is None:
        notes.append("No loop runs a program repeatedly: times are not compared.")
    else:
        findings, timing = add_time_findings(findings, largest, members, calls, steps, floor)
        loop, clocks = timing.loop, timing.clocks
        notes += timing.notes
    findings = _merge_equal_findings(findings)
    findings.sort(key=lambda each: (_ORDER.index(each.severity), -each.delay, each.ranks, each.step or 0))
    compared = max(len(sequence.token) for sequence in calls.sequences)
    with_stacks = tuple(_add_stacks(connection, findings))
    return Comparison(job, members.members, compared, loop, clocks, with_stacks, tuple(notes))


def _find_departures(
    families: Sequence[RankFamily], members: Members, calls: JobCalls, steps: LoopSteps | None
) -> Iterator[Finding]:
    """Yield the calls in which ranks differ from the others, each difference once."""
    of_lines = [{calls.tokens[token].line_key for token in np.unique(each.token).tolist()} for each in calls.sequences]
    for number, family in enumerate(families):
        of_family = steps if number == 0 else None
        same: dict[tuple[object, ...], list[int]] = defaultdict(list)
        first_by_key: dict[tuple[object, ...], Finding] = {}
        for place in family.positions:
            for finding in _find_differences_of_rank(place, family, members, calls, of_family, of_lines):
                same[_finding_key(finding)].append(finding.ranks[0])
                first_by_key.setdefault(_finding_key(finding), finding)
        for key, finding in first_by_key.items():
            ranks = tuple(same[key])
            is_meant = (
                len(ranks) >= max(_COMMON_RANKS, _COMMON_SHARE * len(family.positions))
                and finding.kind is not Kind.ENDED
            )
            yield replace(finding, ranks=ranks, severity=Severity.NOTE if is_meant else finding.severity)
        if number > 0 and len(family.positions) == 1:
            (place,) = family.positions
            first = calls.tokens[int(family.reference[0])]
            yield Finding(
                Kind.APART,
                Severity.WARNING,
                (members.members[place].rank,),
                "It has almost no calls in common with the others.",
                path=first.path,
                line=first.line,
                capture=members.members[place].capture,
                call=int(calls.sequences[place].call[0]),
            )


def _merge_equal_findings(findings: Sequence[Finding]) -> list[Finding]:
    """Merge equal findings of several ranks into one."""
    same: dict[tuple[object, ...], list[Finding]] = defaultdict(list)
    for each in findings:
        same[*_finding_key(each), each.delay].append(each)
    return [replace(each[0], ranks=tuple(sorted(rank for one in each for rank in one.ranks))) for each in same.values()]


def _finding_key(finding: Finding) -> tuple[object, ...]:
    return finding.kind, finding.severity, finding.line, finding.step, finding.steps, finding.times, finding.tells


def _find_differences_of_rank(
    position: int,
    family: RankFamily,
    members: Members,
    calls: JobCalls,
    steps: LoopSteps | None,
    of_lines: Sequence[set[str]],
) -> Iterator[Finding]:
    """Yield the differences of one rank's calls, one per kind and line, at the first occurrence."""
    sequence = calls.sequences[position]
    same: dict[tuple[object, ...], list[SequenceDifference]] = defaultdict(list)
    for each in family.comparisons[position].differences:
        token = calls.tokens[each.token]
        same[each.kind, token.line_key, token.function].append(each)
    for (kind, *_), differences in same.items():
        first = differences[0]
        token = calls.tokens[first.token]
        is_meant = members.members[position].rank == 0 and all(
            _is_own_line(each, position, family, calls, of_lines) for each in differences
        )
        assert isinstance(kind, Kind)
        severity = Severity.ERROR if kind is Kind.ENDED else Severity.WARNING
        number = min(first.start, len(sequence.call) - 1) - (1 if kind is Kind.MISSING_CALL and first.start else 0)
        usual = (each for each in family.positions if each != position and not family.comparisons[each].differences)
        other = next((each for each in usual if _call_at(each, first.other_start, family, calls) is not None), None)
        yield Finding(
            kind,
            Severity.NOTE if is_meant else severity,
            (members.members[position].rank,),
            first.description,
            step=None if steps is None else _find_affected_step(first, steps, family, calls),
            steps=() if steps is None else _find_affected_steps(differences, steps, family, calls),
            times=len(differences),
            path=token.path,
            line=token.line,
            capture=members.members[position].capture,
            call=int(sequence.call[number]) if number >= 0 else None,
            other_rank=None if other is None else members.members[other].rank,
            other_call=None if other is None else _call_at(other, first.other_start, family, calls),
        )


def _call_at(position: int, start: int, family: RankFamily, calls: JobCalls) -> int | None:
    """Return the number of a rank's call that matches the reference's call at this index; None if there is none."""
    matched = family.comparisons[position].matched
    return int(calls.sequences[position].call[matched[start]]) if start < len(matched) and matched[start] >= 0 else None


def _find_affected_steps(
    differences: Sequence[SequenceDifference], steps: LoopSteps, family: RankFamily, calls: JobCalls
) -> tuple[int, ...]:
    """Return the steps with differences, sorted."""
    found = {_find_affected_step(each, steps, family, calls) for each in differences}
    return tuple(sorted(step for step in found if step is not None))


def _find_affected_step(each: SequenceDifference, steps: LoopSteps, family: RankFamily, calls: JobCalls) -> int | None:
    """Return the step of a difference.

    Extra calls before the first call of a step belong to the step before it, unless they equal that first call.
    """
    place = each.other_start
    if not each.other_count and place < len(family.reference):
        is_as_first = calls.tokens[int(family.reference[place])].key == calls.tokens[each.token].key
        place -= not is_as_first
    return steps.step_of(place)


def _is_own_line(
    each: SequenceDifference, position: int, family: RankFamily, calls: JobCalls, of_lines: Sequence[set[str]]
) -> bool:
    """Return whether only this rank executes the lines of a difference, such as those that log or save."""
    mine = {
        calls.tokens[token].line_key
        for token in calls.sequences[position].token[each.start : each.start + each.count].tolist()
    }
    theirs = {
        calls.tokens[token].line_key
        for token in family.reference[each.other_start : each.other_start + each.other_count].tolist()
    }
    others = [lines for other, lines in enumerate(of_lines) if other != position]
    return not any(mine & lines for lines in others) and not theirs & of_lines[position]


def _find_secondary_calls(members: Members, calls: JobCalls) -> Iterator[Finding]:
    """Yield calls on secondary threads that only one rank makes. The main thread is the one that runs programs."""
    everywhere: dict[int, set[int]] = defaultdict(set)
    for place, sequence in enumerate(calls.sequences):
        for token in np.unique(sequence.token).tolist():
            everywhere[token].add(place)
    for place, token, _, _ in calls.other_threads.tolist():
        everywhere[token].add(place)
    of_lines: dict[str, set[int]] = defaultdict(set)
    for token, places in everywhere.items():
        of_lines[calls.tokens[token].line_key] |= places
    for place, number, times, call in calls.other_threads.tolist():
        if len(members.members) < 3 or len(everywhere[number]) > 1:
            continue
        token, member = calls.tokens[number], members.members[place]
        is_meant = member.rank == 0 and len(of_lines[token.line_key]) == 1
        shape = f" with {token.shape}" if token.shape else ""
        yield Finding(
            Kind.OTHER_THREAD,
            Severity.NOTE if is_meant else Severity.WARNING,
            (member.rank,),
            f"{token.function}{shape} is called on a different thread from the programs; no other rank calls it.",
            times=times,
            path=token.path,
            line=token.line,
            capture=member.capture,
            call=call,
        )


def _add_failures(findings: Sequence[Finding], failures: Sequence[Finding]) -> list[Finding]:
    """Add the failures to the findings. A rank that ended in a hanging call gets one finding for both."""
    ended = {rank: each for each in findings if each.kind is Kind.ENDED for rank in each.ranks}
    merged = []
    hung: set[int] = set()
    for each in failures:
        if each.kind is Kind.HANG and (early := ended.get(each.ranks[0])) is not None:
            hung |= set(each.ranks)
            each = replace(
                each, step=early.step, steps=early.steps, tells=f"{each.tells} {early.tells.partition('. ')[2]}".strip()
            )
        merged.append(each)
    for each in findings:
        ranks = tuple(rank for rank in each.ranks if rank not in hung) if each.kind is Kind.ENDED else each.ranks
        if ranks or not each.ranks:
            merged.append(replace(each, ranks=ranks))
    return merged


def _add_step(
    failure: Finding, members: Members, calls: JobCalls, family: RankFamily, steps: LoopSteps | None
) -> Finding:
    """Return a failure with the step of its first call, if that call is compared."""
    captures = [member.capture for member in members.members]
    place = captures.index(failure.capture) if failure.capture in captures else -1
    if steps is None or place not in family.positions or failure.call is None:
        return failure
    own = calls.sequences[place].call
    at = int(np.searchsorted(own, failure.call))
    (there,) = (
        np.nonzero(family.comparisons[place].matched == at) if at < len(own) and own[at] == failure.call else ([],)
    )
    step = steps.step_of(int(there[0])) if len(there) else None
    return failure if step is None else replace(failure, step=step, steps=(step,))


def _describe_other_families(families: Sequence[RankFamily], members: Members) -> Iterator[str]:
    for family in families[1:]:
        if len(family.positions) > 1:
            ranks = [str(members.members[place].rank) for place in family.positions]
            yield (
                f"{words.count(len(ranks), 'rank')} do different work from most, and are only compared with one another"
                f": {words.format_first_names(ranks, 'rank')}. Times are compared for the other ranks."
            )


def _add_stacks(connection: StoreConnection, findings: Sequence[Finding]) -> Iterator[Finding]:
    """Yield the findings, and add the stacks of their calls."""
    wanted = [(each.capture, each.call) for each in findings if each.call is not None and each.stack is None]
    wanted = list(dict.fromkeys(wanted))[:_MAX_FINDINGS_WITH_STACK]
    stacks: dict[tuple[str | None, int | None], str] = {}
    if wanted:
        calls = connection.build_rows_sql("calls", sorted({capture for capture, _ in wanted if capture is not None}))
        rows = connection.rows(
            f"SELECT c.capture, c.call, c.stack FROM ({calls}) c JOIN (SELECT unnest(?::VARCHAR[]) AS capture,"
            " unnest(?::BIGINT[]) AS call) w ON w.capture = c.capture AND w.call = c.call",
            [[capture for capture, _ in wanted], [call for _, call in wanted]],
        )
        stacks = {(capture, call): stack for capture, call, stack in rows}
    for each in findings:
        yield each if each.stack is not None else replace(each, stack=stacks.get((each.capture, each.call)))
