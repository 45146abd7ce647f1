"""Calls that failed or never returned on a minority of ranks."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from framedex.base import words
from framedex.fleet.ranks.model import Finding, Kind
from framedex.model import Severity
from framedex.texts.errors import name_error

if TYPE_CHECKING:
    from framedex.fleet.ranks.members import Members
    from framedex.fleet.store_queries import StoreConnection

_NEVER_RETURNED = -1

# Calls of the mock and of behaviours are nested in calls that fail with them.
_FAILED = """
SELECT r.place, k.function, k.error, u.path, u.line, sum(k.calls)::BIGINT, min(k.first_call),
    arg_min(k.stack, k.first_call)
FROM ({kinds}) k JOIN ranks r ON r.capture = k.capture LEFT JOIN user_lines_readable u ON u.stack = k.stack
WHERE k.error <> 0 AND k.boundary NOT IN ('mock_tpu', 'behaviour') GROUP BY ALL ORDER BY ALL
"""


@dataclass(frozen=True, slots=True)
class _FailedCalls:
    position: int
    calls: int
    first: int
    stack: str
    path: str | None
    line: int | None


def find_failures(connection: StoreConnection, members: Members) -> tuple[list[Finding], list[str]]:
    """Return the failures that most ranks do not have, and sentences about calls that most ranks never returned from.

    The calls of the ranks must have been read before: this creates the table `ranks`.
    """
    kinds = connection.build_rows_sql("call_kinds", [member.capture for member in members.members])
    failed: dict[tuple[str, str, int], list[_FailedCalls]] = defaultdict(list)
    for place, function, error, path, line, calls, first, stack in connection.rows(_FAILED.format(kinds=kinds)):
        where = "" if path is None else f"{path.rpartition('/')[2]}:{line}"
        failed[where, function, error].append(_FailedCalls(place, calls, first, stack, path, line))
    findings, notes = [], []
    for (where, function, error), of_ranks in failed.items():
        ranks = sorted({each.position for each in of_ranks})
        if len(ranks) * 2 > len(members.members):
            if error == _NEVER_RETURNED:
                of_line = f" at {where}" if where else ""
                notes.append(f"{words.count(len(ranks), 'rank')} never returned from {function}{of_line}.")
            continue
        if error == _NEVER_RETURNED:
            kind, tells = Kind.HANG, f"{function} never returned."
        else:
            kind, tells = Kind.FAILS, f"{function} fails with {name_error(error)}; on most ranks it succeeds."
        for place in ranks:
            of_rank = [each for each in of_ranks if each.position == place]
            first = min(of_rank, key=lambda each: each.first)
            member = members.members[place]
            findings.append(
                Finding(
                    kind,
                    Severity.ERROR,
                    (member.rank,),
                    tells,
                    times=sum(each.calls for each in of_rank),
                    path=first.path,
                    line=first.line,
                    capture=member.capture,
                    call=first.first,
                    stack=first.stack,
                )
            )
    return findings, notes
