"""XLA's optimised programs: the scheduled instructions of each computation, and the source lines of their ops.

The field numbers come from xla/service/hlo.proto and xla/xla_data.proto. Malformed messages raise ValueError.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from framedex.base.protobuf import Message, to_signed
from framedex.model.locations import is_library_file
from framedex.model.programs import ProgramFrame

MAX_DEPTH = 1_000
"""The maximum number of frames of an op, and of computations that call each other."""

_MAX_DIMENSION = 1 << 48  # a damaged capture may contain anything
_MAX_LINE = 1 << 31
_TUPLE = "tuple"
# The names of xla.PrimitiveType, from 0, and the bytes of an element; sub-byte types count as one byte.
_ELEMENT_NAMES = [
    "invalid",
    "pred",
    "s8",
    "s16",
    "s32",
    "s64",
    "u8",
    "u16",
    "u32",
    "u64",
    "f16",
    "f32",
    "f64",
    "tuple",
    "opaque",
    "c64",
    "bf16",
    "token",
    "c128",
    "f8e5m2",
    "f8e4m3fn",
    "s4",
    "u4",
    "f8e4m3b11fnuz",
    "f8e5m2fnuz",
    "f8e4m3fnuz",
    "s2",
    "u2",
    "f8e4m3",
    "f8e3m4",
    "s1",
    "u1",
    "f4e2m1fn",
    "f8e8m0fnu",
]
_ELEMENT_BYTES = {"s16": 2, "u16": 2, "f16": 2, "bf16": 2, "s32": 4, "u32": 4, "f32": 4} | {
    "s64": 8,
    "u64": 8,
    "f64": 8,
    "c64": 8,
    "c128": 16,
    "invalid": 0,
    "tuple": 0,
    "opaque": 0,
    "token": 0,
}


COLLECTIVE_OPCODES = frozenset(
    {
        *("all-gather", "all-reduce", "all-to-all", "ragged-all-to-all", "collective-broadcast"),
        *("collective-permute", "reduce-scatter"),
    }
)
"""The opcodes of transfers between devices. Asynchronous ones have the suffix `-start`."""

_CALLING_OPCODES = frozenset({"while", "conditional", "call", "async-start"})
_FUSION = "fusion"


@dataclass(frozen=True, slots=True)
class Shape:
    """An array's type (`f32[4,8]`) with its size in bytes without padding, or a tuple of `parts`.

    `is_in_hbm` is false for an array in another memory of the device, such as a TPU's VMEM.
    """

    element: str
    dimensions: tuple[int, ...] = ()
    parts: tuple[Shape, ...] = ()
    is_in_hbm: bool = True

    @classmethod
    def from_message(cls, shape: Message, depth: int = 0) -> Shape:
        """Return a shape from its ShapeProto."""
        number = shape.integer(2)
        element = _ELEMENT_NAMES[number] if number < len(_ELEMENT_NAMES) else f"type{number}"
        parts = shape.contents(4) if element == _TUPLE and depth < MAX_DEPTH else ()
        return cls(
            element,
            tuple(min(abs(to_signed(each)), _MAX_DIMENSION) for each in shape.integers(3)),
            tuple(cls.from_message(Message(part), depth + 1) for part in parts),
            Message(shape.content(5)).integer(8) == 0,
        )

    def leaves(self, index: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Shape]]:
        """Yield the arrays of a tuple, or the array itself, each after its index as XLA writes it."""
        if self.element != _TUPLE:
            yield index, self
        for number, part in enumerate(self.parts):
            yield from part.leaves((*index, number))

    @property
    def size(self) -> int:
        """The size in bytes of all arrays."""
        if self.element == _TUPLE:
            return sum(part.size for part in self.parts)
        return math.prod(self.dimensions) * _ELEMENT_BYTES.get(self.element, 1)

    def __str__(self) -> str:
        """Return the type as XLA prints it, without layouts."""
        if self.element == _TUPLE:
            return f"({', '.join(map(str, self.parts))})"
        return f"{self.element}[{','.join(map(str, self.dimensions))}]"


@dataclass(frozen=True, slots=True)
class Instruction:
    """An instruction of a computation.

    `op` is JAX's name (`jit(f)/sort`), `frame` the number of the innermost frame that traced it (0: unknown).
    `operands` are the ids of instructions, and `called` those of computations. `index` is the tuple index of a
    `get-tuple-element` or the number of a parameter, `group_size` the number of devices in a group of a collective
    (0: unknown).
    """

    id: int
    name: str
    opcode: str
    shape: Shape
    op: str
    frame: int
    operands: tuple[int, ...]
    called: tuple[int, ...]
    index: int
    group_size: int = 0

    @classmethod
    def from_message(cls, instruction: Message) -> Instruction:
        """Return an instruction from its HloInstructionProto."""
        metadata, opcode = Message(instruction.content(7)), instruction.text(2)
        return cls(
            id=instruction.integer(35),
            name=instruction.text(1),
            opcode=opcode,
            shape=Shape.from_message(Message(instruction.content(3))),
            op=metadata.text(2),
            frame=metadata.integer(15),
            operands=tuple(instruction.integers(36)),
            called=tuple(instruction.integers(38)),
            index=instruction.integer(9 if opcode == "parameter" else 13),
            group_size=_group_size(instruction) if opcode.removesuffix("-start") in COLLECTIVE_OPCODES else 0,
        )


def _group_size(collective: Message) -> int:
    """Return the number of devices in a group: from mesh axes, an iota of devices or a list; 0 if it has none."""
    axes, listed = collective.content(93), Message(collective.content(87))
    if axes:
        return _mesh_group_size(Message(axes))
    iota = collective.content(92) or listed.content(2)
    if iota:
        return Message(iota).integer(2)
    groups = (*listed.contents(1), *collective.contents(49))
    return max((len(Message(group).integers(1)) for group in groups), default=0)


def _mesh_group_size(groups: Message) -> int:
    """Return the number of devices along axes of a mesh (MeshAxesReplicaGroupListProto)."""
    sizes = [Message(axis).integer(2) for axis in Message(groups.content(1)).contents(1)]
    chosen = [(axis.integer(1), Message(axis.content(2)).integer(2)) for axis in map(Message, groups.contents(2))]
    found = math.prod(part or sizes[number] for number, part in chosen if number < len(sizes))
    return min(found, _MAX_DIMENSION)


class Computation:
    """A computation of a module, read when first needed."""

    def __init__(self, computation: Message, schedule: Sequence[int]) -> None:
        self._message = computation
        self._schedule = schedule
        self.root = computation.integer(6)

    @cached_property
    def instructions(self) -> dict[int, Instruction]:
        """The instructions by id, in the order of the schedule; unscheduled ones in the order of the module."""
        read = (Instruction.from_message(Message(each)) for each in self._message.contents(2))
        by_id = {instruction.id: instruction for instruction in read}
        if len(by_id.keys() & set(self._schedule)) < len(by_id):
            return by_id
        return {identifier: by_id[identifier] for identifier in self._schedule if identifier in by_id}

    def last_ops(self) -> Iterator[tuple[str, int]]:
        """Yield JAX's name and the frame of each instruction, the last one first, without parsing the rest."""
        for instruction in reversed(self._message.contents(2)):
            metadata = Message(Message(instruction).content(7))
            yield metadata.text(2), metadata.integer(15)


