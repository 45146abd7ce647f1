"""Runtime objects: lookup by name, and object names for the arguments of calls."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter

from framedex.errors import FramedexError
from framedex.index.file.conventions import IN_JSON, Row, json_list
from framedex.index.file.values import signed, unsigned
from framedex.index.read.rows import Reader, arguments
from framedex.model import CallRow, ObjectRow
from framedex.objects import ObjectField, function_named
from framedex.objects.table import address_of, elements, functions_with

_NAME = re.compile(r"(?P<type>[a-z0-9_]+)#(?P<number>\d{1,18})")
_AT_ONCE = 5_000  # calls per portion
_MOST_BIRTHS = 50_000  # limit of births held in memory

ObjectNames = dict[str, str | list[str | None]]
"""Names of a call's objects by field; None in a list marks an element that is not an object."""

_COLUMNS = (
    "o.id, t.capture, t.name, o.number, o.address, o.size, o.uses, o.created_call, o.first_call, o.last_call,"
    " o.deleted_call, o.destroyed_call, u.name, k.number"
)
# The tables instead of the view: SQLite would build all rows of the view for the right side of a LEFT JOIN.
_TABLES = (
    "object_rows o JOIN object_types t ON t.id = o.type"
    " LEFT JOIN object_rows k ON k.id = o.client LEFT JOIN object_types u ON u.id = k.type"
)


@dataclass(frozen=True, slots=True)
class Objects:
    """The runtime objects of all captures."""

    reader: Reader

    def named(self, name: str, capture: int | None = None) -> ObjectRow:
        """Return the object of this name (`buffer#12`) in a capture, by default in the latest one that has it.

        Raises FramedexError if the name is malformed or no capture has the object.
        """
        match = _NAME.fullmatch(name)
        if match is None:
            raise FramedexError(f"'{name}' is not an object's name.", "`framedex calls` shows names such as buffer#12.")
        row = self._found(match["type"], int(match["number"]), capture)
        if row is None:
            where = "the index" if capture is None else f"capture {capture}"
            raise FramedexError(f"There is no {name} in {where}.", "`framedex calls` shows the names of objects.")
        return _object_row(row)

    def _found(self, kind: str, number: int, capture: int | None) -> Row | None:
        """Return the columns of the latest object of this name."""
        types = self.reader.rows(
            "SELECT t.id, t.capture FROM object_types t JOIN captures p ON p.id = t.capture"
            " WHERE t.name = ?1 AND (?2 IS NULL OR t.capture = ?2) ORDER BY p.run DESC, p.started DESC, p.id DESC",
            kind,
            capture,
        )
        for type_id, of_capture in types:
            passed = 0
            ranges = object_ranges(self.reader, of_capture)
            for first, last in ranges:
                # Objects numbered by birth have `number - 1` births before this one.
                begin = first + max(number - 1 - passed, 0)
                passed += last - first + 1
                row = self._in_range(type_id, number, begin, last)
                if row is not None:
                    return row
            for first, last in ranges:
                row = self._in_range(type_id, number, first, last)
                if row is not None:
                    return row
        return None

    def _in_range(self, type_id: int, number: int, first: int, last: int) -> Row | None:
        return self.reader.row(
            f"SELECT {_COLUMNS} FROM {_TABLES} WHERE o.id = (SELECT id FROM object_rows"
            " WHERE id BETWEEN ? AND ? AND +type = ? AND number = ? ORDER BY id LIMIT 1)",
            first,
            last,
            type_id,
            number,
        )


def object_ranges(reader: Reader, capture: int) -> list[tuple[int, int]]:
    """Return the id ranges of a capture's objects, in order of birth."""
    query = "SELECT first_object, last_object FROM object_ranges WHERE capture = ? ORDER BY first_object"
    return [(first, last) for first, last in reader.rows(query, capture)]


def _object_row(row: Row) -> ObjectRow:
    """Build an object from its columns."""
    return ObjectRow(
        id=row[0],
        capture=row[1],
        name=f"{row[2]}#{row[3]}",
        type=row[2],
        address=unsigned(row[4]),
        size=row[5],
        uses=row[6],
        created_call=row[7],
        first_call=row[8],
        last_call=row[9],
        deleted_call=row[10],
        destroyed_call=row[11],
        client=None if row[12] is None else f"{row[12]}#{row[13]}",
    )


@dataclass(frozen=True, slots=True)
class ObjectCalls:
    """The calls with an object among their values: ids from `first` to `last` that fulfil the condition.

    The condition is on `call_rows c` and `call_kinds k`, and takes the parameters.
    """

    first: int
    last: int
    condition: str
    parameters: list[object]


def calls_of_object(reader: Reader, name: str, capture: int | None) -> ObjectCalls:
    """Return the calls with this runtime object among their values. Raises FramedexError as `Objects.named` does."""
    found = Objects(reader).named(name, capture)
    boundaries = {name: identifier for identifier, name in reader.rows("SELECT id, name FROM boundaries")}
    texts = reader.rows(
        "SELECT id, json FROM arguments WHERE capture = ? AND instr(json, ?) > 0",
        found.capture,
        f'"{found.address:#x}"',
    )
    conditions, parameters = ["0"], list[object]()
    for field, functions in functions_with(found.type).items():
        called = [boundaries[function] for function in functions if function in boundaries]
        holding = [identifier for identifier, text in texts if _holds(arguments(text).get(field), found.address)]
        if called and holding:
            conditions.append(f"(k.boundary {IN_JSON} AND c.arguments {IN_JSON})")
            parameters += [json_list(called), json_list(holding)]
    return ObjectCalls(found.first_call, found.last_call, f"({' OR '.join(conditions)})", parameters)


