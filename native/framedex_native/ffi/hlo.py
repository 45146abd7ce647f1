"""The custom calls of a compiled HLO module, in the order in which XLA instantiates them.

The field numbers come from xla/service/hlo.proto and xla/xla_data.proto. Malformed input raises nothing: unreadable
parts are missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from .protobuf import fields, packed
from .stacks import Frame

_MODULE_NAME, _COMPUTATIONS, _ENTRY_COMPUTATION, _SCHEDULE, _STACK_FRAMES = 1, 3, 6, 7, 17
_COMPUTATION_INSTRUCTIONS, _COMPUTATION_ID = 2, 5
_NAME, _OPCODE, _SHAPE, _METADATA, _CUSTOM_CALL_TARGET = 1, 2, 3, 7, 28
_INSTRUCTION_ID, _OPERANDS, _CALLED, _BACKEND_CONFIG, _FRONTEND_ATTRIBUTES = 35, 36, 38, 43, 68
_OP_NAME, _SOURCE_FILE, _SOURCE_LINE, _STACK_FRAME = 2, 3, 4, 15
_MAX_TUPLE_DEPTH = 100
_MAXIMUM_DEPTH = 500
_MAX_INSTRUCTIONS = 1_000_000  # a limit, because computations of a malformed module may call each other forever


@dataclass(frozen=True)
class CustomCall:
    """A custom call. `frames` is the Python stack of its metadata, innermost first; `attributes` is MLIR text."""

    instruction: str
    target: str
    frontend_attributes: Mapping[str, str]
    attributes: str
    op_name: str
    frames: tuple[Frame, ...]
    operands: tuple[str, ...] = ()
    results: str = ""


@dataclass(frozen=True)
class Program:
    """A compiled module."""

    name: str
    custom_calls: tuple[CustomCall, ...]


def read_program(module: bytes) -> Program:
    """Read a serialised HloModuleProto."""
    message = _Message(module)
    computations = {c.integer(_COMPUTATION_ID): c for c in message.messages(_COMPUTATIONS)}
    reader = _Reader(computations, _schedules(message), _StackFrames(message))
    entry = computations.get(message.integer(_ENTRY_COMPUTATION))
    calls = tuple(reader.custom_calls(entry)) if entry is not None else ()
    return Program(message.text(_MODULE_NAME), calls)


class _Message:
    """A parsed message: lists of integers or bytes by field number."""

    def __init__(self, data: bytes) -> None:
        self._fields: dict[int, list[int | bytes]] = {}
        with suppress(ValueError):
            for number, value, _ in fields(data):
                self._fields.setdefault(number, []).append(value)

    def integer(self, number: int) -> int:
        value = self._fields.get(number, [0])[-1]
        return value if isinstance(value, int) else 0

    def integers(self, number: int) -> Iterator[int]:
        """A repeated integer, packed or not."""
        for value in self._fields.get(number, ()):
            if isinstance(value, int):
                yield value
            else:
                with suppress(ValueError):
                    yield from packed(value)

    def text(self, number: int) -> str:
        value = self._fields.get(number, [b""])[-1]
        return value.decode("utf-8", "replace") if isinstance(value, bytes) else ""

    def texts(self, number: int) -> list[str]:
        return [v.decode("utf-8", "replace") for v in self._fields.get(number, ()) if isinstance(v, bytes)]

    def messages(self, number: int) -> Iterator[_Message]:
        for value in self._fields.get(number, ()):
            if isinstance(value, bytes):
                yield _Message(value)

    def message(self, number: int) -> _Message:
        return next(self.messages(number), _EMPTY)


class _StackFrames:
    """The tables of Python frames that instructions refer to (StackFrameIndexProto). Numbers start at 1."""

    def __init__(self, module: _Message) -> None:
        tables = module.message(_STACK_FRAMES)
        self._files, self._functions = tables.texts(1), tables.texts(2)
        self._locations = [(m.integer(1), m.integer(2), m.integer(3)) for m in tables.messages(3)]
        self._frames = [(m.integer(1), m.integer(2)) for m in tables.messages(4)]

    def stack(self, number: int) -> Iterator[Frame]:
        for _ in range(_MAXIMUM_DEPTH):
            if not 0 < number <= len(self._frames):
                return
            location, number = self._frames[number - 1]
            file, function, line = self._locations[location - 1] if 0 < location <= len(self._locations) else (0, 0, 0)
            yield _at(self._files, file), line, _at(self._functions, function)


@dataclass
class _Reader:
    computations: Mapping[int, _Message]
    schedules: Mapping[int, tuple[int, ...]]
    stack_frames: _StackFrames
    _decoded: dict[int, dict[int, _Message]] = field(default_factory=dict)
    _seen: int = 0  # the number of instructions visited

    def custom_calls(self, entry: _Message) -> Iterator[CustomCall]:
        """Yield custom calls in schedule order. A called computation is visited at its caller's position."""
        # the stack of entered computations, outermost first; only a malformed module recurses
        entered = {id(entry): self._steps(entry)}
        while entered:
            step = next(entered[next(reversed(entered))], None)
            if step is None:
                entered.popitem()
            elif isinstance(step, CustomCall):
                yield step
            elif len(entered) < _MAXIMUM_DEPTH and id(step) not in entered:
                entered[id(step)] = self._steps(step)

    def _steps(self, computation: _Message) -> Iterator[CustomCall | _Message]:
        """The custom calls of a computation, and the computations that it calls."""
        instructions = self._instructions(computation)
        order = self.schedules.get(computation.integer(_COMPUTATION_ID)) or tuple(instructions)
        for number in order:
            self._seen += 1
            instruction = instructions.get(number)
            if self._seen > _MAX_INSTRUCTIONS:
                return
            if instruction is None:
                continue
            if instruction.text(_OPCODE) == "custom-call":
                yield self._custom_call(instruction, instructions)
            called = map(self.computations.get, _calls_in_order(instruction))
            yield from (inner for inner in called if inner is not None)

    def _instructions(self, computation: _Message) -> dict[int, _Message]:
        key = computation.integer(_COMPUTATION_ID)
        if key not in self._decoded:
            messages = computation.messages(_COMPUTATION_INSTRUCTIONS)
            self._decoded[key] = {message.integer(_INSTRUCTION_ID): message for message in messages}
        return self._decoded[key]

    def _custom_call(self, instruction: _Message, instructions: Mapping[int, _Message]) -> CustomCall:
        metadata = instruction.message(_METADATA)
        frames = tuple(self.stack_frames.stack(metadata.integer(_STACK_FRAME)))
        if not frames and metadata.text(_SOURCE_FILE):
            frames = ((metadata.text(_SOURCE_FILE), metadata.integer(_SOURCE_LINE), ""),)
        operands = (instructions.get(operand) for operand in instruction.integers(_OPERANDS))
        return CustomCall(
            instruction=instruction.text(_NAME),
            target=instruction.text(_CUSTOM_CALL_TARGET),
            frontend_attributes={
                entry.text(1): entry.text(2) for entry in instruction.message(_FRONTEND_ATTRIBUTES).messages(1)
            },
            attributes=instruction.text(_BACKEND_CONFIG),
            op_name=metadata.text(_OP_NAME),
            frames=frames,
            operands=tuple(_shape(operand.message(_SHAPE)) for operand in operands if operand is not None),
            results=_shape(instruction.message(_SHAPE)),
        )


