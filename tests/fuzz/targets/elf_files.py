"""ELF files: damaged files give less data, and sentences that say so."""

from __future__ import annotations

from framedex.binaries import Binary
from tests.fuzz.inputs import scratch

MAX_SIZE = 1 << 15
_MOST = 64  # addresses to look up


def run(data: bytes) -> None:
    """Look up the functions of a binary, and addresses around them."""
    path = scratch() / "binary.so"
    path.write_bytes(data)
    binary = Binary.open(path)
    symbols = binary.symbols
    starts = [int(start) for start in symbols._starts[:_MOST]] if symbols is not None else []
    addresses = [0, 1, 0x1000, 1 << 63, (1 << 64) - 1, *starts, *(start + 5 for start in starts)]
    for found in binary.resolve(addresses):
        assert all(symbol.name is not None and symbol.line >= 0 for symbol in found)
    for address in addresses:
        code = binary.code_around(address)
        binary.function_at(address)
        for call in code.calls[:_MOST] if code is not None else ():
            assert binary.function_at(call.target) or not binary.function_names_at(call.target)
        binary.function_start(address)
        binary.ffi_handler(address)
    assert all(isinstance(problem, str) for problem in binary.problems)
