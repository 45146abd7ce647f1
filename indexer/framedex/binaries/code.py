"""The call instructions of a function, each with the calls that run before and after it.

Compilers move blocks around, so the order of addresses says little about the order of the source. What runs before and
after a call along the jumps says more. iced-x86 decodes an average function of libjax_common.so in 16 us: a search for
`E8` bytes takes as long, and capstone takes 63 us.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, islice, takewhile
from typing import NamedTuple

from iced_x86 import Code, Decoder, FlowControl, Instruction, Mnemonic, OpKind, Register

_NEAR = 8  # calls to look at in each direction
_FAR = 60  # blocks to walk through for them
_LONGEST_WINDOW = 4096  # bytes to look through for what is passed
_MOST_CASES = 1 << 17  # of all tables of a function; an interpreter's has as many
_NEAR_LOAD = 24  # instructions to look at for the load of a pointer

_BRANCHES = (FlowControl.CONDITIONAL_BRANCH, FlowControl.UNCONDITIONAL_BRANCH)
_ENDS = (
    FlowControl.UNCONDITIONAL_BRANCH,
    FlowControl.INDIRECT_BRANCH,
    FlowControl.RETURN,
    FlowControl.EXCEPTION,
)

_IMMEDIATE = frozenset(
    (
        OpKind.IMMEDIATE8,
        OpKind.IMMEDIATE16,
        OpKind.IMMEDIATE32,
        OpKind.IMMEDIATE64,
        OpKind.IMMEDIATE8TO64,
        OpKind.IMMEDIATE32TO64,
    )
)


class CallInstruction(NamedTuple):
    """A call, or a jump to another function in place of one at the end of the caller.

    `returns_to` is 0 for a jump, which leaves no return address. `target` is the address of what is called, of a stub
    that leads there, or of the pointer that the dynamic linker fills for it. It is 0 for a call through any other
    pointer; `slot` is then the pointer's place, in bytes from the beginning of a table of virtual functions or of a
    structure. It is None where the code around does not tell it.
    """

    returns_to: int
    target: int
    slot: int | None = None


@dataclass(slots=True)
class _Block:
    """Instructions that run one after the other, with the calls among them.

    The block at `following` runs next unless the one at `jump` does; None: there is none.
    With `has_table`, one of several does, which a table names.
    """

    start: int
    calls: list[CallInstruction] = field(default_factory=list)
    following: int | None = None
    jump: int | None = None
    has_table: bool = False


IsPointer = Callable[[int], bool]
"""Whether the dynamic linker puts the address of something with a name at an address, and nobody else."""


class FunctionCode:
    """The machine code of one x86-64 function."""

    def __init__(
        self,
        code: bytes,
        address: int,
        rest: Sequence[tuple[bytes, int]] = (),
        is_pointer: IsPointer = lambda _: False,
    ) -> None:
        """`address` is the virtual address of the first byte. `rest` is what the compiler split off, each with its own.

        Bytes that are no instructions are passed over: what follows them is decoded as well as it can be.
        """
        self._parts = [(code, address), *rest]
        blocks = _blocks(self._parts, is_pointer)
        self._blocks = {block.start: block for block in blocks}
        self._places = [(block.start, i) for block in blocks for i in range(len(block.calls))]
        self._entered: dict[int, int] = {}  # for each block the one that most likely ran before it
        for block in reversed(blocks):  # the lowest address wins, and falling through over jumping
            if block.jump is not None:
                self._entered[block.jump] = block.start
        self._entered |= {block.following: block.start for block in blocks if block.following is not None}

    @cached_property
    def calls(self) -> list[CallInstruction]:
        """Each call, ordered by address; those of what was split off come last."""
        return [self._blocks[start].calls[i] for start, i in self._places]

    def numbers(self, call: int) -> list[int]:
        """The constants that are put into registers or memory just before a call, as 32 bits.

        The call is counted as in `calls`.
        """
        return [number for each in self._just_before(call) if (number := _constant(each)) is not None]

    def addresses(self, call: int) -> list[int]:
        """The addresses that are put into registers just before a call, which is counted as in `calls`."""
        return [
            each.ip_rel_memory_address
            for each in self._just_before(call)
            if each.mnemonic == Mnemonic.LEA and each.memory_base == Register.RIP
        ]

    def _just_before(self, call: int) -> Iterator[Instruction]:
        """The instructions from the last call of a block on, decoded anew: few calls are asked about."""
        start, i = self._places[call]
        begin = self._blocks[start].calls[i - 1].returns_to if i else start
        for code, address in self._parts:
            if address <= begin < address + len(code):
                window = Decoder(64, code[begin - address :][:_LONGEST_WINDOW], ip=begin)
                yield from takewhile(lambda each: each.flow_control == FlowControl.NEXT, window)
                return

    @property
    def flow(self) -> list[tuple[range, list[int]]]:
        """The blocks in an order in which each is after those that lead to it, but for jumps back.

        Each has its calls, counted as in `calls`, and the places here of the blocks that it can run after. What no
        jump leads to, as the cases of a table, runs after the block that jumps to somewhere.
        """
        order = self._in_order()
        place = {block.start: i for i, block in enumerate(order)}
        first: dict[int, int] = {}
        for number, (start, _) in enumerate(self._places):
            first.setdefault(start, number)
        after: list[list[int]] = [[] for _ in order]
        for i, block in enumerate(order):
            for start in self._leads_to(block):
                if place[start] > i:
                    after[place[start]].append(i)
        calls = [range(begin := first.get(block.start, 0), begin + len(block.calls)) for block in order]
        return list(zip(calls, after, strict=True))

    def _in_order(self) -> list[_Block]:
        """Depth first, each block before those that it leads to, as far as no jump leads back."""
        order: list[_Block] = []
        seen: set[int] = set()
        for root in self._blocks:
            done = []
            way = [] if root in seen else [(root, iter(self._leads_to(self._blocks[root])))]
            seen.add(root)
            while way:
                start, rest = way[-1]
                following = next((each for each in rest if each not in seen), None)
                if following is None:
                    done.append(self._blocks[start])
                    way.pop()
                else:
                    seen.add(following)
                    way.append((following, iter(self._leads_to(self._blocks[following]))))
            order += reversed(done)
        return order

    def _leads_to(self, block: _Block) -> Sequence[int]:
        if block.has_table:
            return self._cases
        return [start for start in (block.jump, block.following) if start in self._blocks]

    @cached_property
    def _cases(self) -> list[int]:
        """The blocks that no jump leads to, so that a table must; none where that says too much of too many tables."""
        cases = [start for start in self._blocks if start not in self._entered][1:]
        tables = sum(block.has_table for block in self._blocks.values())
        return cases if tables * len(cases) <= _MOST_CASES else []

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


def _blocks(parts: Sequence[tuple[bytes, int]], is_pointer: IsPointer) -> list[_Block]:
    """The blocks of each part in turn, ordered by address within it."""
    decoded = [list(Decoder(64, code, ip=address)) for code, address in parts]
    extent = [range(address, address + len(code)) for code, address in parts]
    targets = {
        instruction.near_branch_target
        for instructions in decoded
        for instruction in instructions
        if instruction.flow_control in _BRANCHES
    }
    blocks = []
    for instructions, part in zip(decoded, extent, strict=True):
        blocks += _blocks_of_part(instructions, part, targets, _Reading(extent, is_pointer))
    return blocks


class _Reading(NamedTuple):
    """The addresses of the parts of a function that is read, and which pointers lead out of its binary."""

    function: Sequence[range]
    is_pointer: IsPointer

    def holds(self, address: int) -> bool:
        """Whether the function has code at an address."""
        return any(address in part for part in self.function)


def _blocks_of_part(
    instructions: Sequence[Instruction], part: range, targets: Collection[int], reading: _Reading
) -> list[_Block]:
    leaders = {part.start, *(target for target in targets if target in part)}
    ending = (*_BRANCHES, *_ENDS)
    leaders |= {instruction.next_ip for instruction in instructions if instruction.flow_control in ending}
    ordered = sorted(leader for leader in leaders if leader < part.stop)
    blocks = [_Block(leader) for leader in ordered]
    position = 0
    for number, instruction in enumerate(instructions):
        while position + 1 < len(ordered) and ordered[position + 1] <= instruction.ip:
            position += 1
        _add(blocks[position], instructions, number, part, reading)
    for block, following in zip(blocks, ordered[1:], strict=False):
        if block.following == -1:
            block.following = following
    return blocks


def _add(block: _Block, instructions: Sequence[Instruction], number: int, part: range, reading: _Reading) -> None:
    instruction = instructions[number]
    control = instruction.flow_control
    block.following = None if control in _ENDS or instruction.next_ip >= part.stop else -1
    if call := _call(instructions, number, reading):
        block.calls.append(call)
    elif control in _BRANCHES:
        block.jump = instruction.near_branch_target
    elif control == FlowControl.INDIRECT_BRANCH:
        block.has_table = True


def _constant(instruction: Instruction) -> int | None:
    """The constant that an instruction passes on; a register without its own bits is 0."""
    if instruction.mnemonic == Mnemonic.XOR:
        is_zero = instruction.op1_kind == OpKind.REGISTER and instruction.op0_register == instruction.op1_register
        return 0 if is_zero else None
    last = instruction.op_count - 1
    if instruction.mnemonic not in (Mnemonic.MOV, Mnemonic.PUSH) or instruction.op_kind(last) not in _IMMEDIATE:
        return None
    return int(instruction.immediate(last)) & 0xFFFFFFFF


def _call(instructions: Sequence[Instruction], number: int, reading: _Reading) -> CallInstruction | None:
    instruction = instructions[number]
    control = instruction.flow_control
    if control == FlowControl.CALL:
        return CallInstruction(instruction.next_ip, instruction.near_branch_target)
    if control == FlowControl.UNCONDITIONAL_BRANCH and not reading.holds(instruction.near_branch_target):
        return CallInstruction(0, instruction.near_branch_target)
    if control not in (FlowControl.INDIRECT_CALL, FlowControl.INDIRECT_BRANCH):
        return None
    returns_to = instruction.next_ip if control == FlowControl.INDIRECT_CALL else 0
    read = _reading_of_pointer(instructions, number)
    if read is not None and read.is_ip_rel_memory_operand and reading.is_pointer(read.ip_rel_memory_address):
        return CallInstruction(returns_to, read.ip_rel_memory_address)
    slot = _place(read) if read is not None else None
    return CallInstruction(returns_to, 0, slot) if returns_to or slot is not None else None


def _reading_of_pointer(instructions: Sequence[Instruction], number: int) -> Instruction | None:
    """What reads the pointer that is called or jumped to from memory: the same instruction, or one before it."""
    if instructions[number].op0_kind == OpKind.MEMORY:
        return instructions[number]
    register = instructions[number].op0_register
    for earlier in reversed(instructions[max(number - _NEAR_LOAD, 0) : number]):
        if earlier.op0_register == register and earlier.mnemonic not in (Mnemonic.CMP, Mnemonic.TEST, Mnemonic.PUSH):
            return earlier if earlier.code == Code.MOV_R64_RM64 and earlier.op1_kind == OpKind.MEMORY else None
    return None


def _place(instruction: Instruction) -> int | None:
    """Where the pointer in memory is, which an instruction reads; the pointers of a `switch` have an index."""
    base = instruction.memory_base
    is_fixed = base not in (Register.NONE, Register.RIP, Register.RSP) and instruction.memory_index == Register.NONE
    return instruction.memory_displacement if is_fixed else None
