"""Memory that was passed on: a buffer that is donated to a run gives its memory to a buffer that the run makes.

No call tells a donation. What tells it: a run has more results than it allocated, and what one of its arguments was in
is not given back where that argument is destroyed.
"""

from __future__ import annotations

import json
import sqlite3
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from framedex.index.file.conventions import IN_JSON, json_list
from framedex.index.write.allocations import Pieces
from framedex.index.write.programs import RUNS
from framedex.objects.table import address_of


def passed_on(connection: sqlite3.Connection, capture: int, pieces: Pieces) -> Pieces:
    """The pieces, each with a row for every run that it was passed on to."""
    runs = _runs_with_more_results(connection, capture, pieces)
    if not runs:
        return pieces
    buffers = _Buffers.of(connection, capture)
    donations = _Donations(connection, pieces, buffers, runs)
    passed = donations.passed
    if not passed:
        return pieces
    piece, call, time = (np.array(column, np.int64) for column in zip(*passed, strict=True))
    return pieces.with_tenants(piece, call, time)


def _runs_with_more_results(connection: sqlite3.Connection, capture: int, pieces: Pieces) -> list[int]:
    """The runs that made more buffers than they allocated."""
    allocated = Counter(pieces.made[pieces.freed != pieces.made].tolist())
    query = (
        "SELECT o.created_call, count(*) FROM call_kinds k JOIN boundaries b ON b.id = k.boundary AND b.name = ?2"
        " JOIN created_objects x ON x.kind = k.id JOIN object_types t ON t.id = x.type AND t.name = 'buffer'"
        " JOIN object_ranges r ON r.capture = k.capture"
        " JOIN object_rows o ON o.id BETWEEN r.first_object AND r.last_object AND o.type = t.id"
        " JOIN call_rows c ON c.id = o.created_call AND c.kind = k.id"
        " WHERE k.capture = ?1 AND k.error = 0 GROUP BY o.created_call"
    )
    rows = connection.execute(query, (capture, RUNS))
    return [call for call, results in rows if results > allocated[call]]


