"""The call instructions of a function, each with the calls that run before and after it.

Compilers reorder blocks, so the order of addresses is often not the order in the source. The control flow is closer to
it. iced-x86 decodes an average function of libjax_common.so in 16 us. A search for `E8` bytes takes as long, and
capstone takes 63 us.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, islice, pairwise, takewhile
from typing import Any, NamedTuple

from framedex.binaries.machines.control_flow import ControlFlow, Instruction, Machine

_MAX_NEIGHBOURS = 8  # the maximum number of calls in each direction
_MAX_VISITED_BLOCKS = 60  # the maximum number of blocks to search for these calls
_MAX_WINDOW_BYTES = 4096  # the maximum number of bytes to search for call arguments
_MAX_TABLE_EDGES = 1 << 17  # jump tables times their cases in one function; an interpreter's main loop has this many

_BRANCHES = (ControlFlow.CONDITIONAL_BRANCH, ControlFlow.UNCONDITIONAL_BRANCH)
_BLOCK_ENDS = (
    ControlFlow.UNCONDITIONAL_BRANCH,
    ControlFlow.INDIRECT_BRANCH,
    ControlFlow.RETURN,
    ControlFlow.EXCEPTION,
)


class CallInstruction(NamedTuple):
    """A call, or a tail call: a jump to another function at the end of the caller.

    `return_address` is 0 for a jump, which leaves no return address. `target` is the address of the called function, of
    its PLT stub, or of the pointer that the dynamic linker fills for it. `target` is 0 for a call through any other
    pointer. Then `slot` is the pointer's byte offset in a table of virtual functions or in a structure, None if
    unknown.
    """

    return_address: int
    target: int
    slot: int | None = None


@dataclass(slots=True)
class _Block:
    """Consecutive instructions and their calls.

    The next block is the one at `following` or the one at `jump`; None if there is none. With `has_table`, a jump table
    selects the next block. With `is_endless`, the last call never returns.
    """

    start: int
    calls: list[CallInstruction] = field(default_factory=list)
    following: int | None = None
    jump: int | None = None
    has_table: bool = False
    is_endless: bool = False


IsPointer = Callable[[int], bool]
"""Whether only the dynamic linker writes to an address, and writes the address of a named symbol there."""

NeverReturns = Callable[[int], bool]
"""Whether calls to a target (`CallInstruction.target`) never return."""


class FunctionCode:
    """The machine code of one function."""

    def __init__(
        self,
        machine: Machine[Any],
        code: bytes,
        address: int,
        rest: Sequence[tuple[bytes, int]] = (),
        is_pointer: IsPointer = lambda _: False,
        never_returns: NeverReturns = lambda _: False,
    ) -> None:
        """Decode a function: `code` at virtual address `address`, and `rest`, its split-off parts with their addresses.

        Skips invalid bytes and decodes the bytes after them as well as possible.
        """
        self._machine = machine
        self._parts = [(code, address), *rest]
        blocks = _decode_blocks(machine, self._parts, is_pointer, never_returns)
        self._blocks = {block.start: block for block in blocks}
        self._call_positions = [(block.start, i) for block in blocks for i in range(len(block.calls))]
        self._likely_predecessors: dict[int, int] = {}  # for each block, its most likely predecessor
        for block in reversed(blocks):  # a fall-through is preferred to a jump, and then the lowest address
            if block.jump is not None:
                self._likely_predecessors[block.jump] = block.start
        self._likely_predecessors |= {block.following: block.start for block in blocks if block.following is not None}

    @cached_property
    def calls(self) -> list[CallInstruction]:
        """All calls, ordered by address; calls in split-off parts come last."""
        return [self._blocks[start].calls[i] for start, i in self._call_positions]

    @property
    def endless_calls(self) -> frozenset[int]:
        """The calls that never return, as indexes into `calls`."""
        return frozenset(
            number
            for number, (start, i) in enumerate(self._call_positions)
            if self._blocks[start].is_endless and i == len(self._blocks[start].calls) - 1
        )

    def constants_before(self, call: int) -> list[int]:
        """The constants stored in registers or memory just before a call, as 32-bit values.

        `call` is an index into `calls`.
        """
        return self._machine.find_constants(self._instructions_before(call))

    def addresses_before(self, call: int) -> list[int]:
        """The addresses loaded into registers just before a call; `call` is an index into `calls`."""
        return self._machine.find_addresses(self._instructions_before(call))

    def _instructions_before(self, call: int) -> Iterator[Instruction]:
        """The instructions between the block's previous call and this call, decoded on demand: few calls need them."""
        start, i = self._call_positions[call]
        begin = self._blocks[start].calls[i - 1].return_address if i else start
        for code, address in self._parts:
            if address <= begin < address + len(code):
                window = self._machine.decode(code[begin - address :][:_MAX_WINDOW_BYTES], begin)
                yield from takewhile(lambda each: each.flow_control == ControlFlow.NEXT, window)
                return

    @cached_property
    def control_flow(self) -> list[tuple[range, list[int], list[int]]]:
        """The blocks in topological order, ignoring back edges.

        Each block has the range of its calls as indexes into `calls`, the indexes of its predecessors in this list, and
        those of the loop starts that its back edges lead to. A block without a jump to it, such as a `switch` case, has
        the blocks with a table jump as predecessors.
        """
        order = self._depth_first_blocks()
        positions = {block.start: i for i, block in enumerate(order)}
        first: dict[int, int] = {}
        for number, (start, _) in enumerate(self._call_positions):
            first.setdefault(start, number)
        after: list[list[int]] = [[] for _ in order]
        loops: list[list[int]] = [[] for _ in order]
        for i, block in enumerate(order):
            for start in self._successors(block):
                if positions[start] > i:
                    after[positions[start]].append(i)
                else:
                    loops[i].append(positions[start])
        calls = [range(begin := first.get(block.start, 0), begin + len(block.calls)) for block in order]
        return list(zip(calls, after, loops, strict=True))

    def _depth_first_blocks(self) -> list[_Block]:
        """The blocks in depth-first order, each before its successors, ignoring back edges."""
        order: list[_Block] = []
        seen: set[int] = set()
        for root in self._blocks:
            finished = []
            path = [] if root in seen else [(root, iter(self._successors(self._blocks[root])))]
            seen.add(root)
            while path:
                start, rest = path[-1]
                following = next((each for each in rest if each not in seen), None)
                if following is None:
                    finished.append(self._blocks[start])
                    path.pop()
                else:
                    seen.add(following)
                    path.append((following, iter(self._successors(self._blocks[following]))))
            order += reversed(finished)
        return order

    def _successors(self, block: _Block) -> Sequence[int]:
        if block.has_table:
            return self._table_targets
        return [start for start in (block.jump, block.following) if start in self._blocks]

    @cached_property
    def _table_targets(self) -> list[int]:
        """The blocks that only a jump table can reach; none if tables times blocks exceeds a limit."""
        cases = [start for start in self._blocks if start not in self._likely_predecessors][1:]
        tables = sum(block.has_table for block in self._blocks.values())
        return cases if tables * len(cases) <= _MAX_TABLE_EDGES else []

    def calls_before(self, call: int) -> list[int]:
        """The targets of the calls that run before a call, nearest first; `call` is an index into `calls`."""
        start, i = self._call_positions[call]
        earlier = (
            each for block in self._follow(start, self._likely_predecessors.get) for each in reversed(block.calls)
        )
        return _nearest_targets(chain(reversed(self._blocks[start].calls[:i]), earlier))

    def calls_after(self, call: int) -> list[int]:
        """The targets of the calls that run after a call, nearest first; `call` is an index into `calls`."""
        start, i = self._call_positions[call]
        later = (each for block in self._follow(start, self._next_block) for each in block.calls)
        return _nearest_targets(chain(self._blocks[start].calls[i + 1 :], later))

    def _follow(self, start: int, step: Callable[[int], int | None]) -> Iterator[_Block]:
        """The blocks reached from a block by repeated `step`, each once."""
        seen = {start}
        block_start = step(start)
        while block_start is not None and block_start not in seen and len(seen) < _MAX_VISITED_BLOCKS:
            seen.add(block_start)
            yield self._blocks[block_start]
            block_start = step(block_start)

    def _next_block(self, start: int) -> int | None:
        block = self._blocks[start]
        next_start = block.jump if block.following is None else block.following
        return next_start if next_start in self._blocks else None