class StackFrames:
    """The Python frames that instructions refer to, by number (StackFrameIndexProto). The number 0 means none."""

    def __init__(self, module: Message) -> None:
        tables = Message(module.content(17))
        self._files, self._functions = (
            [name.decode("utf-8", "replace") for name in tables.contents(number)] for number in (1, 2)
        )
        self._locations = [(m.integer(1), m.integer(2), m.integer(3)) for m in map(Message, tables.contents(3))]
        self._frames = [(m.integer(1), m.integer(2)) for m in map(Message, tables.contents(4))]
        self._stacks: dict[int, tuple[ProgramFrame, ...]] = {}
        self._user_frames: dict[int, ProgramFrame | None] = {}

    def stack(self, number: int) -> tuple[ProgramFrame, ...]:
        """Return a frame and its callers, innermost first. A cycle ends the stack."""
        if number not in self._stacks:
            found: dict[int, ProgramFrame | None] = {}
            current = number
            while 0 < current <= len(self._frames) and current not in found and len(found) < MAX_DEPTH:
                location, caller = self._frames[current - 1]
                found[current] = self._locate(location)
                current = caller
            self._stacks[number] = tuple(frame for frame in found.values() if frame is not None)
        return self._stacks[number]

    def user_frame(self, number: int) -> ProgramFrame | None:
        """Return the innermost frame of a stack outside of installed packages, else the innermost one."""
        if number not in self._user_frames:
            frames = self.stack(number)
            own = (frame for frame in frames if not is_library_file(frame.path))
            self._user_frames[number] = next(own, frames[0] if frames else None)
        return self._user_frames[number]

    def _locate(self, number: int) -> ProgramFrame | None:
        if not 0 < number <= len(self._locations):
            return None
        file, function, line = self._locations[number - 1]
        if not 0 < file <= len(self._files) or not 0 < function <= len(self._functions) or line > _MAX_LINE:
            return None
        return ProgramFrame(self._files[file - 1], line, self._functions[function - 1])


