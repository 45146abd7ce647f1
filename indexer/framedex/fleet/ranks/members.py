"""Select one capture for each rank of a job, and report missing, duplicate and inconsistent ranks."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from framedex.base import words
from framedex.base.errors import FramedexError
from framedex.base.plaintext import make_printable
from framedex.base.words import find_nearest_name
from framedex.fleet.origin import read_job_size
from framedex.fleet.ranks.model import Finding, Kind, Member
from framedex.index.file.values import to_storable
from framedex.model import Metadata, Severity

if TYPE_CHECKING:
    from framedex.fleet.store_queries import StoreConnection

# With these settings, a recording leaves out other calls on each rank.
_IGNORED_VARIABLES = frozenset({"FRAMEDEX_FLIGHT", "FRAMEDEX_RING", "FRAMEDEX_SAMPLE"})
_MAX_LISTED = 10_000  # missing ranks, one by one
_MIN_RANKS = 2
_SAME_BOOT_NS = 1_000_000_000  # ns: tolerance for clock corrections during a job, and for reading two clocks
_AMBIGUOUS_HOSTS = frozenset({"", "localhost"})


@dataclass(frozen=True, slots=True)
class Members:
    """The ranks of a job in order, with findings and notes.

    `machines` has a number for each rank. Ranks with the same number share a clock.
    """

    members: tuple[Member, ...]
    machines: tuple[int, ...]
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _RankClaim:
    """A capture whose metadata says that it is of a certain rank."""

    member: Member
    started: int
    boot_time: int | None
    packages: tuple[tuple[str, str], ...]
    size: int | None
    left_out: tuple[str, ...]
    has_problems: bool


def select_members(connection: StoreConnection, job: str) -> Members:
    """Return the ranks of a job. Raises FramedexError if it does not exist or has fewer than two ranks."""
    name = to_storable(job)
    rows = connection.rows(
        "SELECT rank, capture, path, host, calls, started, packages, metadata, problems FROM captures"
        " WHERE job = ? ORDER BY rank, started, capture",
        [name],
    )
    if not rows:
        raise _unknown_job_error(connection, name)
    claims = [_build_claim(*row) for row in rows if row[0] is not None]
    left_out = len(rows) - len(claims)
    by_rank: dict[int, list[_RankClaim]] = defaultdict(list)
    for claim in claims:
        by_rank[claim.member.rank].append(claim)
    if len(by_rank) < _MIN_RANKS:
        raise _too_few_ranks_error(name, len(rows), len(by_rank))
    notes = []
    if left_out:
        notes.append(f"{words.count(left_out, 'capture')} of the job {'has' if left_out == 1 else 'have'} no rank.")
    findings: list[Finding] = []
    runs = _split_runs(by_rank)
    if len(runs) > 1:
        notes.append(f"The job ran {words.count(len(runs), 'time')}: only its latest run is compared.")
        chosen = runs[-1]
        if absent := sorted(by_rank.keys() - chosen.keys()):
            listed = words.format_first_names([str(rank) for rank in absent], "rank")
            notes.append(f"An earlier run had {words.count(len(absent), 'more rank')}: {listed}.")
    else:
        chosen = {
            rank: max(of_rank, key=lambda each: (each.member.calls, each.started)) for rank, of_rank in by_rank.items()
        }
        findings += _find_duplicates(by_rank, chosen)
    kept = [chosen[rank] for rank in sorted(chosen)]
    findings += [*_find_missing_ranks(kept), *_find_version_differences(kept)]
    whole = [each for each in kept if not each.left_out]
    members = tuple(each.member for each in whole)
    if partly := [each for each in kept if each.left_out]:
        variables = ", ".join(sorted({name for each in partly for name in each.left_out}))
        partial = f"{words.count(len(partly), 'rank')} recorded only some of their calls ({variables})"
        if len(members) < _MIN_RANKS:
            raise FramedexError(
                f"{partial}: there is nothing to compare.",
                "Record the job again without these variables.",
            )
        notes.append(f"{partial} and {'is' if len(partly) == 1 else 'are'} not compared.")
    if damaged := [str(each.member.rank) for each in kept if each.has_problems]:
        names = words.format_first_names(damaged, "rank")
        lacking = f"The captures of {words.count(len(damaged), 'rank')} are incomplete ({names})"
        notes.append(f"{lacking}, which may cause differences. The prepared query `problems` has details.")
    return Members(members, _number_machines(whole), tuple(findings), tuple(notes))


def _build_claim(
    rank: int, capture: str, path: str, host: str, calls: int, started: int, packages: str, metadata: str, problems: str
) -> _RankClaim:
    versions: dict[str, str] = {}
    of_job: int | None = None
    left_out: tuple[str, ...] = ()
    booted: int | None = None
    try:
        parsed = json.loads(packages)
        versions = {str(name): str(version) for name, version in parsed.items()} if isinstance(parsed, dict) else {}
        recorded = Metadata.parse(metadata)
        of_job = read_job_size(recorded)
        if recorded.started_unix_ns is not None and recorded.started_clock_ns is not None:
            booted = recorded.started_unix_ns - recorded.started_clock_ns
        left_out = tuple(name for name in recorded.selected_by if name in _IGNORED_VARIABLES)
    except ValueError:  # not written by framedex
        pass
    member = Member(rank, capture, path, host, calls)
    return _RankClaim(member, started, booted, tuple(sorted(versions.items())), of_job, left_out, problems != "[]")


def _split_runs(by_rank: dict[int, list[_RankClaim]]) -> list[dict[int, _RankClaim]]:
    """Return the runs of a job in order, with one capture per rank; a single empty run if they cannot be told apart.

    If all ranks have N captures, the job ran N times, whatever the clocks say. Otherwise a repeated rank begins a new
    run. Then every gap between runs must exceed the spread of start times within each run.
    """
    times = {len(of_rank) for of_rank in by_rank.values()}
    if len(times) == 1:
        return [{rank: of_rank[time] for rank, of_rank in by_rank.items()} for time in range(times.pop())]
    runs: list[dict[int, _RankClaim]] = [{}]
    for claim in sorted((each for of_rank in by_rank.values() for each in of_rank), key=lambda each: each.started):
        if claim.member.rank in runs[-1]:
            runs.append({})
        runs[-1][claim.member.rank] = claim
    spans = [(min(started), max(started)) for started in ([each.started for each in run.values()] for run in runs)]
    longest = max(last - first for first, last in spans)
    are_apart = all(first - last > longest for (_, last), (first, _) in pairwise(spans))
    return runs if are_apart and len(runs[-1]) >= max(_MIN_RANKS, len(by_rank) / 2) else [{}]


def _number_machines(claims: Sequence[_RankClaim]) -> tuple[int, ...]:
    """Return the machine number of each capture: equal for the same host name and boot time.

    Containers may share a name on many machines, so the boot time must match. Names like `localhost` are ignored.
    """
    numbers = list(range(len(claims)))
    before: int | None = None
    for place in sorted(numbers, key=lambda place: (claims[place].member.host, claims[place].boot_time or 0)):
        one = claims[place]
        if before is not None and one.member.host not in _AMBIGUOUS_HOSTS:
            other = claims[before]
            if one.member.host == other.member.host and _is_near(one.boot_time, other.boot_time):
                numbers[place] = numbers[before]
        before = place
    return tuple(numbers)


def _is_near(one: int | None, other: int | None) -> bool:
    return one is not None and other is not None and abs(one - other) <= _SAME_BOOT_NS


def _unknown_job_error(connection: StoreConnection, name: str) -> FramedexError:
    jobs = [
        job
        for (job,) in connection.rows(
            "SELECT job FROM captures WHERE job <> '' GROUP BY job ORDER BY max(started) DESC", []
        )
    ]
    similar = find_nearest_name(name, jobs)
    listed = words.format_first_names([make_printable(job) for job in jobs], "job") if jobs else ""
    if not jobs:
        remedy = "Its captures have no job: set FRAMEDEX_JOB and FRAMEDEX_RANK when you record."
    elif similar is not None:
        remedy = f"Did you mean {make_printable(similar)}?"
    else:
        remedy = f"The store has {listed}."
    return FramedexError(f"There is no job {make_printable(name)!r} in the store.", remedy)


def _too_few_ranks_error(name: str, captures: int, ranks: int) -> FramedexError:
    if ranks:
        message = f"The job {make_printable(name)} has only one rank in the store: there is nothing to compare it with."
        return FramedexError(message, "Add the captures of its other ranks.")
    message = f"No rank is known for {words.count(captures, 'capture')} of the job {make_printable(name)}."
    return FramedexError(message, "Set FRAMEDEX_RANK to a different number in each process, and record the job again.")


def _find_duplicates(by_rank: dict[int, list[_RankClaim]], chosen: dict[int, _RankClaim]) -> Iterator[Finding]:
    for rank, claims in by_rank.items():
        if len(claims) > 1:
            kept = chosen[rank].member
            others = [each.member for each in claims if each.member is not kept]
            where = words.format_first_names([f"{each.path} of {each.host}" for each in others], "capture")
            yield Finding(
                Kind.CLAIMED,
                Severity.WARNING,
                (rank,),
                f"{words.count(len(claims), 'capture')} claim this rank. The one with the most calls is compared:"
                f" {kept.path} of {kept.host}. Left out: {where}.",
                times=len(claims),
                capture=kept.capture,
            )


def _find_missing_ranks(kept: Sequence[_RankClaim]) -> Iterator[Finding]:
    """Yield a finding about ranks without a capture, below the job's size or its highest rank."""
    common_size = Counter(each.size for each in kept if each.size is not None).most_common(1)
    size = common_size[0][0] if common_size else 0
    ranks = [each.member.rank for each in kept]
    gaps = []
    for before, after in zip([-1, *ranks], [*ranks, max(size, ranks[-1] + 1)], strict=True):
        if after - before > 1:
            gaps.append((before + 1, after - 1))
    if gaps:
        many = sum(last - first + 1 for first, last in gaps)
        ranks_missing = (
            tuple(rank for first, last in gaps for rank in range(first, last + 1)) if many <= _MAX_LISTED else ()
        )
        listed = words.format_first_names(
            [f"{first}" if first == last else f"{first}-{last}" for first, last in gaps], "gap"
        )
        reason = f"the job has {size:,}" if size > ranks[-1] else f"its highest rank is {ranks[-1]}"
        verb = "is" if many == 1 else "are"
        yield Finding(
            Kind.MISSING,
            Severity.ERROR,
            ranks_missing,
            f"{words.count(many, 'rank')} {verb} not in the store: {listed} ({reason}).",
            times=many,
        )


def _find_version_differences(kept: Sequence[_RankClaim]) -> Iterator[Finding]:
    """Yield findings about ranks whose package versions differ from those of most ranks."""
    (usual, _), *others = Counter(each.packages for each in kept if each.packages).most_common() or [((), 0)]
    for packages, _ in others:
        ranks = tuple(each.member.rank for each in kept if each.packages == packages)
        differing = [
            f"{name} {dict(packages).get(name, 'none')} (others {dict(usual).get(name, 'none')})"
            for name in sorted({*dict(packages), *dict(usual)})
            if dict(packages).get(name) != dict(usual).get(name)
        ]
        message = f"{words.format_first_names(differing, 'package')}."
        yield Finding(Kind.VERSIONS, Severity.WARNING, ranks, message, capture=_capture_of_rank(kept, ranks[0]))


def _capture_of_rank(kept: Sequence[_RankClaim], rank: int) -> str:
    return next(each.member.capture for each in kept if each.member.rank == rank)
