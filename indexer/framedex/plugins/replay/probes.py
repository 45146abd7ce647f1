"""Probe an isolated execution: run its program with values inside it as results."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from framedex.captures import stored_program_path, write_stored_program
from framedex.plugins.replay.confinement import build_confined_program
from framedex.plugins.replay.isolation import CannotProbeError, IsolatedExecution
from framedex.plugins.replay.plan import UNKNOWN, Action, Operation, Plan, find_callback_words
from framedex.plugins.replay.runner import Array, Options, ReplayCrashedError, Target, run_plan

_SCRIPT = Path(__file__).with_name("probed_program.py")
_RUN_SCRIPT = "import runpy, sys\ndel sys.argv[0]\nrunpy.run_path(sys.argv[0], run_name='__main__')\n"

Edit = Mapping[str, int | bool]
"""An edit of a program: see `probed_program.py`."""

Contents = tuple[tuple[Array, ...], ...]
"""A value's contents: for each device, the array of each target."""


@dataclass(frozen=True, slots=True)
class Op:
    """An op of a program. An op that `passes` returns the elements of its operand in their order."""

    kind: str
    location: str
    operands: tuple[int, ...]
    results: tuple[int, ...]
    passes: bool


@dataclass(frozen=True, slots=True)
class Value:
    """A value of a program: the op that computes it (-1 for an argument), and its bytes (-1: it cannot be a result)."""

    op: int
    size: int


@dataclass(frozen=True, slots=True)
class EditedProgram:
    """A program after edits: `returned` are its results, `edited` the values that each edit gives."""

    ops: tuple[Op, ...]
    values: tuple[Value, ...]
    returned: tuple[int, ...]
    edited: tuple[tuple[int, ...], ...]

    @classmethod
    def parse(cls, answer: Mapping[str, Any]) -> EditedProgram:
        """Parse an answer of `probed_program.py`."""
        return cls(
            tuple(
                Op(each["kind"], each["location"], tuple(each["operands"]), tuple(each["results"]), each["passes"])
                for each in answer["ops"]
            ),
            tuple(Value(each["op"], each["size"]) for each in answer["values"]),
            tuple(answer["returned"]),
            tuple(map(tuple, answer["edited"])),
        )

    def source(self, value: int) -> int:
        """Return the value whose elements a value has, in their order."""
        while (place := self.values[value].op) >= 0 and self.ops[place].passes:
            value = self.ops[place].operands[0]
        return value


