"""The objects of the runtime: found by their names, and named in the calls."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from framedex.errors import FramedexError
from framedex.index.file.conventions import IN_JSON, Row, json_list
from framedex.index.file.values import signed, unsigned
from framedex.index.read.rows import Reader, arguments
from framedex.model import CallRow, ObjectRow
from framedex.objects import ObjectField, function_named
from framedex.objects.table import address_of, elements, functions_with

_NAME = re.compile(r"(?P<type>[a-z0-9_]+)#(?P<number>\d{1,18})")
_AT_ONCE = 5_000  # calls

_COLUMNS = (
    "o.id, t.capture, t.name, o.number, o.address, o.size, o.uses, o.created_call, o.first_call, o.last_call,"
    " o.deleted_call, o.destroyed_call, u.name, k.number"
)
# Not the view: SQLite would make all of its rows for the right side of a LEFT JOIN.
_TABLES = (
    "object_rows o JOIN object_types t ON t.id = o.type"
    " LEFT JOIN object_rows k ON k.id = o.client LEFT JOIN object_types u ON u.id = k.type"
)


@dataclass(frozen=True, slots=True)
class Objects:
    """The objects of the runtime, in all captures."""

    reader: Reader

    def named(self, name: str, capture: int | None = None) -> ObjectRow:
        """The object of this name (`buffer#12`) in a capture, by default in the latest one that has it.

        Raises FramedexError where the name is none, or no capture has it.
        """
        match = _NAME.fullmatch(name)
        if match is None:
            raise FramedexError(
                f"'{name}' is no name of an object.", "Objects are named like buffer#12 by `framedex calls`."
            )
        row = self._found(match["type"], int(match["number"]), capture)
        if row is None:
            where = "the index" if capture is None else f"capture {capture}"
            raise FramedexError(f"There is no {name} in {where}.", "`framedex calls` shows the names of objects.")
        return _object_row(row)

    def _found(self, kind: str, number: int, capture: int | None) -> Row | None:
        """The columns of the latest object of this name."""
        types = self.reader.rows(
            "SELECT t.id, t.capture FROM object_types t JOIN captures p ON p.id = t.capture"
            " WHERE t.name = ?1 AND (?2 IS NULL OR t.capture = ?2) ORDER BY p.run DESC, p.started DESC, p.id DESC",
            kind,
            capture,
        )
        for type_id, of_capture in types:
            passed = 0
            ranges = _ranges(self.reader, of_capture)
            for first, last in ranges:
                # Where objects are numbered in the order of their birth, so many are born before this one.
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


def _ranges(reader: Reader, capture: int) -> list[tuple[int, int]]:
    """The ids of a capture's objects, in the order of their birth."""
    query = "SELECT first_object, last_object FROM object_ranges WHERE capture = ? ORDER BY first_object"
    return [(first, last) for first, last in reader.rows(query, capture)]


def _object_row(row: Row) -> ObjectRow:
    """An object from its columns."""
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
    """The calls that an object is a value of: with ids from `first` to `last`, and fulfilling the condition.

    The condition is on `call_rows c` and `call_kinds k`, and takes the parameters.
    """

    first: int
    last: int
    condition: str
    parameters: list[object]


def calls_of_object(reader: Reader, name: str, capture: int | None) -> ObjectCalls:
    """The calls that an object of the runtime is a value of. Raises FramedexError as `Objects.named` does."""
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
    """The calls, with the names of the objects that are their arguments."""
    named: list[CallRow] = []
    for first in range(0, len(calls), _AT_ONCE):
        some = calls[first : first + _AT_ONCE]
        for capture in dict.fromkeys(call.capture for call in some):
            named += _named(reader, capture, [call for call in some if call.capture == capture])
    return named


def _named(reader: Reader, capture: int, calls: Sequence[CallRow]) -> Iterator[CallRow]:
    sightings = [(place, *each) for place, call in enumerate(calls) for each in _sightings(call)]
    at = _ObjectsAt(reader, capture) if sightings else None
    objects: list[dict[str, str | list[str | None]]] = [{} for _ in calls]
    for place, known, address, time in sightings:
        number = at.number(known.type, address, time) if at is not None else None
        name = None if number is None else f"{known.type}#{number}"
        if known.is_list:
            listed = objects[place].setdefault(known.name, [])
            assert isinstance(listed, list)
            listed.append(name)
        elif name is not None:
            objects[place][known.name] = name
    return (replace(call, objects=names) if names else call for call, names in zip(calls, objects, strict=True))


class _ObjectsAt:
    """Which object of a capture an address was at a time: the last of those that were born by then.

    Objects are numbered in the order of their birth, so a time is an id, and an index has those of an address by id:
    however many objects were at one address, each costs two searches.
    """

    def __init__(self, reader: Reader, capture: int) -> None:
        self._reader = reader
        self._ranges = _ranges(reader, capture)
        query = "SELECT name, id FROM object_types WHERE capture = ?"
        self._types: dict[str, int] = dict(reader.rows(query, capture))
        self._born_by: dict[int, list[tuple[int, int]]] = {}

    def number(self, kind: str, address: int, time: int) -> int | None:
        """The number of the object of this type; None where there was none."""
        type_id = self._types.get(kind)
        if type_id is None or not address:
            return None
        if time not in self._born_by:
            self._born_by[time] = list(self._ids_born_by(time))
        for first, last in self._born_by[time]:
            row = self._reader.row(
                "SELECT number FROM object_rows WHERE address = ? AND id BETWEEN ? AND ? AND +type = ?"
                " ORDER BY id DESC LIMIT 1",
                signed(address),
                first,
                last,
                type_id,
            )
            if row is not None:
                return int(row[0])
        return None

    def _ids_born_by(self, time: int) -> Iterator[tuple[int, int]]:
        """The ranges of ids of the objects that were born by this time, the latest first."""
        for first, last in reversed(self._ranges):
            begin, end = first, last + 1
            while begin < end:
                middle = (begin + end) // 2
                row = self._reader.row("SELECT born FROM object_rows WHERE id = ?", middle)
                if row is None or row[0] > time:
                    end = middle
                else:
                    begin = middle + 1
            if begin > first:
                yield first, begin - 1


def _sightings(call: CallRow) -> Iterator[tuple[ObjectField, int, int]]:
    """The objects that are values of a call: field, address, and the time at which the address meant the object."""
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
