"""Decoder of AArch64: the instructions that calls and their arguments need.

Encodings: Arm Architecture Reference Manual for A-profile architecture, "A64 Instruction Set Encoding".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from framedex.binaries.machines.control_flow import MAX_LOAD_DISTANCE, ControlFlow, PointerLoad

_STACK_POINTER = 31  # as the base of an address; the zero register as an operand
_PARAMETERS = 8  # registers x0 to x7
_MAX_BASE_DISTANCE = 200  # instructions to search backwards for the base of a load
_FIRST_PRESERVED = 19  # calls may overwrite the registers below this number
_BRANCH_REGISTER_FLOWS = {
    0: ControlFlow.INDIRECT_BRANCH,  # br; braa with bit 3
    1: ControlFlow.INDIRECT_CALL,  # blr
    2: ControlFlow.RETURN,  # ret
    4: ControlFlow.RETURN,  # eret
}


class Instruction(NamedTuple):
    """A 32-bit instruction."""

    word: int
    ip: int
    flow_control: int
    near_branch_target: int

    @property
    def next_ip(self) -> int:
        """The address of the next instruction."""
        return self.ip + 4

    @property
    def target_register(self) -> int:
        """The register in the lowest bits: the result of most instructions, the operand of stores."""
        return self.word & 31

    @property
    def base_register(self) -> int:
        """The second register: the base of an address, the called pointer, the first operand of a sum."""
        return self.word >> 5 & 31


def decode(code: bytes, address: int) -> Iterator[Instruction]:
    """The instructions of code at an address. An incomplete last instruction is left out."""
    for number, word in enumerate(np.frombuffer(code, "<u4", len(code) // 4).tolist()):
        ip = address + 4 * number
        flow, distance = _control_flow(word)
        yield Instruction(word, ip, flow, ip + distance if distance is not None else 0)


def _control_flow(word: int) -> tuple[int, int | None]:
    """The control flow, and the distance to the target of a direct branch."""
    if word >> 26 & 0x1F == 0x05:
        return ControlFlow.CALL if word >> 31 else ControlFlow.UNCONDITIONAL_BRANCH, _sign_extend(word, 26) * 4
    if word >> 25 == 0x2A or word >> 25 & 0x3F == 0x1A:  # b.cond; cbz, cbnz
        return ControlFlow.CONDITIONAL_BRANCH, _sign_extend(word >> 5, 19) * 4
    if word >> 25 & 0x3F == 0x1B:  # tbz, tbnz
        return ControlFlow.CONDITIONAL_BRANCH, _sign_extend(word >> 5, 14) * 4
    if word >> 25 == 0x6B:
        return _BRANCH_REGISTER_FLOWS.get(word >> 21 & 7, ControlFlow.NEXT), None
    is_trap = word >> 16 == 0 or word & 0xFFE0001F == 0xD4200000  # udf, brk
    return ControlFlow.EXCEPTION if is_trap else ControlFlow.NEXT, None


def _sign_extend(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> bits - 1 else value


def find_pointer_load(instructions: Sequence[Instruction], number: int) -> PointerLoad | None:
    """The load of a called pointer: `ldr pointer, [base, #offset]`, with a base that `adrp` may have set."""
    at = _find_writer(instructions, number, instructions[number].base_register, MAX_LOAD_DISTANCE)
    if at is None or not _is_load(instructions[at].word):
        return None
    load = instructions[at]
    base_at = _find_writer(instructions, at, load.base_register, _MAX_BASE_DISTANCE)
    page = _adrp_target(instructions[base_at]) if base_at is not None else None
    if page is not None:
        return PointerLoad(page + _load_offset(load.word), None)
    # An unknown base may be a page address, so the offset alone says nothing.
    is_parameter = base_at is None and load.base_register < _PARAMETERS and at < _MAX_BASE_DISTANCE
    is_known = (base_at is not None or is_parameter) and load.base_register != _STACK_POINTER
    return PointerLoad(None, _load_offset(load.word) if is_known else None)


def _find_writer(instructions: Sequence[Instruction], number: int, register: int, distance: int) -> int | None:
    """The index of the last instruction before one that writes a register; None if a call may have written it."""
    for i in range(number - 1, max(number - distance, 0) - 1, -1):
        earlier = instructions[i]
        is_call = earlier.flow_control in (ControlFlow.CALL, ControlFlow.INDIRECT_CALL)
        if is_call and register < _FIRST_PRESERVED:
            return None
        if register in _written_registers(earlier.word):
            return i
    return None


def _written_registers(word: int) -> tuple[int, ...]:
    """The general registers that an instruction writes, except the base of an address with write-back."""
    if word & 0xFFF00000 == 0xD5300000:  # mrs
        return (word & 31,)
    group = word >> 25 & 0xF
    if word >> 21 & 0xFF == 0xD2:  # ccmp, ccmn
        return ()
    if group < 4 or group in (0b1010, 0b1011) or group & 0b0111 == 0b0111:  # reserved and SVE; branches; vectors
        return ()
    if group & 0b0101 != 0b0100:  # data processing
        return (word & 31,)
    if word >> 26 & 1:  # a vector register
        return ()
    kind = word >> 27 & 0b111
    if kind == 0b101:  # a pair
        return (word & 31, word >> 10 & 31) if word >> 22 & 1 else ()
    is_literal = kind == 0b011 and word >> 24 & 3 == 0
    is_load = is_literal or word >> 22 & (1 if kind == 0b001 else 3) != 0
    return (word & 31,) if is_load else ()


def _is_load(word: int) -> bool:
    return word & 0xFFC00000 == 0xF9400000  # of 64 bits, with an unsigned offset


def _load_offset(word: int) -> int:
    return (word >> 10 & 0xFFF) * 8


def _adrp_target(instruction: Instruction) -> int | None:
    """The address that `adrp` loads into its register; None for other instructions."""
    if instruction.word & 0x9F000000 != 0x90000000:
        return None
    return (instruction.ip & ~0xFFF) + (_adr_operand(instruction.word) << 12)


def _adr_operand(word: int) -> int:
    """The signed operand of `adr` and `adrp`."""
    return _sign_extend((word >> 5 & 0x7FFFF) << 2 | word >> 29 & 3, 21)


def find_constants(instructions: Iterable[Instruction]) -> list[int]:
    """The constants that instructions load into registers, as 32-bit values; 0 for a stored zero register."""
    found: list[int] = []
    place_of: dict[int, int] = {}  # the index of each register's latest constant in `found`
    for word in (each.word for each in instructions):
        register, shift, operand = word & 31, (word >> 21 & 3) * 16, word >> 5 & 0xFFFF
        wide = word >> 23 & 0xFF
        if wide == 0b11100101 and register in place_of:  # movk: another 16 bits of a constant
            earlier = found[place_of[register]]
            found[place_of[register]] = (earlier & ~(0xFFFF << shift) | operand << shift) & 0xFFFFFFFF
            continue
        constant = _moved_constant(word, wide, operand << shift)
        if constant is None:
            continue
        place_of[register] = len(found)
        found.append(constant & 0xFFFFFFFF)
    return found


def _moved_constant(word: int, wide: int, operand: int) -> int | None:
    """The constant of `mov register, #constant`, `mov register, zero` or `str zero, [...]`; None otherwise."""
    if wide == 0b10100101:  # movz
        return operand
    if wide == 0b00100101:  # movn
        return ~operand
    if word & 0x7F8003E0 == 0x320003E0:  # orr register, zero, #constant
        return _decode_bitmask(word)
    is_zero_moved = word & 0x7FFFFFE0 == 0x2A1F03E0
    is_zero_stored = word & 0xBFC0001F == 0xB900001F
    return 0 if is_zero_moved or is_zero_stored else None


def _decode_bitmask(word: int) -> int | None:
    """The lower 32 bits of a repeated pattern of ones ("DecodeBitMasks" in the Arm manual); None if reserved."""
    is_wide, rotation, ones = word >> 22 & 1, word >> 16 & 63, word >> 10 & 63
    length = (is_wide << 6 | ~ones & 63).bit_length() - 1
    if length < 1 or (is_wide and not word >> 31):
        return None
    size = 1 << length
    count, rotation = (ones & size - 1) + 1, rotation & size - 1
    if count == size:
        return None
    pattern = (1 << count) - 1
    element = (pattern >> rotation | pattern << size - rotation) & (1 << size) - 1
    return sum(element << place for place in range(0, 64, size)) & 0xFFFFFFFF


def find_addresses(instructions: Iterable[Instruction], *, with_loads: bool = False) -> list[int]:
    """The addresses that `adr`, or `adrp` and `add`, load into registers, and those that `adrp` and `ldr` read."""
    found = []
    pages: dict[int, int] = {}
    for each in instructions:
        base = pages.get(each.base_register)
        if each.word & 0x9F000000 == 0x10000000:  # adr
            found.append(each.ip + _adr_operand(each.word))
        elif each.word & 0xFFC00000 == 0x91000000 and base is not None:  # add
            found.append(base + (each.word >> 10 & 0xFFF))
        elif with_loads and _is_load(each.word) and base is not None:
            found.append(base + _load_offset(each.word))
        for register in _written_registers(each.word):
            pages.pop(register, None)
        if (page := _adrp_target(each)) is not None:
            pages[each.target_register] = page
    return found