def name_objects(reader: Reader, calls: Sequence[CallRow]) -> list[CallRow]:
    """Return the calls with the names of their argument objects."""
    named = zip(calls, object_names(reader, calls), strict=True)
    return [replace(call, objects=names) if names else call for call, names in named]


def object_names(reader: Reader, calls: Sequence[CallRow]) -> list[ObjectNames]:
    """Return the names of the argument objects of each call."""
    names: list[ObjectNames] = [{} for _ in calls]
    for first in range(0, len(calls), _AT_ONCE):
        places = range(first, min(first + _AT_ONCE, len(calls)))
        for capture in dict.fromkeys(calls[place].capture for place in places):
            _find_names(reader, capture, {at: calls[at] for at in places if calls[at].capture == capture}, names)
    return names


def _find_names(reader: Reader, capture: int, calls: dict[int, CallRow], names: list[ObjectNames]) -> None:
    """Fill in the object names for calls of one capture; keys are positions in `names`."""
    sightings = [(place, *each) for place, call in calls.items() for each in _sightings(call)]
    at = _ObjectsAt(reader, capture, [time for *_, time in sightings]) if sightings else None
    for place, known, address, time in sightings:
        number = at.number(known.type, address, time) if at is not None else None
        name = None if number is None else f"{known.type}#{number}"
        if known.is_list:
            listed = names[place].setdefault(known.name, [])
            assert isinstance(listed, list)
            listed.append(name)
        elif name is not None:
            names[place][known.name] = name


class _ObjectsAt:
    """Maps (address, time) to an object of a capture: the last one born there by that time.

    Objects are numbered in order of birth, so a time is an id, and an index has the ids of each address. Any lookup
    costs two searches, regardless of the number of objects at an address. Both run in memory if few births lie between
    the first and the last requested time.
    """

    def __init__(self, reader: Reader, capture: int, times: Sequence[int]) -> None:
        query = "SELECT name, id FROM object_types WHERE capture = ?"
        self._types: dict[str, int] = dict(reader.rows(query, capture))
        first, last = min(times), max(times)
        self._ranges = [
            _Births(reader, *ids, born_before=first, born_by=last) for ids in reversed(object_ranges(reader, capture))
        ]

    def number(self, kind: str, address: int, time: int) -> int | None:
        """Return the number of the object of this type, or None if there was none."""
        type_id = self._types.get(kind)
        if type_id is None or not address:
            return None
        numbers = (births.number(signed(address), type_id, time) for births in self._ranges)
        return next((number for number in numbers if number is not None), None)


class _Births:
    """The objects with ids from `first` to `last`, restricted to the requested times."""

    def __init__(self, reader: Reader, first: int, last: int, *, born_before: int, born_by: int) -> None:
        self._reader = reader
        self._first = first
        self._begin = self._search(first, last + 1, born_before)
        self._end = self._search(self._begin, last + 1, born_by)
        self._times: list[int] | None = None
        self._here: dict[tuple[int, int], list[tuple[int, int]]] = {}  # {(address, type): [(id, number)]}
        self._earlier: dict[tuple[int, int], int | None] = {}  # number of the last object born before these
        if self._end - self._begin <= _MOST_BIRTHS:
            self._times = self._read()

    def number(self, address: int, type_id: int, time: int) -> int | None:
        """Return the number of the last object of a type born at an address by a time (ns)."""
        if self._times is None:
            return self._last_at(address, type_id, self._search(self._begin, self._end, time) - 1)
        last = self._begin + bisect_right(self._times, time) - 1
        key = address, type_id
        here = self._here.get(key, ())
        if born := bisect_right(here, last, key=itemgetter(0)):
            return here[born - 1][1]
        if key not in self._earlier:
            self._earlier[key] = self._last_at(address, type_id, self._begin - 1)
        return self._earlier[key]

    def _read(self) -> list[int]:
        """Read the objects born between the two times; return their birth times in ns."""
        query = "SELECT id, born, address, type, number FROM object_rows WHERE id BETWEEN ? AND ? ORDER BY id"
        times = []
        for identifier, born, address, type_id, number in self._reader.rows(query, self._begin, self._end - 1):
            times.append(born)
            self._here.setdefault((address, type_id), []).append((identifier, number))
        return times

    def _last_at(self, address: int, type_id: int, last: int) -> int | None:
        """Return the number of the last object at an address with an id up to `last`."""
        row = self._reader.row(
            "SELECT number FROM object_rows WHERE address = ? AND id BETWEEN ? AND ? AND +type = ?"
            " ORDER BY id DESC LIMIT 1",
            address,
            self._first,
            last,
            type_id,
        )
        return None if row is None else int(row[0])

    def _search(self, begin: int, end: int, time: int) -> int:
        """Return the first of these ids whose object was born after a time (ns), or `end` if none was."""
        while begin < end:
            middle = (begin + end) // 2
            row = self._reader.row("SELECT born FROM object_rows WHERE id = ?", middle)
            if row is None or row[0] > time:
                end = middle
            else:
                begin = middle + 1
        return begin


def _sightings(call: CallRow) -> Iterator[tuple[ObjectField, int, int]]:
    """Yield (field, address, time in ns) of the objects among a call's values; the address was valid at that time."""
    for known in function_named(call.function).objects:
        time = call.start + max(call.duration, 0) if known.is_result else call.start
        for element in elements(known, call.arguments.get(known.name)):
            address = address_of(element)
            if address or known.is_list:
                yield known, address, time


def _holds(value: object, address: int) -> bool:
    if isinstance(value, list):
        return any(_holds(element, address) for element in value)
    return address_of(value) == address