def _schedules(module: _Message) -> dict[int, tuple[int, ...]]:
    """The scheduled instruction numbers of each computation (HloScheduleProto.sequences)."""
    sequences = module.message(_SCHEDULE).messages(1)
    return {entry.integer(1): tuple(entry.message(2).integers(1)) for entry in sequences}


def _calls_in_order(instruction: _Message) -> list[int]:
    """The computations that an instruction calls, in execution order: a while loop's condition precedes its body."""
    called = list(instruction.integers(_CALLED))
    return called[::-1] if instruction.text(_OPCODE) == "while" else called


# Names of xla.PrimitiveType, from 0.
_DTYPE_NAMES = (
    "invalid pred s8 s16 s32 s64 u8 u16 u32 u64 f16 f32 f64 tuple opaque c64 bf16 token c128 f8e5m2 f8e4m3fn s4 u4"
    " f8e4m3b11fnuz f8e5m2fnuz f8e4m3fnuz s2 u2 f8e4m3 f8e3m4 s1 u1 f4e2m1fn f8e8m0fnu"
)
_DTYPES = dict(enumerate(_DTYPE_NAMES.split()))


def _shape(shape: _Message, depth: int = 0) -> str:
    """The shape as in recorded runs: `f32[4,8]`, with the members of a tuple separated by commas."""
    dtype = _DTYPES.get(shape.integer(2), f"dtype{shape.integer(2)}")
    if dtype == "tuple":
        inner = shape.messages(4) if depth < _MAX_TUPLE_DEPTH else ()
        return ", ".join(_shape(member, depth + 1) for member in inner)
    return f"{dtype}[{','.join(map(str, shape.integers(3)))}]"


def _at(texts: list[str], number: int) -> str:
    return texts[number - 1] if 0 < number <= len(texts) else ""


_EMPTY = _Message(b"")
