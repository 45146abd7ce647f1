"""Decoder of x86-64: iced-x86."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from iced_x86 import Code, Decoder, Instruction, Mnemonic, OpKind, Register

from framedex.binaries.machines.control_flow import MAX_LOAD_DISTANCE, PointerLoad

_IMMEDIATE_OPERANDS = frozenset(
    (
        OpKind.IMMEDIATE8,
        OpKind.IMMEDIATE16,
        OpKind.IMMEDIATE32,
        OpKind.IMMEDIATE64,
        OpKind.IMMEDIATE8TO64,
        OpKind.IMMEDIATE32TO64,
    )
)


def decode(code: bytes, address: int) -> Iterable[Instruction]:
    """The instructions of code at an address. Skips invalid bytes."""
    return Decoder(64, code, ip=address)


def find_pointer_load(instructions: Sequence[Instruction], number: int) -> PointerLoad | None:
    """The load of a called pointer: by the call itself, or by an earlier load into its register."""
    load = _find_load(instructions, number)
    if load is None:
        return None
    if load.is_ip_rel_memory_operand:
        return PointerLoad(load.ip_rel_memory_address, None)
    is_fixed = load.memory_base not in (Register.NONE, Register.RSP) and load.memory_index == Register.NONE
    return PointerLoad(None, load.memory_displacement if is_fixed else None)  # an indexed pointer belongs to a `switch`


def _find_load(instructions: Sequence[Instruction], number: int) -> Instruction | None:
    if instructions[number].op0_kind == OpKind.MEMORY:
        return instructions[number]
    register = instructions[number].op0_register
    for earlier in reversed(instructions[max(number - MAX_LOAD_DISTANCE, 0) : number]):
        if earlier.op0_register == register and earlier.mnemonic not in (Mnemonic.CMP, Mnemonic.TEST, Mnemonic.PUSH):
            return earlier if earlier.code == Code.MOV_R64_RM64 and earlier.op1_kind == OpKind.MEMORY else None
    return None


def find_constants(instructions: Iterable[Instruction]) -> list[int]:
    """The constants that instructions store or push, as 32-bit values; 0 for a register XORed with itself."""
    return [constant for each in instructions if (constant := _stored_constant(each)) is not None]


def _stored_constant(instruction: Instruction) -> int | None:
    if instruction.mnemonic == Mnemonic.XOR:
        is_zero = instruction.op1_kind == OpKind.REGISTER and instruction.op0_register == instruction.op1_register
        return 0 if is_zero else None
    last = instruction.op_count - 1
    if (
        instruction.mnemonic not in (Mnemonic.MOV, Mnemonic.PUSH)
        or instruction.op_kind(last) not in _IMMEDIATE_OPERANDS
    ):
        return None
    return int(instruction.immediate(last)) & 0xFFFFFFFF


def find_addresses(instructions: Iterable[Instruction]) -> list[int]:
    """The code-relative addresses that instructions load into registers."""
    return [
        each.ip_rel_memory_address
        for each in instructions
        if each.mnemonic == Mnemonic.LEA and each.memory_base == Register.RIP
    ]
