"""Machine code: any bytes are decoded as well as they can be."""

from __future__ import annotations

from framedex.binaries.code import FunctionCode
from framedex.binaries.ffi_handlers import _relative_targets

LONGEST = 4096


def run(data: bytes) -> None:
    """The calls of a function, and those before and after each."""
    code = FunctionCode(data, 0x400000)
    for number, call in enumerate(code.calls):
        is_jump = call.returns_to == 0
        assert is_jump or 0x400000 <= call.returns_to <= 0x400000 + len(data) + 16
        assert call.target >= 0 and (call.target == 0 or call.slot is None)
        code.before(number), code.after(number), code.numbers(number)
    assert all(target > 0 for target in _relative_targets(data, 0x400000))
