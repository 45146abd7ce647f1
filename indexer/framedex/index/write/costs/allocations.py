"""Pieces of device memory from the mock TPU's allocator.

The allocator records every allocation, release and change of owner, so the pieces are exact.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from framedex.index.file.conventions import IN_JSON, build_json_list
from framedex.index.file.values import to_signed
from framedex.index.write.bulk_rows import Integers
from framedex.index.write.costs.pieces import (
    END_CALL_JOIN,
    FOREVER,
    MAX_BYTES,
    OBJECTS_FROM,
    MemoryPieces,
    find_kinds_by_function,
    read_arguments,
    read_columns,
)
from framedex.programs.objects.table import parse_address

_ALLOCATE, _FREE, _HAND_OVER = "DeviceMemory::Allocate", "DeviceMemory::Free", "DeviceMemory::HandOver"
# The order of events at the same time.
_ORDER = {_FREE: 0, _ALLOCATE: 1, _HAND_OVER: 2}
_ALLOCATION_UNIT_BYTES = (
    512  # bytes: the allocation unit of the mock (native/pjrt/mock/devices/device_memory.h) and of a TPU
)


def read_allocator_pieces(connection: sqlite3.Connection, capture: int) -> MemoryPieces | None:
    """Return the pieces of memory from the recorded allocator of a capture; None if no allocator is recorded."""
    kinds = find_kinds_by_function(connection, capture, _ORDER)
    if not kinds:
        return None
    call, parent, kind, sort, time, address, device, size, result = _read_events(connection, capture, kinds)
    is_same = np.append((np.diff(device) == 0) & (np.diff(address) == 0), False)  # same memory as the next event
    begins = sort != _ORDER[_FREE]
    is_known = np.append(False, (begins & is_same)[:-1])  # the previous owner is known
    rows = np.flatnonzero(begins)
    strays = np.flatnonzero((sort != _ORDER[_ALLOCATE]) & ~is_known)  # of memory allocated before the recording
    following = np.minimum(rows + 1, len(call) - 1)
    ends = is_same[rows]
    released_at = np.where(ends, time[following], FOREVER)
    # Memory that one call allocates and releases is not a buffer of the program.
    is_passing = ends & (sort[rows] == _ORDER[_ALLOCATE]) & ~begins[following] & (parent[rows] == parent[following])
    deleted_at = np.minimum(
        released_at, _find_deletion_times(connection, capture, parent[rows], call[rows], result[rows], is_passing)
    )
    numbers = np.unique(device)
    zeros = np.zeros(len(strays), np.int64)
    return MemoryPieces(
        devices=tuple(str(number) for number in numbers.tolist()),
        device=np.searchsorted(numbers, np.concatenate([device[rows], device[strays]])),
        size=np.concatenate([size[rows], size[strays]]),
        allocated_at=np.concatenate([time[rows], zeros]),
        released_at=np.concatenate([released_at, time[strays]]),
        deleted_at=np.concatenate([deleted_at, time[strays]]),
        allocated_by=np.concatenate([parent[rows], zeros]),
        recorded_in=np.concatenate([call[rows], zeros]),
        kind=np.concatenate([kind[rows], zeros]),
        program=np.zeros(len(rows) + len(strays), np.int64),
        unsized=(0,) * len(numbers),
    )


def _read_events(connection: sqlite3.Connection, capture: int, kinds: Mapping[int, str]) -> list[Integers]:
    """Return the calls of the allocator in columns, by device and address, then in order of time.

    The columns are the id, the id of the enclosing call (or its own), kind, function (`_ORDER`), time, address, device
    and bytes. The last one is the index of the result that received the memory, or -1.
    """
    query = (
        "SELECT c.id, c.kind, c.start, c.duration, coalesce(c.inside, 0), c.arguments FROM captures p"
        " JOIN call_rows c ON c.id BETWEEN p.first_call AND p.last_call"
        f" WHERE p.id = ? AND c.arguments IS NOT NULL AND c.kind {IN_JSON}"
    )
    call, kind, start, duration, inside, argument = read_columns(
        connection.execute(query, (capture, build_json_list(kinds))), 6
    )
    numbers, of_call = np.unique(argument, return_inverse=True)
    arguments = read_arguments(connection, numbers)
    values = np.array([_parse_arguments(arguments.get(number, {})) for number in numbers.tolist()], np.int64).reshape(
        -1, 4
    )
    address, device, size, result = values.T
    sort = np.zeros(len(call), np.int64)
    for number, name in kinds.items():
        sort[kind == number] = _ORDER[name]
    # An allocation begins at the end of its call, and ends at the start of its release. So an address is always
    # released before it is allocated again, even if other threads run in between.
    time = start + np.where(sort == _ORDER[_ALLOCATE], duration, 0)
    order = np.lexsort((sort, time, address[of_call], device[of_call]))
    order = order[size[of_call[order]] >= 0]
    of_call = of_call[order]
    call, inside, kind, sort, time = (column[order] for column in (call, inside, kind, sort, time))
    address, device, size, result = (column[of_call] for column in (address, device, size, result))
    size = np.where(
        sort == _ORDER[_ALLOCATE],
        (np.maximum(size, 1) + _ALLOCATION_UNIT_BYTES - 1) // _ALLOCATION_UNIT_BYTES * _ALLOCATION_UNIT_BYTES,
        size,
    )
    return [call, call - inside, kind, sort, time, address, device, size, result]


def _parse_arguments(arguments: Mapping[str, Any]) -> tuple[int, int, int, int]:
    """Return address, device, bytes and result of a call; -1 if missing: a damaged capture may contain anything."""
    device, size, result = (
        value if isinstance(value := arguments.get(name), int) and 0 <= value <= MAX_BYTES else -1
        for name in ("device", "bytes", "result")
    )
    return to_signed(parse_address(arguments.get("address"))), device, -1 if device < 0 else size, result


# Deletions of buffers by the program


def _find_deletion_times(
    connection: sqlite3.Connection,
    capture: int,
    outer_call: Integers,
    call: Integers,
    result: Integers,
    is_passing: npt.NDArray[np.bool_],
) -> Integers:
    """Return the times when the buffers of these pieces were deleted or destroyed; FOREVER if the buffer is unknown.

    The buffers of a call have the order of its allocations. For memory that was handed over, the buffer is recorded.
    The buffers are unknown if a call created different numbers of buffers and allocations, for example with results in
    host memory.
    """
    found = np.full(len(outer_call), FOREVER)
    buffer_call, ended = _read_buffers(connection, capture)
    calls, first, buffers = np.unique(buffer_call, return_index=True, return_counts=True)
    if not len(calls):
        return found
    position = np.minimum(np.searchsorted(calls, outer_call), len(calls) - 1)
    is_buffer = (calls[position] == outer_call) & ~is_passing
    pieces = np.bincount(position[is_buffer], minlength=len(calls))
    handed = np.flatnonzero(is_buffer & (result >= 0))
    taken = np.unique(np.stack([position[handed], result[handed]]), axis=1)
    is_known = (pieces == buffers) & (
        np.bincount(taken[0], minlength=len(calls)) == np.bincount(position[handed], minlength=len(calls))
    )
    is_known[position[handed][result[handed] >= buffers[position[handed]]]] = False
    handed = handed[is_known[position[handed]]]
    slot_of_handed = first[position[handed]] + result[handed]
    found[handed] = ended[slot_of_handed]
    is_free = np.repeat(is_known, buffers)
    is_free[slot_of_handed] = False
    new = np.flatnonzero(is_buffer & (result < 0) & is_known[position])
    found[new[np.lexsort((call[new], position[new]))]] = ended[is_free]
    return found


def _read_buffers(connection: sqlite3.Connection, capture: int) -> list[Integers]:
    """Return the creating call of each buffer, and its deletion or destruction time, in the order of those calls."""
    query = (
        f"SELECT o.created_call, coalesce(d.start, ?1) FROM {OBJECTS_FROM} LEFT JOIN {END_CALL_JOIN}"
        " WHERE t.capture = ?2 AND t.name = 'buffer' AND o.created_call IS NOT NULL ORDER BY o.created_call, o.id"
    )
    return read_columns(connection.execute(query, (int(FOREVER), capture)), 2)
