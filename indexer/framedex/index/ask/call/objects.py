"""Look up runtime objects by name, and name the objects among the arguments of calls."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter

from framedex.base.errors import FramedexError
from framedex.index.file.conventions import IN_JSON, Row, build_json_list
from framedex.index.file.values import to_signed, to_unsigned
from framedex.index.read.rows import Reader, decode_arguments
from framedex.model import CallRow, ObjectRow
from framedex.programs.objects import ObjectField, find_boundary_function
from framedex.programs.objects.table import find_fields_of_type, iterate_objects, parse_address

_NAME = re.compile(r"(?P<type>[a-z0-9_]+)#(?P<number>\d{1,18})")
_CALLS_PER_PORTION = 5_000
_MAX_BIRTHS = 50_000  # limit of births held in memory

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

    def find(self, name: str, capture: int | None = None) -> ObjectRow:
        """Return the object of this name (`buffer#12`) in a capture, by default in the latest one that has it.

        Raises FramedexError if the name is malformed or no capture has the object.
        """
        match = _NAME.fullmatch(name)
        if match is None:
            raise FramedexError(f"'{name}' is not an object name.", "`framedex calls` shows names such as buffer#12.")
        row = self._find_row(match["type"], int(match["number"]), capture)
        if row is None:
            where = "the index" if capture is None else f"capture {capture}"
            raise FramedexError(f"There is no {name} in {where}.", "`framedex calls` shows the names of objects.")
        return _build_object(row)

    def _find_row(self, kind: str, number: int, capture: int | None) -> Row | None:
        """Return the columns of the latest object of this name."""
        types = self.reader.rows(
            "SELECT t.id, t.capture FROM object_types t JOIN captures p ON p.id = t.capture"
            " WHERE t.name = ?1 AND (?2 IS NULL OR t.capture = ?2) ORDER BY p.run DESC, p.started DESC, p.id DESC",
            kind,
            capture,
        )
        for type_id, of_capture in types:
            passed = 0
            ranges = read_object_ranges(self.reader, of_capture)
            for first, last in ranges:
                # Objects numbered by birth have `number - 1` births before this one.
                begin = first + max(number - 1 - passed, 0)
                passed += last - first + 1
                row = self._find_in_range(type_id, number, begin, last)
                if row is not None:
                    return row
            for first, last in ranges:
                row = self._find_in_range(type_id, number, first, last)
                if row is not None:
                    return row
        return None

    def _find_in_range(self, type_id: int, number: int, first: int, last: int) -> Row | None:
        return self.reader.row(
            f"SELECT {_COLUMNS} FROM {_TABLES} WHERE o.id = (SELECT id FROM object_rows"
            " WHERE id BETWEEN ? AND ? AND +type = ? AND number = ? ORDER BY id LIMIT 1)",
            first,
            last,
            type_id,
            number,
        )


def read_object_ranges(reader: Reader, capture: int) -> list[tuple[int, int]]:
    """Return the id ranges of a capture's objects, in order of birth."""
    query = "SELECT first_object, last_object FROM object_ranges WHERE capture = ? ORDER BY first_object"
    return [(first, last) for first, last in reader.rows(query, capture)]