def _nearest_targets(calls: Iterable[CallInstruction]) -> list[int]:
    return [call.target for call in islice(calls, _MAX_NEIGHBOURS)]


def _decode_blocks(
    machine: Machine[Any], parts: Sequence[tuple[bytes, int]], is_pointer: IsPointer, never_returns: NeverReturns
) -> list[_Block]:
    """The blocks of each part in turn, ordered by address within it."""
    decoded = [list(machine.decode(code, address)) for code, address in parts]
    ranges = [range(address, address + len(code)) for code, address in parts]
    context = _FunctionContext(machine, ranges, is_pointer, never_returns)
    branches = [list(_find_branches(instructions, context)) for instructions in decoded]
    targets = {
        instructions[branch.number].near_branch_target
        for instructions, found in zip(decoded, branches, strict=True)
        for branch in found
        if branch.control in _BRANCHES
    }
    blocks = []
    for instructions, found, part in zip(decoded, branches, ranges, strict=True):
        blocks += _decode_part(instructions, found, part, targets, context)
    return blocks


class _FunctionContext(NamedTuple):
    """The address ranges of a function's parts, and predicates for pointers to other binaries and for endless calls."""

    machine: Machine[Any]
    code_ranges: Sequence[range]
    is_pointer: IsPointer
    never_returns: NeverReturns

    def contains(self, address: int) -> bool:
        """Whether the function has code at an address."""
        return any(address in part for part in self.code_ranges)

    def ends_block(self, instruction: Instruction, control: int) -> bool:
        """Whether the next instruction never runs after this one."""
        if control == ControlFlow.CALL:
            return self.never_returns(instruction.near_branch_target)
        return control in _BLOCK_ENDS


