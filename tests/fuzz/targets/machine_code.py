"""Machine code: any bytes are decoded as well as they can be."""

from __future__ import annotations

from framedex.binaries.code import FunctionCode
from framedex.binaries.ffi_handlers import _relative_targets

LONGEST = 4096


def run(data: bytes) -> None:
    """The calls of a function, and those before and after each."""
    code = FunctionCode(data, 0x400000)
    for number, (address, target) in enumerate(code.calls):
        assert 0x400000 <= address <= 0x400000 + len(data) + 16 and target >= 0
        code.before(number), code.after(number), code.numbers(number)
    assert all(target > 0 for target in _relative_targets(data, 0x400000))
