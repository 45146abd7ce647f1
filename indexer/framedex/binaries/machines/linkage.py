"""The dynamic linker's part of machine code: stubs, relocations of pointers, and addresses that code refers to.

Layouts: the x86-64 psABI, "Relocation Types" and "Procedure Linkage Table"; ELF for the Arm 64-bit Architecture,
"Dynamic relocations". Needs no decoder.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from framedex.binaries.machines import aarch64
from framedex.binaries.machines.control_flow import ControlFlow

POINTER_RELOCATIONS = {
    "x86_64": (6, 7),  # R_X86_64_GLOB_DAT, R_X86_64_JUMP_SLOT
    "aarch64": (1025, 1026),  # R_AARCH64_GLOB_DAT, R_AARCH64_JUMP_SLOT
}
"""The relocations that store the address of a named symbol, by architecture (`Elf.architecture`)."""

MAX_STUB_BYTES = 20

# endbr64; mov r11d, NUMBER (mold); bnd; jmp [rip+DISTANCE]
_X86_STUB = re.compile(rb"(?:\xf3\x0f\x1e\xfa)?(?:\x41\xbb.{4})?\xf2?\xff\x25(?P<distance>.{4})", re.DOTALL)
_CALL, _JUMP = 0xE8, 0xE9


def find_stub_pointer(architecture: str, code: bytes, address: int) -> int | None:
    """The address of the pointer that a stub jumps through; None if the code at an address is not a stub."""
    if architecture == "aarch64":  # bti c; adrp x16, PAGE; ldr x17, [x16, OFFSET]; add; br x17
        instructions = list(aarch64.decode(code, address))
        branch = next((i for i, each in enumerate(instructions) if each.flow_control), None)
        is_jump = branch is not None and instructions[branch].flow_control == ControlFlow.INDIRECT_BRANCH
        load = aarch64.find_pointer_load(instructions, branch) if branch is not None and is_jump else None
        return load.address if load else None
    stub = _X86_STUB.match(code)
    return address + stub.end() + int.from_bytes(stub["distance"], "little", signed=True) if stub else None


def find_relative_targets(architecture: str, code: bytes, start: int) -> list[int]:
    """The addresses that code may refer to: of calls, jumps, data and pointers."""
    targets = _aarch64_targets(code, start) if architecture == "aarch64" else _x86_64_targets(code, start)
    return [target for target in targets if target > 0]


def _x86_64_targets(code: bytes, start: int) -> list[int]:
    """The addresses from each four bytes that follow the opcode of an instruction with a relative operand."""
    raw = np.frombuffer(code, np.uint8)
    if len(raw) < 5:
        return []
    before = raw[:-4]
    is_operand: npt.NDArray[np.bool_] = (before == _CALL) | (before == _JUMP) | ((before & 0xC7) == 0x05)
    places = np.flatnonzero(is_operand) + 1
    words = np.lib.stride_tricks.sliding_window_view(raw, 4)[places]
    operands = np.ascontiguousarray(words).view("<i4").reshape(-1).astype(np.int64)
    targets: list[int] = (places + 4 + start + operands).tolist()
    return targets


def _aarch64_targets(code: bytes, start: int) -> Iterator[int]:
    """The targets of `bl` and `b`, and the addresses from `adr`, or from `adrp` with `add` or `ldr`."""
    instructions = list(aarch64.decode(code, start))
    for each in instructions:
        if each.flow_control in (ControlFlow.CALL, ControlFlow.UNCONDITIONAL_BRANCH):
            yield each.near_branch_target
    yield from aarch64.find_addresses(instructions, with_loads=True)
