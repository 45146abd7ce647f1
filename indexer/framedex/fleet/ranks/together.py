"""Ranks of one machine that did not run at the same time: none can have waited for another."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

from framedex import words
from framedex.plaintext import printable

if TYPE_CHECKING:
    from framedex.fleet.ranks.members import Members
    from framedex.fleet.ranks.reading import Calls, RankCalls

_FEW = 3


def not_together(members: Members, calls: Calls) -> Iterator[str]:
    """Sentences about machines whose ranks ran one after the other, by what is compared of their calls."""
    by_machine: dict[int, list[int]] = defaultdict(list)
    for place, machine in enumerate(members.machines):
        if len(calls.sequences[place].start):
            by_machine[machine].append(place)
    apart = []
    for places in by_machine.values():
        groups = _groups(places, calls)
        if len(groups) > 1:
            ranks = [
                words.first_names([str(members.members[place].rank) for place in group], "rank") for group in groups
            ]
            more = " and so on" if len(ranks) > _FEW else ""
            host = printable(members.members[places[0]].host)
            apart.append(f"Ranks of {host} did not run at the same time: {', then '.join(ranks[:_FEW])}{more}.")
    yield from apart[:_FEW]
    if len(apart) > _FEW:
        yield f"On {words.count(len(apart) - _FEW, 'other host')} they did not, either."


def _groups(places: list[int], calls: Calls) -> list[list[int]]:
    """Ranks by when they ran, the first first: those of a group one beside the other."""
    groups: list[list[int]] = []
    latest = 0
    for place in sorted(places, key=lambda place: int(calls.sequences[place].start[0])):
        first, last = _span(calls.sequences[place])
        if not groups or first > latest:
            groups.append([])
        groups[-1].append(place)
        latest = max(latest, last) if len(groups[-1]) > 1 else last
    return [sorted(group) for group in groups]


def _span(sequence: RankCalls) -> tuple[int, int]:
    """When a rank's first call began, and its last one ended."""
    return int(sequence.start[0]), int(sequence.start[-1]) + max(int(sequence.duration[-1]), 0)
