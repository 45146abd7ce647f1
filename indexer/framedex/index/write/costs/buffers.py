"""Pieces of device memory without a recorded allocator: buffers with a size from a call or a program.

The sizes of results and the donated buffers come from the program. JAX marks the donated arguments
(`tf.aliasing_output`, `jax.buffer_donor`). The types of the results and their shardings give the part of each device.
"""

from __future__ import annotations

import json
import sqlite3
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from framedex.index.file.conventions import IN_JSON, build_json_list
from framedex.index.file.values import to_signed, to_unsigned
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
from framedex.index.write.programs import EXECUTABLE_ADDRESS, EXECUTE_FUNCTION
from framedex.programs.objects.table import parse_address
from framedex.programs.sizes import compute_size_on_device

# Functions whose calls record the size of the new buffer.
_SIZED_FUNCTIONS = ("PJRT_Client_BufferFromHostBuffer", "PJRT_Buffer_CopyToDevice", "PJRT_Buffer_CopyToMemory")
_DEFAULT_MEMORY_FUNCTION = "PJRT_Device_DefaultMemory"


def read_buffer_pieces(
    connection: sqlite3.Connection, capture: int, kinds: Collection[int] | None = None
) -> MemoryPieces:
    """Return the pieces of memory of a capture's buffers with a known size.

    `kinds` restricts them to buffers that calls of these kinds created.
    """
    address, born, died, size, made, kind, argument, is_sized = _read_buffers(connection, capture, kinds)
    results = ResultBuffers.read(connection, capture, Buffers(address, born, made))
    size = np.where(results.is_result, results.size, np.where(is_sized & (size <= MAX_BYTES), size, -1))
    died = np.minimum(died, results.donated)
    spaces = _read_memory_names(connection, capture)
    memory_names = {
        number: _find_memory_name(each, spaces) for number, each in read_arguments(connection, argument).items()
    }
    known, of_result = np.unique(results.device, return_inverse=True)
    of_device = [spaces.get(to_unsigned(device), "") for device in known.tolist()]
    names = tuple(sorted({*memory_names.values(), *of_device}, key=lambda name: (len(name), name)))
    number = {name: position for position, name in enumerate(names)}
    of_call = np.array([number[memory_names.get(each, "")] for each in argument.tolist()], np.int64)
    of_run = np.array([number[name] for name in of_device], np.int64)[of_result]
    device = np.where(results.is_result, of_run, of_call)
    kept = np.flatnonzero(size >= 0)
    used = np.unique(device)
    return MemoryPieces(
        devices=tuple(names[position] for position in used.tolist()),
        device=np.searchsorted(used, device[kept]),
        size=size[kept],
        allocated_at=born[kept],
        released_at=died[kept],
        deleted_at=died[kept],
        allocated_by=made[kept],
        recorded_in=made[kept],
        kind=kind[kept],
        program=np.zeros(len(kept), np.int64),
        unsized=tuple(np.bincount(device[size < 0], minlength=len(names))[used].tolist()),
    )


def _read_buffers(connection: sqlite3.Connection, capture: int, kinds: Collection[int] | None) -> list[Integers]:
    """Return the buffers in columns, in the order of their creation.

    The columns are: address, creation time, deletion or destruction time, bytes (-1: unknown), creating call, its kind,
    and its arguments. The last column is true if the call records the bytes of the new buffer.
    """
    sized = find_kinds_by_function(connection, capture, _SIZED_FUNCTIONS)
    query = (
        "SELECT o.address, o.born, coalesce(d.start, ?1), coalesce(o.size, -1), o.created_call, c.kind,"
        " coalesce(c.arguments, 0), c.kind IN (SELECT value FROM json_each(?3)) AND o.size IS NOT NULL"
        f" FROM {OBJECTS_FROM} JOIN call_rows c ON c.id = o.created_call LEFT JOIN {END_CALL_JOIN}"
        f" WHERE t.capture = ?2 AND t.name = 'buffer'{'' if kinds is None else f' AND c.kind {IN_JSON}'} ORDER BY o.id"
    )
    parameters = (int(FOREVER), capture, build_json_list(sized), *([] if kinds is None else [build_json_list(kinds)]))
    return read_columns(connection.execute(query, parameters), 8)


def _read_memory_names(connection: sqlite3.Connection, capture: int) -> dict[int, str]:
    """Return the names of a capture's memories (`memory#1`) by address; a device has the name of its default memory."""
    rows = connection.execute(
        f"SELECT o.address, t.name || '#' || o.number FROM {OBJECTS_FROM}"
        " WHERE t.capture = ? AND t.name IN ('memory', 'device')",
        (capture,),
    )
    spaces = {to_unsigned(address): name for address, name in rows}
    query = (
        "SELECT DISTINCT json_extract(a.json, '$.device'), json_extract(a.json, '$.memory') FROM call_spans s"
        " CROSS JOIN call_rows c ON c.id BETWEEN s.first_call AND s.last_call AND c.kind = s.kind"
        f" CROSS JOIN arguments a ON a.id = c.arguments WHERE s.kind {IN_JSON}"
    )
    kinds = find_kinds_by_function(connection, capture, (_DEFAULT_MEMORY_FUNCTION,))
    for device, memory in connection.execute(query, (build_json_list(kinds),)):
        if (name := spaces.get(parse_address(memory))) is not None:
            spaces[parse_address(device)] = name
    return spaces