class Prober:
    """Probes an execution at targets. A context manager, because it runs a process that edits the program."""

    def __init__(self, isolated: IsolatedExecution, targets: Sequence[Target]) -> None:
        """`targets` execute the program; the Python of the first edits it."""
        self._isolated = isolated
        self._targets = targets
        self._folder = isolated.plan.capture
        programs = [str(stored_program_path(self._folder, name)) for name in isolated.compilation.operands[1:3]]
        program = build_confined_program(_RUN_SCRIPT) if targets[0].is_confined else _RUN_SCRIPT
        try:
            self._editor = subprocess.Popen(  # noqa: TID251
                [targets[0].python, "-P", "-c", program, str(_SCRIPT), *programs],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        except OSError as error:
            raise CannotProbeError(f"{targets[0].python} cannot be started: {error.strerror}") from None

    def __enter__(self) -> Prober:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._editor.kill()
        self._editor.communicate()

    def program(self, edits: Sequence[Edit]) -> EditedProgram:
        """Return the program after edits. Raises CannotProbeError."""
        return EditedProgram.parse(self._request_edit(edits, ())[0])

    def cut(self, edits: Sequence[Edit], values: Sequence[int], arguments: Sequence[int]) -> tuple[bytes, bytes, str]:
        """Return the program of some values, with `arguments` instead of other values: its code, options and text."""
        _, (code, options, text) = self._request_edit(edits, values, arguments)
        return code, options, text.decode()

    def result(self, index: int) -> Contents | None:
        """Return the contents of a result of the program as it is; None if it runs on several devices."""
        isolated = self._isolated
        if isolated.devices != 1:
            return None
        buffer = isolated.execution.results[index]
        read = Operation(Action.READ, 0, (str(buffer), UNKNOWN), inputs=(buffer,))
        operations = [*isolated.plan.operations, read]
        with ThreadPoolExecutor(len(self._targets)) as pool:
            found = list(pool.map(lambda each: self._read_arrays(operations, each, 1), self._targets))
        return (tuple(array for ((_, array),) in found),)

    def run(self, requests: Sequence[tuple[Sequence[Edit], Sequence[int]]]) -> list[dict[int, Contents]]:
        """Return the contents of the values of each edited program. Raises CannotProbeError."""
        operations: list[Operation] = list(self._isolated.sends)
        places: list[tuple[int, int]] = []  # of each read: the request, and the value
        buffers = 1 + max((*self._isolated.execution.inputs, 0))
        for number, (edits, values) in enumerate(requests):
            compiled = self._build_compilation(number, edits, values)
            execution = self._build_execution(number, buffers, len(values))
            operations += [compiled, execution]
            for place, buffer in enumerate(execution.results):
                if place < len(values) or not self._is_partitioned:
                    row = len(places)
                    places.append((number, values[place % len(values)]))
                    operations.append(Operation(Action.READ, row, (str(buffer), UNKNOWN), inputs=(buffer,)))
            operations.append(Operation(Action.UNLOAD, -1, compiled.operands[:1], executable=number))
            buffers += len(execution.results)
        found: list[dict[int, list[list[Array]]]] = [{} for _ in requests]
        with ThreadPoolExecutor(len(self._targets)) as pool:
            of_targets = list(pool.map(lambda each: self._read_arrays(operations, each, len(places)), self._targets))
        for arrays in of_targets:
            devices: dict[tuple[int, int], int] = {}
            for row, array in arrays:
                number, value = places[row]
                device = devices[places[row]] = devices.get(places[row], -1) + 1
                of_devices = found[number].setdefault(value, [])
                if device == len(of_devices):
                    of_devices.append([])
                of_devices[device].append(array)
        return [{value: tuple(map(tuple, each)) for value, each in of.items()} for of in found]

    def plan(self, edits: Sequence[Edit], values: Sequence[int]) -> Plan:
        """Return the plan of one edited program, without reads. Raises CannotProbeError."""
        buffers = 1 + max((*self._isolated.execution.inputs, 0))
        compiled = replace(self._build_compilation(0, edits, values), row=self._isolated.compilation.row)
        executed = replace(self._build_execution(0, buffers, len(values)), row=self._isolated.execution.row)
        return replace(self._isolated.plan, operations=(*self._isolated.sends, compiled, executed))

    def _build_compilation(self, number: int, edits: Sequence[Edit], values: Sequence[int]) -> Operation:
        answer, contents = self._request_edit(edits, values)
        self._is_partitioned = bool(answer["is_partitioned"])
        names = [write_stored_program(self._folder, each) for each in contents[:2]]
        return Operation(Action.COMPILE, -1, (str(number), *names, "mlir"), executable=number)

    def _build_execution(self, number: int, first_buffer: int, outputs: int) -> Operation:
        before = self._isolated.execution
        _, *counts, _ = before.operands[:6]
        results = tuple(range(first_buffer, first_buffer + outputs * self._isolated.devices))
        operands = (number, *counts, outputs, *before.inputs, *results, 0, *find_callback_words(before))
        return replace(before, row=-1, operands=tuple(map(str, operands)), results=results, executable=number)

    def _read_arrays(self, operations: Sequence[Operation], target: Target, count: int) -> list[tuple[int, Array]]:
        plan = replace(self._isolated.plan, operations=tuple(operations))
        found: list[tuple[int, Array]] = []
        problem = ""
        try:
            with closing(run_plan(plan, target, Options())) as report:
                for record in report:
                    if record.kind == "read":
                        found.append((record.row, Array.parse(record)))
                    elif record.kind == "failed":
                        problem = problem or record.message
        except ReplayCrashedError as error:
            problem = f"the replay of a part of it crashed: {error.reason}"
        if len(found) < count:
            raise CannotProbeError(problem or "not all of its values could be read")
        return found

    def _request_edit(
        self, edits: Sequence[Edit], values: Sequence[int], arguments: Sequence[int] | None = None
    ) -> tuple[dict[str, Any], list[bytes]]:
        paths = [self._folder / name for name in ("edited-program", "edited-options", "edited-text")]
        request = {
            "edits": list(edits),
            "values": list(values),
            "arguments": arguments,
            "results": list(map(str, paths)),
        }
        assert self._editor.stdin is not None
        assert self._editor.stdout is not None
        line = ""
        with suppress(OSError):
            self._editor.stdin.write(json.dumps(request) + "\n")
            self._editor.stdin.flush()
            line = self._editor.stdout.readline()
        try:
            answer = json.loads(line)
        except ValueError:
            raise CannotProbeError(f"{self._targets[0].python} needs JAX to edit the program") from None
        assert isinstance(answer, dict)
        if "error" in answer:
            raise CannotProbeError(f"its program cannot be edited: {answer['error']}")
        return answer, [each.read_bytes() for each in paths] if values else []
