"""Pieces of device memory without a recorded allocator: buffers with a size from a call or a program."""

from __future__ import annotations

import sqlite3
from typing import Any

import numpy as np

from framedex.index.file.conventions import IN_JSON, json_list
from framedex.index.file.values import unsigned
from framedex.index.write.costs.pieces import ENDS, FOREVER, LARGEST, OBJECTS, Pieces, arguments_of, columns, kinds_of
from framedex.index.write.costs.results import Buffers, Results
from framedex.index.write.tree import Integers
from framedex.objects.table import address_of

# Functions that record the size of the buffer that they make: its own bytes, or those of the copied buffer.
_SIZED = ("PJRT_Client_BufferFromHostBuffer", "PJRT_Buffer_CopyToDevice", "PJRT_Buffer_CopyToMemory")
_DEFAULT_MEMORY = "PJRT_Device_DefaultMemory"


def pieces_of_buffers(connection: sqlite3.Connection, capture: int) -> Pieces:
    """Return the pieces of memory of a capture's buffers with a known size."""
    address, born, died, size, made, kind, argument, is_sized = _buffers(connection, capture)
    results = Results.of(connection, capture, Buffers(address, born, made))
    size = np.where(results.is_result, results.size, np.where(is_sized & (size <= LARGEST), size, -1))
    died = np.minimum(died, results.donated)
    spaces = _spaces(connection, capture)
    told = {number: _space(each, spaces) for number, each in arguments_of(connection, argument).items()}
    known, of_result = np.unique(results.device, return_inverse=True)
    of_device = [spaces.get(unsigned(device), "") for device in known.tolist()]
    names = tuple(sorted({*told.values(), *of_device}, key=lambda name: (len(name), name)))
    number = {name: place for place, name in enumerate(names)}
    of_call = np.array([number[told.get(each, "")] for each in argument.tolist()], np.int64)
    of_run = np.array([number[name] for name in of_device], np.int64)[of_result]
    device = np.where(results.is_result, of_run, of_call)
    kept = np.flatnonzero(size >= 0)
    used = np.unique(device)
    return Pieces(
        devices=tuple(names[place] for place in used.tolist()),
        device=np.searchsorted(used, device[kept]),
        size=size[kept],
        born=born[kept],
        died=died[kept],
        let_go=died[kept],
        made=made[kept],
        by=made[kept],
        kind=kind[kept],
        unsized=tuple(np.bincount(device[size < 0], minlength=len(names))[used].tolist()),
    )


def _buffers(connection: sqlite3.Connection, capture: int) -> list[Integers]:
    """Return the buffers in columns, in the order of their creation.

    The columns are: address, creation time, deletion or destruction time, bytes (-1: unknown), creating call, its kind,
    and its arguments. The last column is true if the call records the bytes of the new buffer.
    """
    sized = kinds_of(connection, capture, _SIZED)
    query = (
        "SELECT o.address, o.born, coalesce(d.start, ?1), coalesce(o.size, -1), o.created_call, c.kind,"
        " coalesce(c.arguments, 0), c.kind IN (SELECT value FROM json_each(?3)) AND o.size IS NOT NULL"
        f" FROM {OBJECTS} JOIN call_rows c ON c.id = o.created_call LEFT JOIN {ENDS}"
        " WHERE t.capture = ?2 AND t.name = 'buffer' ORDER BY o.id"
    )
    return columns(connection.execute(query, (int(FOREVER), capture, json_list(sized))), 8)


def _spaces(connection: sqlite3.Connection, capture: int) -> dict[int, str]:
    """Return the names of a capture's memories (`memory#1`) by address; a device has the name of its default memory."""
    rows = connection.execute(
        f"SELECT o.address, t.name || '#' || o.number FROM {OBJECTS}"
        " WHERE t.capture = ? AND t.name IN ('memory', 'device')",
        (capture,),
    )
    spaces = {unsigned(address): name for address, name in rows}
    query = (
        "SELECT DISTINCT json_extract(a.json, '$.device'), json_extract(a.json, '$.memory') FROM call_spans s"
        " CROSS JOIN call_rows c ON c.id BETWEEN s.first_call AND s.last_call AND c.kind = s.kind"
        f" CROSS JOIN arguments a ON a.id = c.arguments WHERE s.kind {IN_JSON}"
    )
    kinds = kinds_of(connection, capture, (_DEFAULT_MEMORY,))
    for device, memory in connection.execute(query, (json_list(kinds),)):
        if (name := spaces.get(address_of(memory))) is not None:
            spaces[address_of(device)] = name
    return spaces


def _space(told: dict[str, Any], spaces: dict[int, str]) -> str:
    """Return the name of the memory of a call's buffer; empty if unknown."""
    for name in ("memory", "dst_memory", "device", "dst_device"):
        if isinstance(told.get(name), str):
            return spaces.get(address_of(told[name]), "")
    return ""
