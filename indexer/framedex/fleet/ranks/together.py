"""Detect ranks of one machine that ran one after the other, so they cannot have waited for one another."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

from framedex.base import words
from framedex.base.plaintext import make_printable

if TYPE_CHECKING:
    from framedex.fleet.ranks.members import Members
    from framedex.fleet.ranks.reading import JobCalls, RankCalls

_MAX_LISTED = 3


def describe_separate_runs(members: Members, calls: JobCalls) -> Iterator[str]:
    """Yield sentences about machines whose ranks ran one after the other, judged by their compared calls."""
    by_machine: dict[int, list[int]] = defaultdict(list)
    for place, machine in enumerate(members.machines):
        if len(calls.sequences[place].start):
            by_machine[machine].append(place)
    sentences = []
    for places in by_machine.values():
        groups = _group_concurrent_ranks(places, calls)
        if len(groups) > 1:
            ranks = [
                words.format_first_names([str(members.members[place].rank) for place in group], "rank")
                for group in groups
            ]
            more = " and so on" if len(ranks) > _MAX_LISTED else ""
            host = make_printable(members.members[places[0]].host)
            sentences.append(
                f"Ranks of {host} did not run at the same time: {', then '.join(ranks[:_MAX_LISTED])}{more}."
            )
    yield from sentences[:_MAX_LISTED]
    if len(sentences) > _MAX_LISTED:
        yield f"The same holds for {words.count(len(sentences) - _MAX_LISTED, 'other host')}."


def _group_concurrent_ranks(ranks: list[int], calls: JobCalls) -> list[list[int]]:
    """Group ranks that ran at the same time, in order of time."""
    groups: list[list[int]] = []
    latest = 0
    for place in sorted(ranks, key=lambda place: int(calls.sequences[place].start[0])):
        first, last = _find_time_span(calls.sequences[place])
        if not groups or first > latest:
            groups.append([])
        groups[-1].append(place)
        latest = max(latest, last) if len(groups[-1]) > 1 else last
    return [sorted(group) for group in groups]


def _find_time_span(sequence: RankCalls) -> tuple[int, int]:
    """Return the start of a rank's first call and the end of its last one."""
    return int(sequence.start[0]), int(sequence.start[-1]) + max(int(sequence.duration[-1]), 0)
