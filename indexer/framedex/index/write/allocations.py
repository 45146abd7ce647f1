"""Pieces of device memory, from what the calls of a capture tell of them.

The mock TPU's allocator has every allocation and every release recorded, so with it the pieces are exact. Of another
plug-in they are the buffers whose size a call tells; the others are counted, and are in no sum.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from framedex.index.file.conventions import IN_JSON, json_list
from framedex.index.write.tree import Integers
from framedex.objects.table import address_of

FOREVER = np.iinfo(np.int64).max

_ALLOCATE, _FREE = "DeviceMemory::Allocate", "DeviceMemory::Free"
_LARGEST = 1 << 44  # bytes of a device of the mock (docs/mock-tpu.md); sums of millions of them are 64 bits
_ADDRESS = (1 << 63) - 1  # of a process, in a column of signed integers
_ROW = 512  # bytes: the mock's allocator gives whole ones (native/pjrt/mock/devices/device_memory.h), as a TPU does
# What tells the size of the buffer that it makes: its own bytes, or those of the buffer that it copies.
_SIZED = ("PJRT_Client_BufferFromHostBuffer", "PJRT_Buffer_CopyToDevice", "PJRT_Buffer_CopyToMemory")


@dataclass(frozen=True, slots=True)
class Pieces:
    """Pieces of memory in columns; times in ns since the recording began, sizes in bytes.

    `device` is a place in `devices`. `made` is the call that had a piece made, the outermost, and `by` the one that
    tells it, whose stack is looked at: 0 where it was there before the recording. `freed` is the outermost call that
    gave it back, 0 where none did: then it `died` never. `unsized` counts by device the buffers that are in no column.
    """

    devices: tuple[str, ...]
    device: Integers
    size: Integers
    born: Integers
    died: Integers
    made: Integers
    by: Integers
    freed: Integers
    unsized: tuple[int, ...]
    is_exact: bool

    def with_tenants(self, pieces: Integers, calls: Integers, times: Integers) -> Pieces:
        """With rows for those to whom pieces were passed on: each piece's, in the order of time, one after another.

        The row of a piece that is passed on ends where the next begins.
        """
        of_piece = np.concatenate([np.arange(len(self.size)), pieces])
        born = np.concatenate([self.born, times])
        order = np.lexsort((born, of_piece))
        of_piece, born = of_piece[order], born[order]
        goes_on = np.append(of_piece[1:] == of_piece[:-1], False)
        return replace(
            self,
            device=self.device[of_piece],
            size=self.size[of_piece],
            born=born,
            died=np.where(goes_on, np.roll(born, -1), self.died[of_piece]),
            made=np.concatenate([self.made, calls])[order],
            by=np.concatenate([self.by, calls])[order],
            freed=np.where(goes_on, 0, self.freed[of_piece]),
        )


def columns(rows: Iterable[tuple[Any, ...]], count: int) -> list[Integers]:
    """Rows of so many integers each, as columns."""
    flat = np.fromiter(chain.from_iterable(rows), np.int64)
    return list(flat.reshape(-1, count).T)


def outermost(connection: sqlite3.Connection, calls: Integers) -> Integers:
    """The outermost call that each of these was made in, or is."""
    found = calls.copy()
    while True:
        known, place = np.unique(found, return_inverse=True)
        query = f"SELECT id, coalesce(inside, 0) FROM call_rows WHERE id {IN_JSON} ORDER BY id"
        ids, inside = columns(connection.execute(query, (json_list(known.tolist()),)), 2)
        back = np.zeros(len(known), np.int64)
        back[np.searchsorted(known, ids)] = inside
        if not back.any():
            return found
        found = (known - back)[place]


def pieces_of(connection: sqlite3.Connection, capture: int) -> Pieces:
    """The pieces of memory that a capture tells of."""
    kinds = _kinds(connection, capture, (_ALLOCATE, _FREE))
    return _of_allocator(connection, capture, kinds) if kinds else _of_buffers(connection, capture)


def _kinds(connection: sqlite3.Connection, capture: int, functions: Iterable[str]) -> dict[int, str]:
    """The kinds of the calls of these functions that ended well."""
    query = (
        "SELECT k.id, b.name FROM call_kinds k JOIN boundaries b ON b.id = k.boundary"
        f" WHERE k.capture = ? AND k.error = 0 AND b.name {IN_JSON}"
    )
    return dict(connection.execute(query, (capture, json_list(functions))))


def arguments_of(connection: sqlite3.Connection, arguments: Integers) -> dict[int, dict[str, Any]]:
    """What is recorded under these numbers."""
    query = f"SELECT id, json FROM arguments WHERE id {IN_JSON}"
    wanted = json_list(np.unique(arguments).tolist())
    return {number: json.loads(text) for number, text in connection.execute(query, (wanted,))}


# The mock's allocator


def _of_allocator(connection: sqlite3.Connection, capture: int, kinds: dict[int, str]) -> Pieces:
    query = (
        "SELECT c.id, c.kind, c.start, c.duration, json_extract(a.json, '$.address'), json_extract(a.json, '$.device'),"
        " json_extract(a.json, '$.bytes') FROM captures p"
        " JOIN call_rows c ON c.id BETWEEN p.first_call AND p.last_call JOIN arguments a ON a.id = c.arguments"
        f" WHERE p.id = ? AND c.kind {IN_JSON}"
    )
    rows = connection.execute(query, (capture, json_list(kinds)))
    call, kind, start, duration, address, device, size = columns(
        (
            (*numbers, address_of(address) & _ADDRESS, device, size)
            for *numbers, address, device, size in rows
            if _is_number(device) and _is_number(size)
        ),
        7,
    )
    is_birth = np.isin(kind, [number for number, name in kinds.items() if name == _ALLOCATE])
    size = np.where(is_birth, (np.maximum(size, 1) + _ROW - 1) // _ROW * _ROW, size)
    # An allocation is there when its call has ended, and one is gone as soon as its release begins: so whatever other
    # threads do in between, an address is given back before it is handed out again.
    time = start + np.where(is_birth, duration, 0)
    order = np.lexsort((is_birth, time, address, device))
    call, time, size, is_birth = call[order], time[order], size[order], is_birth[order]
    key = np.stack([device[order], address[order]])
    is_same = np.append((key[:, 1:] == key[:, :-1]).all(axis=0), False)
    is_birth_before = np.append(False, is_birth[:-1] & is_same[:-1])
    births = np.flatnonzero(is_birth)
    strays = np.flatnonzero(~is_birth & ~is_birth_before)  # of what was there before the recording
    outer = outermost(connection, call)
    following = np.minimum(births + 1, len(call) - 1)
    ends = is_same[births]
    is_freed = ends & ~is_birth[following]
    numbers = np.unique(device)
    zeros = np.zeros(len(strays), np.int64)
    return Pieces(
        devices=tuple(str(number) for number in numbers.tolist()),
        device=np.searchsorted(numbers, np.concatenate([key[0][births], key[0][strays]])),
        size=np.concatenate([size[births], size[strays]]),
        born=np.concatenate([time[births], zeros]),
        died=np.concatenate([np.where(ends, time[following], FOREVER), time[strays]]),
        made=np.concatenate([outer[births], zeros]),
        by=np.concatenate([call[births], zeros]),
        freed=np.concatenate([np.where(is_freed, outer[following], 0), outer[strays]]),
        unsized=(0,) * len(numbers),
        is_exact=True,
    )


def _is_number(told: object) -> bool:
    """Whether it is a device or a size: a damaged capture may tell anything."""
    return isinstance(told, int) and 0 <= told <= _LARGEST


# Buffers of other plug-ins


def _of_buffers(connection: sqlite3.Connection, capture: int) -> Pieces:
    sized = _kinds(connection, capture, _SIZED)
    born, died, size, made, gone, argument, is_sized = columns(
        connection.execute(
            "SELECT o.born, coalesce(d.start, ?1), coalesce(o.size, -1), o.created_call, coalesce(d.id, 0),"
            " coalesce(c.arguments, 0), c.kind IN (SELECT value FROM json_each(?3)) AND o.size IS NOT NULL"
            " FROM object_types t JOIN object_ranges r ON r.capture = t.capture"
            " JOIN object_rows o ON o.id BETWEEN r.first_object AND r.last_object AND o.type = t.id"
            " JOIN call_rows c ON c.id = o.created_call"
            " LEFT JOIN call_rows d ON d.id = min(coalesce(o.deleted_call, o.destroyed_call),"
            " coalesce(o.destroyed_call, o.deleted_call))"
            " WHERE t.capture = ?2 AND t.name = 'buffer'",
            (int(FOREVER), capture, json_list(sized)),
        ),
        7,
    )
    spaces = _spaces(connection, capture)
    told = {number: _space(each, spaces) for number, each in arguments_of(connection, argument).items()}
    names = tuple(sorted({*told.values()}, key=lambda name: (len(name), name)))
    device = np.array([names.index(told.get(number, "")) for number in argument.tolist()], np.int64)
    known = np.flatnonzero(is_sized)
    unsized = np.bincount(device[is_sized == 0], minlength=len(names))
    return Pieces(
        devices=names,
        device=device[known],
        size=size[known],
        born=born[known],
        died=died[known],
        made=made[known],
        by=made[known],
        freed=gone[known],
        unsized=tuple(unsized.tolist()),
        is_exact=False,
    )


def _spaces(connection: sqlite3.Connection, capture: int) -> dict[int, str]:
    """The names of a capture's memories and devices (`memory#1`), by their addresses."""
    rows = connection.execute(
        "SELECT o.address, t.name || '#' || o.number FROM object_types t JOIN object_ranges r ON r.capture = t.capture"
        " JOIN object_rows o ON o.id BETWEEN r.first_object AND r.last_object AND o.type = t.id"
        " WHERE t.capture = ? AND t.name IN ('memory', 'device')",
        (capture,),
    )
    return {address & (1 << 64) - 1: name for address, name in rows}


def _space(told: dict[str, Any], spaces: dict[int, str]) -> str:
    """Where the buffer of a call was put; empty where that is not told."""
    for name in ("memory", "dst_memory", "device", "dst_device"):
        if isinstance(told.get(name), str):
            return spaces.get(address_of(told[name]), "")
    return ""