class _Branch(NamedTuple):
    """The number of a call or jump among the instructions, its control flow, and whether the next one never runs."""

    number: int
    control: int
    is_end: bool


def _find_branches(instructions: Sequence[Instruction], context: _FunctionContext) -> Iterator[_Branch]:
    for number, instruction in enumerate(instructions):
        if control := instruction.flow_control:
            yield _Branch(number, control, context.ends_block(instruction, control))


def _decode_part(
    instructions: Sequence[Instruction],
    branches: Sequence[_Branch],
    part: range,
    targets: Collection[int],
    context: _FunctionContext,
) -> list[_Block]:
    leaders = {part.start, *(target for target in targets if target in part)}
    leaders |= {
        instructions[branch.number].next_ip for branch in branches if branch.is_end or branch.control in _BRANCHES
    }
    ordered = sorted(leader for leader in leaders if leader < part.stop)
    addresses = [each.ip for each in instructions]
    begins = [*(bisect_left(addresses, leader) for leader in ordered), len(addresses)]
    blocks = [_Block(leader) for leader in ordered]
    for block, following, (begin, end) in zip(blocks, ordered[1:], pairwise(begins), strict=False):
        if begin < end and instructions[end - 1].next_ip < part.stop:
            block.following = following
    for branch in branches:
        _add_branch(blocks[bisect_right(ordered, addresses[branch.number]) - 1], instructions, branch, context)
    return blocks


def _add_branch(block: _Block, instructions: Sequence[Instruction], branch: _Branch, context: _FunctionContext) -> None:
    if branch.is_end:
        block.following = None
    if call := _decode_call(instructions, branch, context):
        block.calls.append(call)
        block.is_endless = branch.control == ControlFlow.CALL and branch.is_end
    elif branch.control in _BRANCHES:
        block.jump = instructions[branch.number].near_branch_target
    elif branch.control == ControlFlow.INDIRECT_BRANCH:
        block.has_table = True


def _decode_call(
    instructions: Sequence[Instruction], branch: _Branch, context: _FunctionContext
) -> CallInstruction | None:
    number, control, _ = branch
    instruction = instructions[number]
    if control == ControlFlow.CALL:
        return CallInstruction(instruction.next_ip, instruction.near_branch_target)
    if control == ControlFlow.UNCONDITIONAL_BRANCH and not context.contains(instruction.near_branch_target):
        return CallInstruction(0, instruction.near_branch_target)
    if control not in (ControlFlow.INDIRECT_CALL, ControlFlow.INDIRECT_BRANCH):
        return None
    returns_to = instruction.next_ip if control == ControlFlow.INDIRECT_CALL else 0
    load = context.machine.find_pointer_load(instructions, number)
    if load is not None and load.address is not None and context.is_pointer(load.address):
        return CallInstruction(returns_to, load.address)
    slot = load.slot if load is not None else None
    return CallInstruction(returns_to, 0, slot) if returns_to or slot is not None else None
