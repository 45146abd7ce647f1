"""The call instructions of a function, each with the calls that run before and after it.

Compilers move blocks around, so the order of addresses says little about the order of the source. What runs before and
after a call along the jumps says more. iced-x86 decodes an average function of libjax_common.so in 16 us: a search for
`E8` bytes takes as long, and capstone takes 63 us.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import NamedTuple

from iced_x86 import Code, Decoder, FlowControl, Instruction, Mnemonic, OpKind, Register

_NEAR = 8  # calls to look at in each direction
_FAR = 60  # blocks to walk through for them
_NEAR_LOAD = 24  # instructions to look at for the load of a pointer

_BRANCHES = (FlowControl.CONDITIONAL_BRANCH, FlowControl.UNCONDITIONAL_BRANCH)
_ENDS = (
    FlowControl.UNCONDITIONAL_BRANCH,
    FlowControl.INDIRECT_BRANCH,
    FlowControl.RETURN,
    FlowControl.EXCEPTION,
)


class CallInstruction(NamedTuple):
    """A call, or a jump to another function in place of one at the end of the caller.

    `returns_to` is 0 for a jump, which leaves no return address. `target` is 0 for a call through a pointer; `slot` is
    then the pointer's place, in bytes from the beginning of a table of virtual functions or of a structure. It is None
    where the code around does not tell it.
    """

    returns_to: int
    target: int
    slot: int | None = None


@dataclass(slots=True)
class _Block:
    """Instructions that run one after the other, with the calls among them.

    `numbers[i]` are the constants that are put into registers between call `i - 1` and call `i`; its last element has
    those behind the last call. The block at `following` runs next unless the one at `jump` does; None: there is none.
    """

    start: int
    calls: list[CallInstruction] = field(default_factory=list)
    numbers: list[list[int]] = field(default_factory=lambda: [[]])
    following: int | None = None
    jump: int | None = None


class FunctionCode:
    """The machine code of one x86-64 function."""

    def __init__(self, code: bytes, address: int) -> None:
        """`address` is the virtual address of the first byte.

        Bytes that are no instructions are passed over: what follows them is decoded as well as it can be.
        """
        blocks = _blocks(code, address)
        self._blocks = {block.start: block for block in blocks}
        self._places = [(block.start, i) for block in blocks for i in range(len(block.calls))]
        self._entered: dict[int, int] = {}  # for each block the one that most likely ran before it
        for block in reversed(blocks):  # the lowest address wins, and falling through over jumping
            if block.jump is not None:
                self._entered[block.jump] = block.start
        self._entered |= {block.following: block.start for block in blocks if block.following is not None}

    @property
    def calls(self) -> list[CallInstruction]:
        """Each call, ordered by address."""
        return [self._blocks[start].calls[i] for start, i in self._places]

    def numbers(self, call: int) -> list[int]:
        """The constants that are put into registers just before a call, which is counted as in `calls`."""
        start, i = self._places[call]
        return self._blocks[start].numbers[i]

    def before(self, call: int) -> list[int]:
        """The targets of the calls that run before a call, which is counted as in `calls`, nearest first."""
        start, i = self._places[call]
        earlier = (each for block in self._along(start, self._entered.get) for each in reversed(block.calls))
        return _nearest(chain(reversed(self._blocks[start].calls[:i]), earlier))

    def after(self, call: int) -> list[int]:
        """The targets of the calls that run after a call, which is counted as in `calls`, nearest first."""
        start, i = self._places[call]
        later = (each for block in self._along(start, self._next) for each in block.calls)
        return _nearest(chain(self._blocks[start].calls[i + 1 :], later))

    def _along(self, start: int, step: Callable[[int], int | None]) -> Iterator[_Block]:
        """The blocks that are reached from a block by `step` after `step`, each once."""
        seen = {start}
        at = step(start)
        while at is not None and at not in seen and len(seen) < _FAR:
            seen.add(at)
            yield self._blocks[at]
            at = step(at)

    def _next(self, start: int) -> int | None:
        block = self._blocks[start]
        at = block.jump if block.following is None else block.following
        return at if at in self._blocks else None


def _nearest(calls: Iterable[CallInstruction]) -> list[int]:
    return [call.target for call in islice(calls, _NEAR)]


def _blocks(code: bytes, address: int) -> list[_Block]:
    instructions = list(Decoder(64, code, ip=address))
    end = address + len(code)
    leaders = {address}
    for instruction in instructions:
        if instruction.flow_control in _BRANCHES:
            leaders.add(instruction.next_ip)
            if address <= instruction.near_branch_target < end:
                leaders.add(instruction.near_branch_target)
        elif instruction.flow_control in _ENDS:
            leaders.add(instruction.next_ip)
    ordered = sorted(leader for leader in leaders if leader < end)
    blocks = [_Block(leader) for leader in ordered]
    position = 0
    for number, instruction in enumerate(instructions):
        while position + 1 < len(ordered) and ordered[position + 1] <= instruction.ip:
            position += 1
        _add(blocks[position], instructions, number, range(address, end))
    for block, following in zip(blocks, ordered[1:], strict=False):
        if block.following == -1:
            block.following = following
    return blocks


def _add(block: _Block, instructions: Sequence[Instruction], number: int, function: range) -> None:
    instruction = instructions[number]
    control = instruction.flow_control
    block.following = None if control in _ENDS or instruction.next_ip >= function.stop else -1
    if instruction.code == Code.MOV_R32_IMM32:
        block.numbers[-1].append(instruction.immediate32)
    elif call := _call(instructions, number, function):
        block.calls.append(call)
        block.numbers.append([])
    elif control in _BRANCHES:
        block.jump = instruction.near_branch_target


def _call(instructions: Sequence[Instruction], number: int, function: range) -> CallInstruction | None:
    instruction = instructions[number]
    control = instruction.flow_control
    if control == FlowControl.CALL:
        return CallInstruction(instruction.next_ip, instruction.near_branch_target)
    if control == FlowControl.INDIRECT_CALL:
        return CallInstruction(instruction.next_ip, 0, _slot(instructions, number))
    if control == FlowControl.UNCONDITIONAL_BRANCH and instruction.near_branch_target not in function:
        return CallInstruction(0, instruction.near_branch_target)
    if control == FlowControl.INDIRECT_BRANCH and (slot := _slot(instructions, number)) is not None:
        return CallInstruction(0, 0, slot)
    return None


def _slot(instructions: Sequence[Instruction], number: int) -> int | None:
    """The place of the pointer that is called or jumped to, which may have been loaded before."""
    if instructions[number].op0_kind == OpKind.MEMORY:
        return _place(instructions[number])
    register = instructions[number].op0_register
    for earlier in reversed(instructions[max(number - _NEAR_LOAD, 0) : number]):
        if earlier.op0_register == register and earlier.mnemonic not in (Mnemonic.CMP, Mnemonic.TEST, Mnemonic.PUSH):
            return _place(earlier) if earlier.code == Code.MOV_R64_RM64 else None
    return None


def _place(instruction: Instruction) -> int | None:
    """Where the pointer in memory is, which an instruction reads; the pointers of a `switch` have an index."""
    base = instruction.memory_base
    is_fixed = base not in (Register.NONE, Register.RIP, Register.RSP) and instruction.memory_index == Register.NONE
    return instruction.memory_displacement if is_fixed else None
