"""Filter the captures of a store by job, rank, id or day."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

from framedex.base import words
from framedex.base.errors import FramedexError
from framedex.base.plaintext import quote_shell_word
from framedex.index.file.values import to_storable

if TYPE_CHECKING:
    from framedex.fleet.store_queries import StoreConnection

_DIGITS = frozenset("0123456789abcdef")


@dataclass(frozen=True, slots=True)
class CaptureFilter:
    """A filter for captures: all given conditions must hold. `captures` are prefixes of ids.

    Raises FramedexError if a day is not a valid date.
    """

    job: str | None = None
    rank: int | None = None
    captures: Sequence[str] = ()
    day: str | None = None
    since: str | None = None

    def __post_init__(self) -> None:
        for day in (self.day, self.since):
            if day is not None:
                check_day(day)

    def rows(self, connection: StoreConnection) -> list[dict[str, Any]]:
        """Return the rows of the matching captures in a store, ordered by start time.

        Raises FramedexError if no capture matches, or a prefix of an id does not match exactly one capture.
        """
        columns = ("capture", "day", "job", "rank", "started", "calls", "problems", "metadata")
        found = connection.query(f"SELECT {', '.join(columns)} FROM captures ORDER BY started, capture").rows
        rows = [dict(zip(columns, row, strict=True)) for row in found]
        ids = {_match_id(prefix, [row["capture"] for row in rows], connection) for prefix in self.captures}
        job = None if self.job is None else to_storable(self.job)
        chosen = [
            row
            for row in rows
            if (not ids or row["capture"] in ids)
            and (job is None or row["job"] == job)
            and (self.rank is None or row["rank"] == self.rank)
            and (self.day is None or row["day"] == self.day)
            and (self.since is None or row["day"] >= self.since)
        ]
        if not chosen:
            raise FramedexError(
                f"None of the {words.count(len(rows), 'capture')} in the store matches.",
                f"{_listing_command(connection)} lists them with their jobs, ranks and days.",
            )
        return chosen


def _match_id(capture_id: str, ids: Sequence[str], connection: StoreConnection) -> str:
    fits = [each for each in ids if set(capture_id) <= _DIGITS and each.startswith(capture_id)]
    if len(fits) != 1:
        many = f"{len(fits):,} captures whose ids begin" if fits else "no capture whose id begins"
        raise FramedexError(
            f"The store has {many} with {capture_id!r}.", f"{_listing_command(connection)} lists them with their ids."
        )
    return fits[0]


def _listing_command(connection: StoreConnection) -> str:
    return f"`framedex fleet query captures --store {quote_shell_word(connection.address)}`"


def check_day(day_text: str) -> None:
    """Raise FramedexError if a text is not a date as YYYY-MM-DD."""
    try:
        is_day = date.fromisoformat(day_text).isoformat() == day_text
    except ValueError:
        is_day = False
    if not is_day:
        raise FramedexError(f"{day_text!r} is not a date.", "Write dates like 2026-11-24.")
