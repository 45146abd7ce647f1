"""The memory inside an optimised program: the temporaries alive at its peak, and their total size over its schedule.

Sizes and places come from the compiler's buffer assignment (BufferAssignmentProto in xla/service/hlo.proto), which only
the mock TPU hands over. For other plug-ins they are estimates from the shapes of the scheduled instructions. In both
cases a buffer lives from the instruction that defines it to the last one that uses it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, islice

from framedex.base.protobuf import Message
from framedex.model.programs import ProgramBuffer, ProgramMemory
from framedex.programs.collectives import read_collectives
from framedex.programs.fusions import read_fusions
from framedex.programs.hlo import MAX_DEPTH, Computation, Instruction, Module, Shape

MAX_BUFFERS = 500
"""The maximum number of reported buffers of one program: the largest."""

MAX_POINTS = 500
"""The maximum number of points over the schedule of one program."""

MAX_BYTES = 1 << 48
"""The maximum plausible size of a buffer: a damaged capture may contain any number."""

MAX_FUSED_OPS = 50
"""The maximum number of reported ops of one fusion: the last ones."""

_MODULE, _BUFFER_ASSIGNMENT = 1, 3  # of HloProto
_MAX_STEPS = 300_000
_NEAR_STEPS = 50  # instructions searched for a line
# Instructions whose result is in their operand's memory, and instructions that need no memory.
_FORWARDING_OPCODES = frozenset(
    {
        *("bitcast", "get-tuple-element", "tuple", "optimization-barrier", "while", "conditional", "call", "domain"),
        *("copy-done", "all-gather-done", "all-reduce-done", "collective-permute-done", "async-done", "async-update"),
        *("add-dependency", "send-done", "after-all", "partition-id", "replica-id"),
    }
)
_WITHOUT_MEMORY_OPCODES = frozenset({"parameter", "constant"})
_CALLING_OPCODES = frozenset({"while", "conditional", "call"})
# Instructions that read an element of an operand after they may have written it, so that they need a new buffer.
_UNSHARABLE_OPCODES = frozenset(
    {
        *("dot", "convolution", "transpose", "gather", "reduce", "reduce-window", "reverse", "concatenate", "pad"),
        *("slice", "dynamic-slice", "broadcast", "custom-call", "copy", "scatter", "fft", "cholesky"),
        *("triangular-solve", "all-gather", "all-to-all", "collective-permute", "reduce-scatter", "iota", "rng"),
    }
)

_Origin = tuple[int, tuple[int, ...]]  # the id of an instruction, and the index of an array in its shape
_ArrayLeaves = tuple[tuple[tuple[int, ...], Shape], ...]  # the arrays of a shape, each after its index
_Value = tuple[frozenset[_Origin], ...]  # for each leaf of a shape, the buffers that it may be


def read_program_memory(data: bytes) -> ProgramMemory | None:
    """Return the memory inside a program from its HloProto; None if it is malformed or its module is not scheduled."""
    try:
        proto = Message(data)
        module = Module(proto.content(_MODULE))
        assignment = proto.content(_BUFFER_ASSIGNMENT)
        slots = _read_slots(Message(assignment)) if assignment else None
        if module.entry is None:
            return None
        memory = _Analysis(module, slots).measure()
        memory = replace(memory, collectives=read_collectives(module), fusions=read_fusions(module))
        return memory if memory.buffers or memory.collectives or memory.fusions else None
    except (ValueError, RecursionError, MemoryError):
        return None


@dataclass(frozen=True, slots=True)
class _Slot:
    """The place of a buffer: an allocation, an offset in it, and a size, all in bytes."""

    allocation: int
    offset: int
    size: int


class _OccupiedSlots:
    """The buffers that own memory, by allocation in the order of their offsets. They do not overlap."""

    def __init__(self) -> None:
        self._by_allocation: dict[int, list[tuple[int, int, _Origin]]] = {}  # offset, end, owner

    def take(self, owner: _Origin, slot: _Slot) -> list[_Origin]:
        """Give a slot to a new owner, and return the earlier owners of any part of it."""
        slots = self._by_allocation.setdefault(slot.allocation, [])
        end = slot.offset + slot.size
        begin = bisect_left(slots, slot.offset, key=lambda each: each[1] - 1)
        stop = bisect_left(slots, end, key=lambda each: each[0])
        taken = [origin for _, _, origin in slots[begin:stop]]
        slots[begin:stop] = [(slot.offset, end, owner)]
        return taken


@dataclass(frozen=True, slots=True)
class _Slots:
    """The assigned buffers of a program: the temporaries by origin, and all that define memory."""

    temporaries: dict[_Origin, _Slot]
    defined: frozenset[_Origin]


def _read_slots(assignment: Message) -> _Slots:
    origins: dict[int, _Origin] = {}
    for buffer in map(Message, assignment.contents(1)):
        place = Message(buffer.content(3))
        origins[buffer.integer(1)] = place.integer(4), tuple(place.integers(3))
    temporaries: dict[_Origin, _Slot] = {}
    for allocation in map(Message, assignment.contents(3)):
        # thread-local memory, parameters, results and constants are not temporaries
        is_temporary = not any(allocation.integer(number) for number in (3, 5, 7, 12))
        for assigned in map(Message, allocation.contents(9)):
            origin = origins.get(assigned.integer(1))
            if is_temporary and origin is not None:
                temporaries[origin] = _Slot(allocation.integer(1), assigned.integer(2), assigned.integer(3))
    return _Slots(temporaries, frozenset(origins.values()))


@dataclass(slots=True)
class _Lifetime:
    """The steps of the schedule from the definition of a buffer to its last use."""

    first: int
    last: int


class _Analysis:
    """Follows the buffers of a module along its schedule. With `slots` None, all sizes are estimates."""

    def __init__(self, module: Module, slots: _Slots | None) -> None:
        self._module = module
        self._slots = slots
        self._steps: list[Instruction] = []
        self._values: dict[int, _Value] = {}
        self._lifetimes: dict[_Origin, _Lifetime] = {}
        self._shapes: dict[_Origin, Shape] = {}
        self._instructions: dict[int, Instruction] = {}
        self._users: dict[int, list[int]] = {}
        self._entered: set[int] = set()
        self._leaves: dict[int, _ArrayLeaves] = {}  # by instruction
        self._initial: dict[_Origin, _Origin] = {}  # the buffer before the loop, of a value that a loop carries
        self._starts: dict[
            int, list[int]
        ] = {}  # by instruction, for each part of its shape the number of its first leaf

    def measure(self) -> ProgramMemory:
        """Return the peak of the temporaries and the buffers that are alive at it."""
        entry = self._module.entry
        assert entry is not None
        root = self._follow(entry, (), 0)
        results = frozenset(origin for leaf in root for origin in leaf)
        sized = {origin: size for origin in self._lifetimes if (size := self._temporary_size(origin, results))}
        self._end_overwritten_lifetimes(sized)
        points, peak_step = self._sum_over_steps(sized)
        at_peak = [
            origin for origin in sized if self._lifetimes[origin].first <= peak_step <= self._lifetimes[origin].last
        ]
        at_peak.sort(key=lambda origin: (-sized[origin], self._lifetimes[origin].first))
        return ProgramMemory(
            is_exact=self._slots is not None,
            peak=max((size for _, size in points), default=0),
            peak_step=peak_step,
            steps=len(self._steps),
            over_time=tuple(_select_points(points)),
            buffers=tuple(self._build_buffer(origin, sized[origin]) for origin in at_peak[:MAX_BUFFERS]),
        )

    # Lifetimes along the schedule

    def _follow(self, computation: Computation, parameters: Sequence[_Value], depth: int) -> _Value:
        """Follow the instructions of a computation, and return the value of its root."""
        if depth > MAX_DEPTH or id(computation) in self._entered:  # a computation called twice is followed once
            return self._values.get(computation.root, ())
        self._entered.add(id(computation))
        for instruction in computation.instructions.values():
            self._instructions[instruction.id] = instruction
            self._leaves[instruction.id] = tuple(instruction.shape.leaves())
            for operand in instruction.operands:
                self._users.setdefault(operand, []).append(instruction.id)
            if instruction.opcode == "parameter":
                number = instruction.index
                value = parameters[number] if number < len(parameters) else self._unknown_value(instruction)
            else:
                value = self._forwarded_value(instruction, depth)
            self._values[instruction.id] = self._define_buffers(instruction, value)
            if len(self._steps) >= _MAX_STEPS:
                raise ValueError("the program has too many steps")
            self._steps.append(instruction)
            self._use_operands(instruction)
        value = self._values.get(computation.root, ())
        self._extend_lifetimes(value)
        return value

    def _unknown_value(self, instruction: Instruction) -> _Value:
        return (frozenset[_Origin](),) * len(self._leaves[instruction.id])

    def _forwarded_value(self, instruction: Instruction, depth: int) -> _Value:
        """Return the buffers that the result of an instruction shares with its operands."""
        operands = [self._values.get(operand, ()) for operand in instruction.operands]
        match instruction.opcode:
            case "tuple":
                return tuple(leaf for operand in operands for leaf in operand)
            case "get-tuple-element":
                return self._tuple_element(instruction, operands)
            case opcode if opcode in _CALLING_OPCODES:
                return self._follow_calls(instruction, operands, depth)
            case opcode if opcode in _FORWARDING_OPCODES and operands:
                return operands[0]
        return ()

    def _define_buffers(self, instruction: Instruction, forwarded: _Value) -> _Value:
        """Return the value of an instruction. Its step follows the steps of the computations that it calls.

        The compiler also defines a buffer for each value that a loop carries, in the memory of the initial value. The
        buffer dies at its last use in an iteration, and the value of the next iteration takes its memory.
        """
        step = len(self._steps)
        value = []
        for position, (index, shape) in enumerate(self._leaves[instruction.id]):
            origin = instruction.id, index
            if self._defines_buffer(instruction, origin):
                self._lifetimes[origin] = _Lifetime(step, step)
                self._shapes[origin] = shape
                if instruction.opcode == "parameter" and position < len(forwarded) and forwarded[position]:
                    self._initial[origin] = min(forwarded[position])
                value.append(frozenset({origin}))
            elif position < len(forwarded):
                value.append(forwarded[position])
            else:
                value.append(frozenset())
        return tuple(value)

    def _defines_buffer(self, instruction: Instruction, origin: _Origin) -> bool:
        if self._slots is not None:
            return origin in self._slots.defined
        return instruction.opcode not in _FORWARDING_OPCODES and instruction.opcode not in _WITHOUT_MEMORY_OPCODES

    def _tuple_element(self, instruction: Instruction, operands: Sequence[_Value]) -> _Value:
        """Return the leaves of one element of a tuple."""
        if not operands:
            return ()
        producer = self._instructions.get(instruction.operands[0])
        if producer is None or instruction.index >= len(producer.shape.parts):
            return ()
        if producer.id not in self._starts:
            counts = (sum(1 for _ in part.leaves()) for part in producer.shape.parts)
            self._starts[producer.id] = [0, *accumulate(counts)]
        begin, end = self._starts[producer.id][instruction.index : instruction.index + 2]
        return operands[0][begin:end]

    def _follow_calls(self, instruction: Instruction, operands: Sequence[_Value], depth: int) -> _Value:
        called = [c for number in instruction.called if (c := self._module.computations.get(number)) is not None]
        if instruction.opcode == "while":
            carried = operands[0] if operands else ()
            results = [self._follow(computation, [carried], depth + 1) for computation in reversed(called)]
            # The condition runs first. Its result is not a result of the loop.
            return _merge_values([carried, *results[1:]])
        if instruction.opcode == "conditional":
            branches = zip(called, operands[1:], strict=False)
            return _merge_values([self._follow(computation, [operand], depth + 1) for computation, operand in branches])
        return _merge_values([self._follow(computation, operands, depth + 1) for computation in called])

    def _use_operands(self, instruction: Instruction) -> None:
        if instruction.opcode not in _FORWARDING_OPCODES or instruction.opcode in _CALLING_OPCODES:
            for operand in instruction.operands:
                self._extend_lifetimes(self._values.get(operand, ()))

    def _extend_lifetimes(self, value: _Value) -> None:
        """Keep the buffers of a value alive until the latest step."""
        for leaf in value:
            for origin in leaf:
                if (lifetime := self._lifetimes.get(origin)) is not None:
                    lifetime.last = max(len(self._steps) - 1, lifetime.first)

    # Sizes

    def _temporary_size(self, origin: _Origin, results: frozenset[_Origin]) -> int:
        """Return the bytes of a temporary; 0 for other buffers."""
        if self._slots is not None:
            slot = self._slots.temporaries.get(origin)
            size = 0 if slot is None else slot.size
        else:
            leaf = self._shapes[origin]
            size = 0 if origin in results or not leaf.is_in_hbm else leaf.size
        if size > MAX_BYTES:
            raise ValueError("the program has an impossible size")
        return size

    def _end_overwritten_lifetimes(self, sized: dict[_Origin, int]) -> None:
        """End the lifetime of each buffer whose memory a later buffer takes: the compiler knows the last use better."""
        occupied = _OccupiedSlots()
        for origin in sorted(sized, key=lambda each: self._lifetimes[each].first):
            first = self._lifetimes[origin].first
            if self._slots is None:
                taken = self._find_reused_operands(origin, sized)
            else:
                taken = occupied.take(origin, self._slots.temporaries[origin])
            for other in taken:
                lifetime = self._lifetimes[other]
                lifetime.last = min(lifetime.last, max(first - 1, lifetime.first))

    def _find_reused_operands(self, origin: _Origin, sized: dict[_Origin, int]) -> list[_Origin]:
        """Return the operands whose memory the result of an instruction probably reuses."""
        instruction, first = self._instructions[origin[0]], self._lifetimes[origin].first
        found = [
            other
            for other in self._operand_origins(instruction)
            if sized.get(other) == sized[origin] and self._lifetimes[other].first < first <= self._lifetimes[other].last
        ]
        if not found:
            return []
        opcodes = {inner.opcode for inner in self._module.fused_instructions(instruction)} or {instruction.opcode}
        if "dynamic-update-slice" in opcodes:  # loops update their carried values in place
            return found
        last_used = [other for other in found if self._lifetimes[other].last == first]
        return [] if opcodes & _UNSHARABLE_OPCODES else last_used[:1]

    def _operand_origins(self, instruction: Instruction) -> set[_Origin]:
        values = (self._values.get(operand, ()) for operand in instruction.operands)
        return {origin for value in values for leaf in value for origin in leaf}

    def _sum_over_steps(self, sized: dict[_Origin, int]) -> tuple[list[tuple[int, int]], int]:
        """Return the live bytes at each step where they change, and the first step with the most."""
        changes: dict[int, int] = {}
        for origin, size in sized.items():
            lifetime = self._lifetimes[origin]
            changes[lifetime.first] = changes.get(lifetime.first, 0) + size
            changes[lifetime.last + 1] = changes.get(lifetime.last + 1, 0) - size
        alive, points = 0, []
        for step in sorted(changes):
            alive += changes[step]
            points.append((step, alive))
        peak = max(points, key=lambda point: point[1], default=(0, 0))
        return points, peak[0]

    # Descriptions

    def _build_buffer(self, origin: _Origin, size: int) -> ProgramBuffer:
        lifetime, initial = self._lifetimes[origin], origin
        passed: set[_Origin] = set()  # in a damaged program, the carried values of loops may form a cycle
        while initial in self._initial and initial not in passed:
            passed.add(initial)
            initial = self._initial[initial]
        instruction = self._instructions[initial[0]]
        buffer = ProgramBuffer(
            instruction=instruction.name,
            opcode=instruction.opcode,
            op=instruction.op,
            shape=str(self._shapes[origin]),
            size=size,
            first=lifetime.first,
            last=lifetime.last,
            last_instruction=self._steps[min(lifetime.last, len(self._steps) - 1)].name,
            frames=self._module.frames.stack(instruction.frame),
            fused=tuple(islice(self._module.fused_ops(instruction), MAX_FUSED_OPS)),
        )
        if not buffer.frames:
            buffer = self._with_line_of_fused(buffer, instruction)
        return buffer if buffer.frames else self._with_line_of_neighbour(buffer, instruction)

    def _with_line_of_fused(self, buffer: ProgramBuffer, instruction: Instruction) -> ProgramBuffer:
        for inner in self._module.fused_instructions(instruction):
            if frames := self._module.frames.stack(inner.frame):
                return replace(buffer, frames=frames, op=buffer.op or inner.op)
        return buffer

    def _with_line_of_neighbour(self, buffer: ProgramBuffer, instruction: Instruction) -> ProgramBuffer:
        """Add the line of the nearest instruction that uses the buffer, else of one that it is computed from."""
        for neighbours in (lambda each: self._users.get(each.id, ()), lambda each: each.operands):
            seen, waiting = {instruction.id}, [instruction]
            while waiting and len(seen) < _NEAR_STEPS:
                current = waiting.pop(0)
                for number in neighbours(current):
                    found = self._instructions.get(number)
                    if found is None or number in seen:
                        continue
                    seen.add(number)
                    waiting.append(found)
                    if frames := self._module.frames.stack(found.frame):
                        return replace(buffer, frames=frames, is_near=True)
        return buffer


def _merge_values(values: Sequence[_Value]) -> _Value:
    """Return the value that may be any of these values."""
    length = max(map(len, values), default=0)
    return tuple(
        frozenset().union(*(value[position] for value in values if position < len(value))) for position in range(length)
    )


def _select_points(points: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield all points, or the highest of each of `MAX_POINTS` equal parts."""
    parts = min(len(points), MAX_POINTS)
    for part in range(parts):
        group = points[part * len(points) // parts : (part + 1) * len(points) // parts]
        yield max(group, key=lambda point: point[1])
