"""The recorded calls of a capture, translated into the plan of a replay."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from framedex.model import Function
from framedex.plugins.replay.plan import Action, Operation, Plan
from framedex.plugins.replay.recorded_calls import _MANAGER, _TRANSLATIONS, RecordedCapture, _Call, build_plan
from tests.fuzz.inputs import text_of

MAX_SIZE = 4096
KERNEL = "kernel"  # an FFI handler
NAMES = [
    *sorted(_TRANSLATIONS),
    "PJRT_Executable_DeserializeAndLoad",
    "PJRT_CopyToDeviceStream_AddChunk",
    f"{_MANAGER}TransferData",
    f"{_MANAGER}TransferLiteral",
    f"{_MANAGER}SetBufferError",
    KERNEL,
]


def run(data: bytes) -> None:
    """Calls as lines: the number of a function, start, duration and error, then the values as JSON."""
    calls = [call for row, line in enumerate(text_of(data).splitlines()) if (call := _call(row, line)) is not None]
    reads = [SimpleNamespace(kind="read", content={"read": 1, "content": "0123456789abcdef-4"})]
    capture = SimpleNamespace(path=Path("/nowhere"), descriptions=reads)

    def select(is_wanted: Callable[[Function], bool]) -> Iterator[_Call]:
        return (
            call for call in calls if is_wanted(Function("ffi" if call.function == KERNEL else "pjrt", call.function))
        )

    recorded = SimpleNamespace(stream=SimpleNamespace(capture=capture), calls=select)
    plan = build_plan(cast(RecordedCapture, recorded))
    _check(plan, calls)
    if plan.executions:
        _check(plan.restrict(1, 1), calls)


def _call(row: int, line: str) -> _Call | None:
    try:
        number, start, duration, error, values = line.split(" ", 4)
        parsed: Any = json.loads(values)
        begin, length = int(start), int(duration)
        name = NAMES[int(number) % len(NAMES)]
        end = begin + length if length >= 0 else None
        made = _Call(row, name, begin, end, int(error), values)
        return made if isinstance(parsed, dict) else None
    except (ValueError, RecursionError):
        return None


def _check(plan: Plan, calls: list[_Call]) -> None:
    """Each operation is one line, and uses no object before the operation that creates it."""
    assert plan.text().count("\n") == 1 + len(plan.handler_results) + len(plan.operations)
    assert len({each.row for each in plan.operations}) == len(plan.operations) <= len(calls)
    buffers: set[int] = set()
    executables: set[int | None] = set()
    created_buffers = {buffer for each in plan.operations for buffer in each.results}
    compiled = {each.executable for each in plan.operations if each.action is Action.COMPILE}
    for each in plan.operations:
        assert Operation.parse(each.text()) == each
        assert buffers.isdisjoint(each.results)
        assert buffers.issuperset(created_buffers.intersection(each.inputs))
        if each.action is Action.COMPILE:
            executables.add(each.executable)
        assert each.executable in executables or each.executable not in compiled
        buffers.update(each.results)
        if each.inputs:
            plan.producer(each)