def _find_memory_name(arguments: dict[str, Any], spaces: dict[int, str]) -> str:
    """Return the name of the memory of a call's buffer; empty if unknown."""
    for name in ("memory", "dst_memory", "device", "dst_device"):
        if isinstance(arguments.get(name), str):
            return spaces.get(parse_address(arguments[name]), "")
    return ""


_DONATION_ATTRIBUTES = frozenset({"tf.aliasing_output", "jax.buffer_donor"})
_MEMORY_KIND = "mhlo.memory_kind"
_DEVICES_FUNCTION = "PJRT_LoadedExecutable_AddressableDevices"


@dataclass(frozen=True, slots=True)
class ProgramBuffers:
    """The arguments and results of a program on each device.

    `sizes` are the bytes of results (-1: unknown), and `is_default` whether each is in the device's default memory.
    `arguments` is the number of arguments, and `donated` the indices of the donated ones.
    """

    sizes: tuple[int, ...]
    is_default: tuple[bool, ...]
    arguments: int
    donated: tuple[int, ...]

    @classmethod
    def from_signature(cls, signature: Mapping[str, Any]) -> ProgramBuffers:
        """Return the arguments and results of a program's signature, as stored in the index."""
        arguments, results = signature["arguments"], signature["results"]
        return cls(
            sizes=tuple(
                size if (size := compute_size_on_device(each, signature)) <= MAX_BYTES else -1 for each in results
            ),
            is_default=tuple(each["attributes"].get(_MEMORY_KIND, "device") == "device" for each in results),
            arguments=len(arguments),
            donated=tuple(
                n
                for n, each in enumerate(arguments)
                if any(name in each["attributes"] for name in _DONATION_ATTRIBUTES)
            ),
        )


@dataclass(frozen=True, slots=True)
class Buffers:
    """A capture's buffers in the order of their creation; times in ns since the recording began."""

    address: Integers
    created_at: Integers
    created_by: Integers  # the calls that created them


@dataclass(frozen=True, slots=True)
class ResultBuffers:
    """The results of runs among a capture's buffers, in columns.

    `is_result` flags the buffers that are results. `size` is in bytes (-1: unknown), and `device` is the device's
    address (0: unknown). `donated` is the time of the buffer's donation (FOREVER: never).
    """

    is_result: Integers
    size: Integers
    device: Integers
    donated: Integers

    @classmethod
    def read(cls, connection: sqlite3.Connection, capture: int, buffers: Buffers) -> ResultBuffers:
        """Return the results and donations of a capture's runs, by buffer."""
        count = len(buffers.created_by)
        is_result, device = np.zeros((2, count), np.int64)
        found = cls(is_result, np.full(count, -1), device, np.full(count, FOREVER))
        reader = _RunReader(connection, capture, buffers)
        order = np.argsort(buffers.created_by, kind="stable")
        made = buffers.created_by[order]
        outputs: dict[object, tuple[Integers | int, Integers | int]] = {}  # by executable, number of results and device
        for call, start, arguments in reader.read_runs():
            rows = order[np.searchsorted(made, call) : np.searchsorted(made, call, side="right")]
            found.is_result[rows] = 1
            executable = reader.find_executable(arguments.get("executable"), start)
            compiled = reader.compiled.get(executable)
            if compiled is None:
                continue
            key = executable, len(rows), _parse_address(arguments.get("execute_device"))
            if key not in outputs:
                outputs[key] = reader.compute_outputs(*key)
            found.size[rows], found.device[rows] = outputs[key]
            for row in reader.donated_buffers(compiled, arguments, start):
                found.donated[row] = min(start, int(found.donated[row]))
        return found


class Executables:
    """The executables of a capture by their addresses."""

    def __init__(self, connection: sqlite3.Connection, capture: int) -> None:
        rows = connection.execute(
            f"SELECT o.address, o.born, o.id FROM {OBJECTS_FROM}"
            " WHERE t.capture = ? AND t.name = 'loaded_executable' ORDER BY o.born",
            (capture,),
        )
        self._by_address = _group_by_address(rows)

    def find(self, address: object, time: int) -> int:
        """Return the executable at a recorded address at a time; 0 if unknown."""
        return _find_at(self._by_address, address, time)

    def find_run(self, arguments: str, time: int) -> int:
        """Return the executable of a run at a time from its arguments, as JSON text; 0 if unknown."""
        match = EXECUTABLE_ADDRESS.search(arguments)
        return 0 if match is None else self.find(match[1], time)