class Module:
    """A module (HloModuleProto)."""

    def __init__(self, content: bytes) -> None:
        module = Message(content)
        self._content = content
        self.name = module.text(1)
        self.frames = StackFrames(module)
        schedules = {
            sequence.integer(1): Message(sequence.content(2)).integers(1)
            for sequence in map(Message, Message(module.content(7)).contents(1))
        }
        self.computations = {
            computation.integer(5): Computation(computation, schedules.get(computation.integer(5), ()))
            for computation in map(Message, module.contents(3))
        }
        self.entry = self.computations.get(module.integer(6))

    @property
    def may_have_collectives(self) -> bool:
        """Whether the module has the opcode of a collective anywhere, found without parsing its instructions."""
        return any(opcode.encode() in self._content for opcode in COLLECTIVE_OPCODES)

    def executed_instructions(self, *, with_fused: bool) -> Iterator[tuple[Computation, Instruction, bool]]:
        """Yield the instructions that the program runs, with their computation and whether a loop repeats them.

        The instructions of a called computation follow the caller, those of a fusion only with `with_fused`. Each
        computation occurs once.
        """
        entered: set[int] = set()
        running = [_iter_new_instructions(self.entry, is_repeated=False, entered=entered)]
        while running:
            step = next(running[-1], None)
            if step is None:
                running.pop()
                continue
            yield step
            _, instruction, is_repeated = step
            if instruction.opcode in _CALLING_OPCODES or (with_fused and instruction.opcode == _FUSION):
                is_loop = is_repeated or instruction.opcode == "while"
                called = [self.computations.get(number) for number in reversed(instruction.called)]
                running += [_iter_new_instructions(each, is_repeated=is_loop, entered=entered) for each in called]

    def fused_instructions(self, instruction: Instruction) -> Iterator[Instruction]:
        """Yield the instructions in a fusion, the last one first; none if the instruction is not a fusion."""
        for computation in self._fused_computations(instruction):
            yield from reversed(computation.instructions.values())

    def fused_ops(self, instruction: Instruction) -> Iterator[tuple[str, ProgramFrame | None]]:
        """Yield the ops in a fusion, the last one first, with their innermost line outside of installed packages.

        An op without such a line has its innermost line, if any.
        """
        for computation in self._fused_computations(instruction):
            for op, number in computation.last_ops():
                frame = self.frames.user_frame(number)
                if op and (frame is not None or "/" in op):
                    yield op, frame

    def _fused_computations(self, instruction: Instruction) -> Iterator[Computation]:
        if instruction.opcode == _FUSION:
            for number in instruction.called:
                if (computation := self.computations.get(number)) is not None:
                    yield computation


def _iter_new_instructions(
    computation: Computation | None, *, is_repeated: bool, entered: set[int]
) -> Iterator[tuple[Computation, Instruction, bool]]:
    """Yield the instructions of a computation that was not entered before."""
    if computation is not None and id(computation) not in entered:
        entered.add(id(computation))
        for instruction in computation.instructions.values():
            yield computation, instruction, is_repeated
