"""Machine code: decoding never fails, whatever the bytes."""

from __future__ import annotations

from typing import Any

from framedex.binaries.code import FunctionCode
from framedex.binaries.machines import aarch64, x86_64
from framedex.binaries.machines.control_flow import Machine
from framedex.binaries.machines.linkage import find_relative_targets, find_stub_pointer

MAX_SIZE = 4096


def run(data: bytes) -> None:
    """The calls of a function, and the calls before and after each."""
    for name, machine in (("x86_64", x86_64), ("aarch64", aarch64)):
        _decode(machine, data)
        assert all(target > 0 for target in find_relative_targets(name, data, 0x400000))
        find_stub_pointer(name, data, 0x400000)


def _decode(machine: Machine[Any], data: bytes) -> None:
    half = len(data) // 2
    parted = FunctionCode(machine, data[:half], 0x400000, [(data[half:], 0x300000)], lambda address: address % 16 == 0)
    for number in range(len(parted.calls)):
        parted.calls_before(number), parted.calls_after(number), parted.constants_before(number)
    code = FunctionCode(machine, data, 0x400000)
    for number, call in enumerate(code.calls):
        is_jump = call.return_address == 0
        assert is_jump or 0x400000 <= call.return_address <= 0x400000 + len(data) + 16
        assert call.target >= 0 and (call.target == 0 or call.slot is None)
        (
            code.calls_before(number),
            code.calls_after(number),
            code.constants_before(number),
            code.addresses_before(number),
        )
    control_flow = code.control_flow
    assert sorted(number for calls, *_ in control_flow for number in calls) == list(range(len(code.calls)))
    assert all(earlier < place for place, (_, after, _) in enumerate(control_flow) for earlier in after)
    assert all(start <= place for place, (*_, loop_starts) in enumerate(control_flow) for start in loop_starts)
