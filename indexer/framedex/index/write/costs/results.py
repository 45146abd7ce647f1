"""The sizes of results and the donated buffers of program runs, for captures without a recorded allocator.

Both come from the program. JAX marks the donated arguments (`tf.aliasing_output`, `jax.buffer_donor`). The types of the
results with their shardings give the part of each device.
"""

from __future__ import annotations

import json
import sqlite3
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from framedex.index.file.conventions import IN_JSON, json_list
from framedex.index.file.values import signed, unsigned
from framedex.index.write.costs.pieces import FOREVER, LARGEST, OBJECTS, kinds_of
from framedex.index.write.programs import RUNS
from framedex.index.write.tree import Integers
from framedex.objects.table import address_of
from framedex.programs.sizes import size_on_device

_DONATED = frozenset({"tf.aliasing_output", "jax.buffer_donor"})
_MEMORY_KIND = "mhlo.memory_kind"
_DEVICES = "PJRT_LoadedExecutable_AddressableDevices"


@dataclass(frozen=True, slots=True)
class Compiled:
    """The arguments and results of a program on each device.

    `sizes` are the bytes of results (-1: unknown), and `is_default` whether each is in the device's default memory.
    `arguments` is the number of arguments, and `donated` the indices of the donated ones.
    """

    sizes: tuple[int, ...]
    is_default: tuple[bool, ...]
    arguments: int
    donated: tuple[int, ...]

    @classmethod
    def of(cls, signature: Mapping[str, Any]) -> Compiled:
        """Return the arguments and results of a program's signature, as stored in the index."""
        arguments, results = signature["arguments"], signature["results"]
        return cls(
            sizes=tuple(size if (size := size_on_device(each, signature)) <= LARGEST else -1 for each in results),
            is_default=tuple(each["attributes"].get(_MEMORY_KIND, "device") == "device" for each in results),
            arguments=len(arguments),
            donated=tuple(
                n for n, each in enumerate(arguments) if any(name in each["attributes"] for name in _DONATED)
            ),
        )


@dataclass(frozen=True, slots=True)
class Buffers:
    """A capture's buffers in the order of their creation; times in ns since the recording began."""

    address: Integers
    born: Integers
    made: Integers  # the calls that made them


@dataclass(frozen=True, slots=True)
class Results:
    """The results of runs among a capture's buffers, in columns.

    `is_result` flags the buffers that are results. `size` is in bytes (-1: unknown), and `device` is the device's
    address (0: unknown). `donated` is the time of the buffer's donation (FOREVER: never).
    """

    is_result: Integers
    size: Integers
    device: Integers
    donated: Integers

    @classmethod
    def of(cls, connection: sqlite3.Connection, capture: int, buffers: Buffers) -> Results:
        """Return the results and donations of a capture's runs, by buffer."""
        count = len(buffers.made)
        is_result, device = np.zeros((2, count), np.int64)
        found = cls(is_result, np.full(count, -1), device, np.full(count, FOREVER))
        reader = _Reader(connection, capture, buffers)
        order = np.argsort(buffers.made, kind="stable")
        made = buffers.made[order]
        outputs: dict[object, tuple[Integers | int, Integers | int]] = {}  # by executable, number of results and device
        for call, start, told in reader.runs():
            rows = order[np.searchsorted(made, call) : np.searchsorted(made, call, side="right")]
            found.is_result[rows] = 1
            executable = reader.executable(told.get("executable"), start)
            compiled = reader.compiled.get(executable)
            if compiled is None:
                continue
            key = executable, len(rows), _address(told.get("execute_device"))
            if key not in outputs:
                outputs[key] = reader.outputs(*key)
            found.size[rows], found.device[rows] = outputs[key]
            for row in reader.donated(compiled, told, start):
                found.donated[row] = min(start, int(found.donated[row]))
        return found


