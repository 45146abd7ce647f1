"""What runs of programs tell of buffers where no allocator is recorded: how large results are, and what was donated.

Both are in the program: JAX writes onto its arguments which of them are donated (`tf.aliasing_output`,
`jax.buffer_donor`), and the types of its results with their shardings give what each device has of them.
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
    """What a program takes and gives on each device: bytes of results (-1: not known) and whether each is in the memory
    that the device has by default; how many arguments it has, and which of them are donated."""

    sizes: tuple[int, ...]
    is_default: tuple[bool, ...]
    arguments: int
    donated: tuple[int, ...]

    @classmethod
    def of(cls, signature: Mapping[str, Any]) -> Compiled:
        """The same of a program's signature, as the index has it."""
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
    """A capture's buffers in the order of their birth; times in ns since the recording began."""

    address: Integers
    born: Integers
    made: Integers  # the calls that made them


@dataclass(frozen=True, slots=True)
class Results:
    """What runs tell of each buffer: whether it `is` a result, of how many bytes (-1: not known), on which device (its
    address; 0: not known), and when it was donated (FOREVER: never)."""

    is_result: Integers
    size: Integers
    device: Integers
    donated: Integers

    @classmethod
    def of(cls, connection: sqlite3.Connection, capture: int, buffers: Buffers) -> Results:
        """What the runs of a capture tell of its buffers."""
        count = len(buffers.made)
        is_result, device = np.zeros((2, count), np.int64)
        found = cls(is_result, np.full(count, -1), device, np.full(count, FOREVER))
        reader = _Reader(connection, capture, buffers)
        order = np.argsort(buffers.made, kind="stable")
        made = buffers.made[order]
        outputs: dict[object, tuple[Integers | int, Integers | int]] = {}  # of runs that are alike
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
        """The runs that ended well: each call with its start, and what is recorded of it."""
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
        """The executable at a recorded address at a time; 0 where none is known."""
        return _at(self._executables_at, address, time)

    def outputs(self, executable: int, count: int, device: int) -> tuple[Integers | int, Integers | int]:
        """Sizes and devices of so many results of a run, device by device, as they come; on one `device` if not 0."""
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
        """The buffers that a run was given for good."""
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
    """A recorded address in a column of signed integers; 0 where it is none."""
    return signed(address_of(value))


_ByAddress = dict[int, tuple[list[int], list[int]]]


def _by_address(rows: Iterable[tuple[int, int, int]]) -> _ByAddress:
    """Objects by their addresses: when each was born, and its number. `rows` are these three, by their births."""
    found: defaultdict[int, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for address, born, number in rows:
        births, numbers = found[unsigned(address)]
        births.append(born)
        numbers.append(number)
    return dict(found)


def _at(objects: _ByAddress, address: object, time: int, none: int = 0) -> int:
    """The object at a recorded address at a time."""
    born, numbers = objects.get(address_of(address), ([], []))
    place = bisect_right(born, time)
    return numbers[place - 1] if place else none
