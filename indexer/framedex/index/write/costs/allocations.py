"""Pieces of device memory, as the mock TPU's allocator tells of them: it has every allocation, release and change of
owner recorded, so they are exact."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from framedex.index.file.conventions import IN_JSON, json_list
from framedex.index.file.values import signed
from framedex.index.write.costs.pieces import ENDS, FOREVER, LARGEST, OBJECTS, Pieces, arguments_of, columns, kinds_of
from framedex.index.write.tree import Integers
from framedex.objects.table import address_of

_ALLOCATE, _FREE, _HAND_OVER = "DeviceMemory::Allocate", "DeviceMemory::Free", "DeviceMemory::HandOver"
# In the order in which they come where they come at one time.
_ORDER = {_FREE: 0, _ALLOCATE: 1, _HAND_OVER: 2}
_ROW = 512  # bytes: the mock's allocator gives whole ones (native/pjrt/mock/devices/device_memory.h), as a TPU does


def pieces_of_allocator(connection: sqlite3.Connection, capture: int) -> Pieces | None:
    """The pieces of memory that the allocator of a capture tells of; None where it has none that does."""
    kinds = kinds_of(connection, capture, _ORDER)
    if not kinds:
        return None
    call, parent, kind, sort, time, address, device, size, result = _events(connection, capture, kinds)
    is_same = np.append((np.diff(device) == 0) & (np.diff(address) == 0), False)  # as the next
    begins = sort != _ORDER[_FREE]
    is_known = np.append(False, (begins & is_same)[:-1])  # whose memory it was
    rows = np.flatnonzero(begins)
    strays = np.flatnonzero((sort != _ORDER[_ALLOCATE]) & ~is_known)  # of what was there before the recording
    following = np.minimum(rows + 1, len(call) - 1)
    ends = is_same[rows]
    died = np.where(ends, time[following], FOREVER)
    # What a call allocates for itself is no buffer of the program.
    is_passing = ends & (sort[rows] == _ORDER[_ALLOCATE]) & ~begins[following] & (parent[rows] == parent[following])
    let_go = np.minimum(died, _let_go(connection, capture, parent[rows], call[rows], result[rows], is_passing))
    numbers = np.unique(device)
    zeros = np.zeros(len(strays), np.int64)
    return Pieces(
        devices=tuple(str(number) for number in numbers.tolist()),
        device=np.searchsorted(numbers, np.concatenate([device[rows], device[strays]])),
        size=np.concatenate([size[rows], size[strays]]),
        born=np.concatenate([time[rows], zeros]),
        died=np.concatenate([died, time[strays]]),
        let_go=np.concatenate([let_go, time[strays]]),
        made=np.concatenate([parent[rows], zeros]),
        by=np.concatenate([call[rows], zeros]),
        kind=np.concatenate([kind[rows], zeros]),
        unsized=(0,) * len(numbers),
    )


def _events(connection: sqlite3.Connection, capture: int, kinds: Mapping[int, str]) -> list[Integers]:
    """The calls of the allocator in columns, by device and address, those of one in the order of time.

    Of each: its id, that of the call it was made in (or its own), its kind, which function it is of (`_ORDER`), when it
    was, the address, the device, bytes, and the result that memory was handed over to (-1: none).
    """
    query = (
        "SELECT c.id, c.kind, c.start, c.duration, coalesce(c.inside, 0), c.arguments FROM captures p"
        " JOIN call_rows c ON c.id BETWEEN p.first_call AND p.last_call"
        f" WHERE p.id = ? AND c.arguments IS NOT NULL AND c.kind {IN_JSON}"
    )
    call, kind, start, duration, inside, argument = columns(connection.execute(query, (capture, json_list(kinds))), 6)
    numbers, of_call = np.unique(argument, return_inverse=True)
    told = arguments_of(connection, numbers)
    values = np.array([_values(told.get(number, {})) for number in numbers.tolist()], np.int64).reshape(-1, 4)
    address, device, size, result = values.T
    sort = np.zeros(len(call), np.int64)
    for number, name in kinds.items():
        sort[kind == number] = _ORDER[name]
    # An allocation is there when its call has ended, and one is gone as soon as its release begins: so whatever other
    # threads do in between, an address is given back before it is handed out again.
    time = start + np.where(sort == _ORDER[_ALLOCATE], duration, 0)
    order = np.lexsort((sort, time, address[of_call], device[of_call]))
    order = order[size[of_call[order]] >= 0]
    of_call = of_call[order]
    call, inside, kind, sort, time = (column[order] for column in (call, inside, kind, sort, time))
    address, device, size, result = (column[of_call] for column in (address, device, size, result))
    size = np.where(sort == _ORDER[_ALLOCATE], (np.maximum(size, 1) + _ROW - 1) // _ROW * _ROW, size)
    return [call, call - inside, kind, sort, time, address, device, size, result]


def _values(told: Mapping[str, Any]) -> tuple[int, int, int, int]:
    """Address, device, bytes and result of a call; -1 where they are not told: a damaged capture may tell anything."""
    device, size, result = (
        value if isinstance(value := told.get(name), int) and 0 <= value <= LARGEST else -1
        for name in ("device", "bytes", "result")
    )
    return signed(address_of(told.get("address"))), device, -1 if device < 0 else size, result


# What the program has of it


def _let_go(
    connection: sqlite3.Connection,
    capture: int,
    made: Integers,
    by: Integers,
    result: Integers,
    is_passing: npt.NDArray[np.bool_],
) -> Integers:
    """When the buffers were deleted or destroyed that these pieces are in; FOREVER where it is not known which.

    A call's buffers are numbered in their order, and so is what it allocates for them; what was handed over is told to
    be in which. Where a call made more of one than of the other, its results in the host's memory for example, it is
    not known.
    """
    found = np.full(len(made), FOREVER)
    buffer_call, ended = _buffers(connection, capture)
    calls, first, buffers = np.unique(buffer_call, return_index=True, return_counts=True)
    if not len(calls):
        return found
    place = np.minimum(np.searchsorted(calls, made), len(calls) - 1)
    is_buffer = (calls[place] == made) & ~is_passing
    pieces = np.bincount(place[is_buffer], minlength=len(calls))
    handed = np.flatnonzero(is_buffer & (result >= 0))
    taken = np.unique(np.stack([place[handed], result[handed]]), axis=1)
    is_known = (pieces == buffers) & (
        np.bincount(taken[0], minlength=len(calls)) == np.bincount(place[handed], minlength=len(calls))
    )
    is_known[place[handed][result[handed] >= buffers[place[handed]]]] = False
    handed = handed[is_known[place[handed]]]
    slot_of_handed = first[place[handed]] + result[handed]
    found[handed] = ended[slot_of_handed]
    is_free = np.repeat(is_known, buffers)
    is_free[slot_of_handed] = False
    new = np.flatnonzero(is_buffer & (result < 0) & is_known[place])
    found[new[np.lexsort((by[new], place[new]))]] = ended[is_free]
    return found


def _buffers(connection: sqlite3.Connection, capture: int) -> list[Integers]:
    """Of each buffer the call that made it, and when it was deleted or destroyed; by those calls, in their order."""
    query = (
        f"SELECT o.created_call, coalesce(d.start, ?1) FROM {OBJECTS} LEFT JOIN {ENDS}"
        " WHERE t.capture = ?2 AND t.name = 'buffer' AND o.created_call IS NOT NULL ORDER BY o.created_call, o.id"
    )
    return columns(connection.execute(query, (int(FOREVER), capture)), 2)
