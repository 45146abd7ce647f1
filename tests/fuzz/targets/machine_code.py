"""Machine code: decoding never fails, whatever the bytes."""

from __future__ import annotations

from framedex.binaries.code import FunctionCode
from framedex.binaries.ffi_handlers import find_relative_targets

MAX_SIZE = 4096


def run(data: bytes) -> None:
    """The calls of a function, and the calls before and after each."""
    half = len(data) // 2
    parted = FunctionCode(data[:half], 0x400000, [(data[half:], 0x300000)], lambda address: address % 16 == 0)
    for number in range(len(parted.calls)):
        parted.calls_before(number), parted.calls_after(number), parted.numbers(number)
    code = FunctionCode(data, 0x400000)
    for number, call in enumerate(code.calls):
        is_jump = call.return_address == 0
        assert is_jump or 0x400000 <= call.return_address <= 0x400000 + len(data) + 16
        assert call.target >= 0 and (call.target == 0 or call.slot is None)
        code.calls_before(number), code.calls_after(number), code.numbers(number), code.addresses(number)
    flow = code.flow
    assert sorted(number for calls, *_ in flow for number in calls) == list(range(len(code.calls)))
    assert all(earlier < place for place, (_, after, _) in enumerate(flow) for earlier in after)
    assert all(start <= place for place, (*_, loop_starts) in enumerate(flow) for start in loop_starts)
    assert all(target > 0 for target in find_relative_targets(data, 0x400000))