class _Reader:
    """Reads the runs of a capture."""

    def __init__(self, connection: sqlite3.Connection, capture: int, buffers: Buffers) -> None:
        self._connection = connection
        self._capture = capture
        self._buffers = buffers
        self._buffers_at: dict[int, tuple[list[int], list[int]]] = {}
        self.compiled = {
            executable: Compiled.of(json.loads(text))
            for executable, text in connection.execute(
                "SELECT c.executable, p.signature FROM compilations c JOIN programs p ON p.id = c.program"
                " WHERE c.capture = ? AND c.executable IS NOT NULL AND p.signature IS NOT NULL",
                (capture,),
            )
        }
        rows = connection.execute(
            f"SELECT o.address, o.born, o.id FROM {OBJECTS}"
            " WHERE t.capture = ? AND t.name = 'loaded_executable' ORDER BY o.born",
            (capture,),
        )
        self._executables_at = _by_address(rows)
        self._devices_of: dict[int, list[int]] = {}
        for _, start, told in self._calls(_DEVICES):
            devices = told.get("addressable_devices")
            executable = self.executable(told.get("executable"), start)
            if isinstance(devices, list):
                self._devices_of[executable] = [_address(device) for device in devices]

    def runs(self) -> Iterator[tuple[int, int, dict[str, Any]]]:
        """Yield the successful runs: each call with its start and its recorded arguments."""
        return self._calls(RUNS)

    def _calls(self, function: str) -> Iterator[tuple[int, int, dict[str, Any]]]:
        query = (
            "SELECT c.id, c.start, a.json FROM call_spans s"
            " CROSS JOIN call_rows c ON c.id BETWEEN s.first_call AND s.last_call AND c.kind = s.kind"
            f" CROSS JOIN arguments a ON a.id = c.arguments WHERE s.kind {IN_JSON} ORDER BY c.start"
        )
        kinds = kinds_of(self._connection, self._capture, (function,))
        for call, start, text in self._connection.execute(query, (json_list(kinds),)):
            yield call, start, json.loads(text)

    def executable(self, address: object, time: int) -> int:
        """Return the executable at a recorded address at a time; 0 if unknown."""
        return _at(self._executables_at, address, time)

    def outputs(self, executable: int, count: int, device: int) -> tuple[Integers | int, Integers | int]:
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

    def donated(self, compiled: Compiled, told: Mapping[str, Any], start: int) -> Iterator[int]:
        """Yield the buffers donated to a run."""
        kept = told.get("options.non_donatable_input_indices")
        kept = kept if isinstance(kept, list) else []
        donated = [place for place in compiled.donated if place not in kept]
        lists = told.get("argument_lists")
        if not donated or not isinstance(lists, list):
            return
        if not self._buffers_at:
            columns = (self._buffers.address.tolist(), self._buffers.born.tolist(), range(len(self._buffers.born)))
            self._buffers_at = _by_address(zip(*columns, strict=True))
        for row in lists:
            if isinstance(row, list) and len(row) == compiled.arguments:
                found = (_at(self._buffers_at, row[place], start, -1) for place in donated)
                yield from (buffer for buffer in found if buffer >= 0)


def _address(value: object) -> int:
    """Return a recorded address as a signed integer; 0 if it is not an address."""
    return signed(address_of(value))


_ByAddress = dict[int, tuple[list[int], list[int]]]


def _by_address(rows: Iterable[tuple[int, int, int]]) -> _ByAddress:
    """Return objects by their addresses: creation time and number. `rows` are these three, in the order of creation."""
    found: defaultdict[int, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for address, born, number in rows:
        births, numbers = found[unsigned(address)]
        births.append(born)
        numbers.append(number)
    return dict(found)


def _at(objects: _ByAddress, address: object, time: int, none: int = 0) -> int:
    """Return the object at a recorded address at a time; `none` if unknown."""
    born, numbers = objects.get(address_of(address), ([], []))
    place = bisect_right(born, time)
    return numbers[place - 1] if place else none
