"""The objects of the runtime: found by their names, and named in the calls."""

from __future__ import annotations

import json
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
    "o.id, o.capture, o.type, o.number, o.address, o.size, o.uses, o.created_call, o.first_call, o.last_call,"
    " o.deleted_call, o.destroyed_call, k.type, k.number"
)
_TABLES = "objects o LEFT JOIN objects k ON k.id = o.client"

# The object that an address was at a time: the last of those that were born by then.
_OBJECTS_AT = (
    "SELECT q.key, (SELECT o.number FROM objects o WHERE o.capture = ?1 AND o.type = json_extract(q.value, '$[0]')"
    " AND o.address = json_extract(q.value, '$[1]') AND o.born <= json_extract(q.value, '$[2]')"
    " ORDER BY o.born DESC LIMIT 1) FROM json_each(?2) q"
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
        row = self.reader.row(
            f"SELECT {_COLUMNS} FROM {_TABLES} JOIN captures p ON p.id = o.capture"
            " WHERE o.type = ?1 AND o.number = ?2 AND (?3 IS NULL OR o.capture = ?3)"
            " ORDER BY p.started DESC, p.id DESC",
            match["type"],
            int(match["number"]),
            capture,
        )
        if row is None:
            where = "the index" if capture is None else f"capture {capture}"
            raise FramedexError(f"There is no {name} in {where}.", "`framedex calls` shows the names of objects.")
        return _object_row(row)


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


def calls_of_object(reader: Reader, name: str, capture: int | None) -> tuple[str, list[object]]:
    """The calls that an object is a value of, as an SQL condition on `calls c` with its parameters."""
    found = Objects(reader).named(name, capture)
    boundaries = {name: identifier for identifier, name in reader.rows("SELECT id, name FROM boundaries")}
    texts = reader.rows("SELECT id, json FROM arguments WHERE instr(json, ?) > 0", f'"{found.address:#x}"')
    conditions, parameters = ["0"], list[object]()
    for field, functions in functions_with(found.type).items():
        called = [boundaries[function] for function in functions if function in boundaries]
        holding = [identifier for identifier, text in texts if _holds(arguments(text).get(field), found.address)]
        if called and holding:
            conditions.append(f"(c.boundary {IN_JSON} AND c.arguments {IN_JSON})")
            parameters += [json_list(called), json_list(holding)]
    return f"c.id BETWEEN ? AND ? AND ({' OR '.join(conditions)})", [found.first_call, found.last_call, *parameters]


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
    wanted = json.dumps([(known.type, signed(address), time) for _, known, address, time in sightings])
    objects: list[dict[str, str | list[str | None]]] = [{} for _ in calls]
    for (place, known, _, _), (_, number) in zip(
        sightings, reader.rows(_OBJECTS_AT, capture, wanted) if sightings else (), strict=True
    ):
        name = None if number is None else f"{known.type}#{number}"
        if known.is_list:
            listed = objects[place].setdefault(known.name, [])
            assert isinstance(listed, list)
            listed.append(name)
        elif name is not None:
            objects[place][known.name] = name
    return (replace(call, objects=names) if names else call for call, names in zip(calls, objects, strict=True))


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
