"""The caller of generated code, which has no unwind table.

XLA's code for the CPU keeps frame pointers: `rbp` points to the caller's `rbp`, below the return address. A result is
plausible only if a call instruction precedes the return address.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from framedex.live.memory import Memory

_FRAME_POINTER, _STACK_POINTER, _RETURN_ADDRESS = 6, 7, 16  # DWARF numbers of registers
_WORD_BYTES = 8
_MAX_FRAME_BYTES = 8 << 20
_MAX_CALL_BYTES = 7
# `call rel32`, or `call` of a register or of memory: opcode FF /2, with an optional REX prefix before it.
# Addresses in memory have a SIB byte, a displacement of 1 or 4 bytes, or both.
_CALL = re.compile(
    rb"(?s)(?:\xe8....|\xff[\x10-\x13\x16\x17\xd0-\xd7]|\xff\x15....|\xff\x14.|\xff[\x14\x94].....|"
    rb"\xff[\x50-\x53\x55-\x57].|\xff\x54..|\xff[\x90-\x93\x95-\x97]....)\Z"
)
_PUSH, _MOVE = b"\x55", b"\x48\x89\xe5"  # push %rbp; mov %rsp, %rbp
_RETURN = b"\xc3"
_TRAMPOLINE_END = b"\x48\x83\xc4\x08\xc3"  # add $8, %rsp; ret: of CPython's trampolines for perf


def find_caller(memory: Memory, registers: Mapping[int, int], *, is_return_address: bool) -> dict[int, int] | None:
    """The registers of the caller of generated code; None if it is not plausible. Raises OSError for bad addresses."""
    stack, frame = registers[_STACK_POINTER], registers.get(_FRAME_POINTER, 0)
    slot, caller_frame = _find_return_slot(memory, registers, is_return_address=is_return_address)
    if slot is None:
        if frame % _WORD_BYTES or not stack <= frame < stack + _MAX_FRAME_BYTES:
            return None
        slot, caller_frame = frame + _WORD_BYTES, memory.word(frame)
    address = memory.word(slot)
    if not _CALL.search(memory.read(address - _MAX_CALL_BYTES, _MAX_CALL_BYTES)):
        return None
    caller = {**registers, _RETURN_ADDRESS: address, _STACK_POINTER: slot + _WORD_BYTES}
    if caller_frame is not None:
        caller[_FRAME_POINTER] = caller_frame
    return caller


def _find_return_slot(
    memory: Memory, registers: Mapping[int, int], *, is_return_address: bool
) -> tuple[int | None, int | None]:
    """The address of the return address where no frame pointer is set, and the caller's `rbp`; None if it is set."""
    stack, address = registers[_STACK_POINTER], registers[_RETURN_ADDRESS]
    code = memory.read(address - len(_PUSH), len(_PUSH) + len(_TRAMPOLINE_END))
    before, after = code[: len(_PUSH)], code[len(_PUSH) :]
    frame = registers.get(_FRAME_POINTER)
    if is_return_address:
        return (stack + _WORD_BYTES, frame) if after == _TRAMPOLINE_END else (None, None)
    if after.startswith((_PUSH + _MOVE, _RETURN)):
        return stack, frame
    if before == _PUSH and after.startswith(_MOVE):
        return stack + _WORD_BYTES, memory.word(stack)
    return None, None