@dataclass(frozen=True, slots=True)
class _Buffers:
    """A capture's buffers by their ids: the call that made each, those that ended it, and who was where when."""

    made: dict[int, int]
    ends: dict[int, set[int]]
    at: dict[int, tuple[list[int], list[int]]]  # by address: when they were born, and their ids

    @classmethod
    def of(cls, connection: sqlite3.Connection, capture: int) -> _Buffers:
        rows = connection.execute(
            "SELECT o.id, o.created_call, o.address, o.born, o.deleted_call, o.destroyed_call FROM object_types t"
            " JOIN object_ranges r ON r.capture = t.capture"
            " JOIN object_rows o ON o.id BETWEEN r.first_object AND r.last_object AND o.type = t.id"
            " WHERE t.capture = ? AND t.name = 'buffer' AND o.created_call IS NOT NULL ORDER BY o.born",
            (capture,),
        )
        made: dict[int, int] = {}
        ends: dict[int, set[int]] = {}
        at: defaultdict[int, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
        for identifier, call, address, born, *ended in rows:
            made[identifier] = call
            ends[identifier] = {each for each in ended if each is not None}
            at[address & (1 << 64) - 1][0].append(born)
            at[address & (1 << 64) - 1][1].append(identifier)
        return cls(made, ends, dict(at))

    def there(self, address: object, time: int) -> int:
        """The buffer at a recorded address at a time; 0 where none is known."""
        born, identifiers = self.at.get(address_of(address), ([], []))
        place = bisect_right(born, time)
        return identifiers[place - 1] if place else 0


@dataclass(frozen=True, slots=True)
class _Run:
    """A run of an executable: its arguments and results, for each device those of that device, in their order."""

    call: int
    start: int
    given: list[list[int]]
    results: list[list[int]]


class _Donations:
    """Finds what was passed on to these runs, in the order of time: triples of piece, call and time."""

    def __init__(self, connection: sqlite3.Connection, pieces: Pieces, buffers: _Buffers, runs: list[int]) -> None:
        self._connection = connection
        self._pieces = pieces
        self._buffers = buffers
        self._made = self._pieces_by_call() if runs else {}
        self._of_buffer: dict[int, int] = {}  # the piece that a buffer is in
        self.passed: list[tuple[int, int, int]] = []
        known = list(self._read(runs))
        given_last = {buffer: run.call for run in known for row in run.given for buffer in row}
        for run in known:
            for row, (given, results) in enumerate(zip(run.given, run.results, strict=False)):
                last = [buffer for buffer in dict.fromkeys(given) if buffer and given_last[buffer] == run.call]
                self._pass_on(run, row, last, results)

    def _pieces_by_call(self) -> dict[int, list[list[int]]]:
        """What each call allocated and left, for each device in the order in which the call came to it."""
        found: defaultdict[int, defaultdict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
        pieces = self._pieces
        kept = np.flatnonzero((pieces.freed != pieces.made) & (pieces.made > 0))
        for piece in kept[np.argsort(pieces.by[kept], kind="stable")].tolist():
            found[int(pieces.made[piece])][int(pieces.device[piece])].append(piece)
        return {call: list(rows.values()) for call, rows in found.items()}

    def _read(self, calls: Iterable[int]) -> Iterable[_Run]:
        query = (
            "SELECT c.id, c.start, c.duration, a.json FROM call_rows c JOIN arguments a ON a.id = c.arguments"
            f" WHERE c.id {IN_JSON} ORDER BY c.start"
        )
        for call, start, duration, text in self._connection.execute(query, (json_list(calls),)):
            told = json.loads(text)
            given, results = (
                [[self._buffers.there(address, time) for address in row or []] for row in told.get(name) or []]
                for name, time in (("argument_lists", start), ("output_lists", start + max(duration, 0)))
            )
            yield _Run(call, start, given, results)

    def _pass_on(self, run: _Run, row: int, given: list[int], results: list[int]) -> None:
        own = self._allocated(run.call, row, len(run.results))
        donated = self._likeliest([piece for piece in map(self._donated, given) if piece is not None], results, own)
        self.passed += [(piece, run.call, run.start) for piece in donated]
        coming = [*donated, *own]
        for buffer in results:
            ends = self._buffers.ends.get(buffer, set())
            piece = next((each for each in coming if int(self._pieces.freed[each]) in ends), None)
            if piece is not None:
                self._of_buffer[buffer] = piece
                coming.remove(piece)
        # Which of the others is in which piece no call tells: they are of one line, so that only a program that goes
        # on to donate some of them shows a difference.
        rest = [buffer for buffer in results if buffer not in self._of_buffer]
        self._of_buffer.update(zip(rest, coming, strict=False))

    def _likeliest(self, donated: list[int], results: list[int], own: list[int]) -> list[int]:
        """As many as there are results that nothing was allocated for: those that live on longest.

        What a run only reads is given back when it has ended, which may be later than its buffer was destroyed.
        """
        missing = max(len(results) - len(own), 0)
        longest = {*sorted(donated, key=lambda piece: -int(self._pieces.died[piece]))[:missing]}
        return [piece for piece in donated if piece in longest]

    def _allocated(self, call: int, row: int, rows: int) -> list[int]:
        by_device = self._made.get(call, [])
        return by_device[row] if len(by_device) == rows else []

    def _donated(self, buffer: int) -> int | None:
        """The piece that a buffer is in, unless it is given back with it, or not at all."""
        piece = self._of_buffer.get(buffer)
        if piece is None:
            piece = self._piece_of_new(buffer)
        if piece is None or not self._pieces.freed[piece]:
            return None
        return None if int(self._pieces.freed[piece]) in self._buffers.ends[buffer] else piece

    def _piece_of_new(self, buffer: int) -> int | None:
        """The piece of a buffer whose call allocated all that it made."""
        call = self._buffers.made[buffer]
        made = self._made.get(call, [])
        if len(made) == 1 == len(made[0]):
            return made[0][0]
        for run in self._read([call]):
            for row, results in enumerate(run.results):
                own = self._allocated(call, row, len(run.results))
                if buffer in results and len(own) == len(results):
                    self._of_buffer.update(zip(results, own, strict=True))
        return self._of_buffer.get(buffer)