def _build_object(row: Row) -> ObjectRow:
    """Build an object from its columns."""
    return ObjectRow(
        id=row[0],
        capture=row[1],
        name=f"{row[2]}#{row[3]}",
        type=row[2],
        address=to_unsigned(row[4]),
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


def find_calls_of_object(reader: Reader, name: str, capture: int | None) -> ObjectCalls:
    """Return the calls with this runtime object among their values. Raises FramedexError as `Objects.find` does."""
    found = Objects(reader).find(name, capture)
    boundaries = {name: identifier for identifier, name in reader.rows("SELECT id, name FROM boundaries")}
    texts = reader.rows(
        "SELECT id, json FROM arguments WHERE capture = ? AND instr(json, ?) > 0",
        found.capture,
        f'"{found.address:#x}"',
    )
    conditions, parameters = ["0"], list[object]()
    for field, functions in find_fields_of_type(found.type).items():
        called = [boundaries[function] for function in functions if function in boundaries]
        arguments_with_object = [
            identifier
            for identifier, text in texts
            if _contains_address(decode_arguments(text).get(field), found.address)
        ]
        if called and arguments_with_object:
            conditions.append(f"(k.boundary {IN_JSON} AND c.arguments {IN_JSON})")
            parameters += [build_json_list(called), build_json_list(arguments_with_object)]
    return ObjectCalls(found.first_call, found.last_call, f"({' OR '.join(conditions)})", parameters)


def name_objects(reader: Reader, calls: Sequence[CallRow]) -> list[CallRow]:
    """Return the calls with the names of their argument objects."""
    named = zip(calls, read_object_names(reader, calls), strict=True)
    return [replace(call, objects=names) if names else call for call, names in named]


def read_object_names(reader: Reader, calls: Sequence[CallRow]) -> list[ObjectNames]:
    """Return the names of the argument objects of each call."""
    names: list[ObjectNames] = [{} for _ in calls]
    for first in range(0, len(calls), _CALLS_PER_PORTION):
        positions = range(first, min(first + _CALLS_PER_PORTION, len(calls)))
        for capture in dict.fromkeys(calls[position].capture for position in positions):
            _add_names(
                reader,
                capture,
                {position: calls[position] for position in positions if calls[position].capture == capture},
                names,
            )
    return names


def _add_names(reader: Reader, capture: int, calls: dict[int, CallRow], names: list[ObjectNames]) -> None:
    """Fill in the object names for calls of one capture; keys are positions in `names`."""
    addresses = [(position, *each) for position, call in calls.items() for each in _iter_addresses(call)]
    lookup = _ObjectLookup(reader, capture, [time for *_, time in addresses]) if addresses else None
    for position, field, address, time in addresses:
        number = lookup.find_number(field.type, address, time) if lookup is not None else None
        name = None if number is None else f"{field.type}#{number}"
        if field.is_list:
            listed = names[position].setdefault(field.name, [])
            assert isinstance(listed, list)
            listed.append(name)
        elif name is not None:
            names[position][field.name] = name


class _ObjectLookup:
    """Maps (address, time) to an object of a capture: the last one created there by that time.

    Objects are numbered in order of birth, so a time is an id, and an index has the ids of each address. Any lookup
    costs two searches, regardless of the number of objects at an address. Both run in memory if few births lie between
    the first and the last requested time.
    """

    def __init__(self, reader: Reader, capture: int, times: Sequence[int]) -> None:
        query = "SELECT name, id FROM object_types WHERE capture = ?"
        self._types: dict[str, int] = dict(reader.rows(query, capture))
        first, last = min(times), max(times)
        self._ranges = [
            _CreatedObjects(reader, *ids, born_before=first, born_by=last)
            for ids in reversed(read_object_ranges(reader, capture))
        ]

    def find_number(self, kind: str, address: int, time: int) -> int | None:
        """Return the number of the object of this type, or None if there was none."""
        type_id = self._types.get(kind)
        if type_id is None or not address:
            return None
        numbers = (births.find_number(to_signed(address), type_id, time) for births in self._ranges)
        return next((number for number in numbers if number is not None), None)


class _CreatedObjects:
    """The objects with ids from `first` to `last`, restricted to the requested times."""

    def __init__(self, reader: Reader, first: int, last: int, *, born_before: int, born_by: int) -> None:
        self._reader = reader
        self._first = first
        self._begin = self._find_first_born_after(first, last + 1, born_before)
        self._end = self._find_first_born_after(self._begin, last + 1, born_by)
        self._times: list[int] | None = None
        self._here: dict[tuple[int, int], list[tuple[int, int]]] = {}  # {(address, type): [(id, number)]}
        self._earlier: dict[tuple[int, int], int | None] = {}  # number of the last object born before these
        if self._end - self._begin <= _MAX_BIRTHS:
            self._times = self._read()

    def find_number(self, address: int, type_id: int, time: int) -> int | None:
        """Return the number of the last object of a type born at an address by a time (ns)."""
        if self._times is None:
            return self._find_last(address, type_id, self._find_first_born_after(self._begin, self._end, time) - 1)
        last = self._begin + bisect_right(self._times, time) - 1
        key = address, type_id
        born_here = self._here.get(key, ())
        if born := bisect_right(born_here, last, key=itemgetter(0)):
            return born_here[born - 1][1]
        if key not in self._earlier:
            self._earlier[key] = self._find_last(address, type_id, self._begin - 1)
        return self._earlier[key]

    def _read(self) -> list[int]:
        """Read the objects born between the two times; return their birth times in ns."""
        query = "SELECT id, born, address, type, number FROM object_rows WHERE id BETWEEN ? AND ? ORDER BY id"
        times = []
        for identifier, born, address, type_id, number in self._reader.rows(query, self._begin, self._end - 1):
            times.append(born)
            self._here.setdefault((address, type_id), []).append((identifier, number))
        return times

    def _find_last(self, address: int, type_id: int, last: int) -> int | None:
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

    def _find_first_born_after(self, begin: int, end: int, time: int) -> int:
        """Return the first id whose object was born after a time (ns), or `end` if there is none."""
        while begin < end:
            middle = (begin + end) // 2
            row = self._reader.row("SELECT born FROM object_rows WHERE id = ?", middle)
            if row is None or row[0] > time:
                end = middle
            else:
                begin = middle + 1
        return begin


def _iter_addresses(call: CallRow) -> Iterator[tuple[ObjectField, int, int]]:
    """Yield (field, address, time in ns) of the objects among a call's values; the address was valid at that time."""
    for field in find_boundary_function(call.function).objects:
        time = call.start + max(call.duration, 0) if field.is_result else call.start
        for element in iterate_objects(field, call.arguments.get(field.name)):
            address = parse_address(element)
            if address or field.is_list:
                yield field, address, time


def _contains_address(value: object, address: int) -> bool:
    if isinstance(value, list):
        return any(_contains_address(element, address) for element in value)
    return parse_address(value) == address