class _RunReader:
    """Reads the runs of a capture."""

    def __init__(self, connection: sqlite3.Connection, capture: int, buffers: Buffers) -> None:
        self._connection = connection
        self._capture = capture
        self._buffers = buffers
        self._buffers_at: dict[int, tuple[list[int], list[int]]] = {}
        self.compiled = {
            executable: ProgramBuffers.from_signature(json.loads(text))
            for executable, text in connection.execute(
                "SELECT c.executable, p.signature FROM compilations c JOIN programs p ON p.id = c.program"
                " WHERE c.capture = ? AND c.executable IS NOT NULL AND p.signature IS NOT NULL",
                (capture,),
            )
        }
        self._executables = Executables(connection, capture)
        self._devices_of: dict[int, list[int]] = {}
        for _, start, arguments in self._read_calls(_DEVICES_FUNCTION):
            devices = arguments.get("addressable_devices")
            executable = self._executables.find(arguments.get("executable"), start)
            if isinstance(devices, list):
                self._devices_of[executable] = [_parse_address(device) for device in devices]

    def read_runs(self) -> Iterator[tuple[int, int, dict[str, Any]]]:
        """Yield the successful runs: each call with its start and its recorded arguments."""
        return self._read_calls(EXECUTE_FUNCTION)

    def _read_calls(self, function: str) -> Iterator[tuple[int, int, dict[str, Any]]]:
        query = (
            "SELECT c.id, c.start, a.json FROM call_spans s"
            " CROSS JOIN call_rows c ON c.id BETWEEN s.first_call AND s.last_call AND c.kind = s.kind"
            f" CROSS JOIN arguments a ON a.id = c.arguments WHERE s.kind {IN_JSON} ORDER BY c.start"
        )
        kinds = find_kinds_by_function(self._connection, self._capture, (function,))
        for call, start, text in self._connection.execute(query, (build_json_list(kinds),)):
            yield call, start, json.loads(text)

    def find_executable(self, address: object, time: int) -> int:
        """Return the executable at a recorded address at a time; 0 if unknown."""
        return self._executables.find(address, time)

    def compute_outputs(self, executable: int, count: int, device: int) -> tuple[Integers | int, Integers | int]:
        """Return sizes and devices of `count` results of a run, in order, by device; on one `device` if not 0."""
        compiled = self.compiled[executable]
        results = len(compiled.sizes)
        if not results or count % results:
            return -1, 0
        devices = self._devices_of.get(executable, [])
        if count == results and device:
            devices = [device]
        if len(devices) != count // results:
            devices = [0] * (count // results)
        of_each = np.repeat(np.array(devices, np.int64), results) * np.tile(compiled.is_default, len(devices))
        return np.tile(compiled.sizes, len(devices)), of_each

    def donated_buffers(self, compiled: ProgramBuffers, arguments: Mapping[str, Any], start: int) -> Iterator[int]:
        """Yield the buffers donated to a run."""
        not_donatable = arguments.get("options.non_donatable_input_indices")
        not_donatable = not_donatable if isinstance(not_donatable, list) else []
        donated = [position for position in compiled.donated if position not in not_donatable]
        lists = arguments.get("argument_lists")
        if not donated or not isinstance(lists, list):
            return
        if not self._buffers_at:
            read_columns = (
                self._buffers.address.tolist(),
                self._buffers.created_at.tolist(),
                range(len(self._buffers.created_at)),
            )
            self._buffers_at = _group_by_address(zip(*read_columns, strict=True))
        for row in lists:
            if isinstance(row, list) and len(row) == compiled.arguments:
                found = (_find_at(self._buffers_at, row[position], start, -1) for position in donated)
                yield from (buffer for buffer in found if buffer >= 0)


def _parse_address(value: object) -> int:
    """Return a recorded address as a signed integer; 0 if it is not an address."""
    return to_signed(parse_address(value))


_ByAddress = dict[int, tuple[list[int], list[int]]]


def _group_by_address(rows: Iterable[tuple[int, int, int]]) -> _ByAddress:
    """Return objects by their addresses: creation time and number. `rows` are these three, in the order of creation."""
    found: defaultdict[int, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for address, born, number in rows:
        births, numbers = found[to_unsigned(address)]
        births.append(born)
        numbers.append(number)
    return dict(found)


def _find_at(objects: _ByAddress, address: object, time: int, default: int = 0) -> int:
    """Return the object at a recorded address at a time; `default` if unknown."""
    born, numbers = objects.get(parse_address(address), ([], []))
    position = bisect_right(born, time)
    return numbers[position - 1] if position else default
