"""The plan of a replay: the operations of a capture, in the order in which their calls began.

`native/replay/plan.h` specifies its text. Objects are recorded by address, and addresses are reused. So the plan
numbers executables and buffers by their creation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from itertools import starmap
from pathlib import Path
from urllib.parse import quote, unquote

UNKNOWN = "-"
"""The word in a plan for an unknown content, and for a device's default memory."""

NO_OBJECT = -1
"""The number of an executable or a buffer that no operation creates."""


OptionValue = str | int | float | bool
"""The value of an option of PJRT_Client_Create."""


class Action(StrEnum):
    """The kind of an operation."""

    COMPILE = "compile"
    SEND = "send"
    EXECUTE = "execute"
    COPY = "copy"
    READ = "read"
    DELETE = "delete"
    DESTROY = "destroy"
    UNLOAD = "unload"


CONTENT_OF_SEND, OUTPUTS_OF_EXECUTION = 4, 5
"""Places among the operands: the content's name, and the number of results per device."""

PARTS = ","
"""Separates the parts of a content that is sent."""

_LEAST_OPERANDS = {Action.COMPILE: 4, Action.SEND: 6, Action.EXECUTE: 6, Action.COPY: 4, Action.READ: 2}
_ENDS = frozenset({Action.DELETE, Action.DESTROY, Action.UNLOAD})


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation. `row` is its call among the capture's calls, `operands` are its words in the plan's text.

    `inputs` are the buffers that it needs, `results` the buffers that it creates. `executable` is created by a
    compilation, and used by others.
    """

    action: Action
    row: int
    operands: tuple[str, ...]
    inputs: tuple[int, ...] = ()
    results: tuple[int, ...] = ()
    executable: int | None = None

    @property
    def is_seeded(self) -> bool:
        """Whether it sends a content that was not recorded."""
        return self.action is Action.SEND and self.operands[CONTENT_OF_SEND] == UNKNOWN

    @property
    def contents(self) -> tuple[str, ...]:
        """The names of the content's parts that it sends; none if the content is unknown."""
        if self.action is not Action.SEND or self.is_seeded:
            return ()
        return tuple(self.operands[CONTENT_OF_SEND].split(PARTS))

    def text(self) -> str:
        """Return the operation as a line of the plan."""
        return " ".join((self.action, str(self.row), *self.operands))

    @classmethod
    def parse(cls, line: str) -> Operation:
        """Parse a line of a plan. Raises ValueError."""
        action, row, *operands = line.split(" ")
        make = cls(Action(action), int(row), encode_plan_words(operands))
        if len(operands) < _LEAST_OPERANDS.get(make.action, 1):
            raise ValueError("an operand of an operation is missing")
        numbers = [int(each) for each in operands[:6]] if action == Action.EXECUTE else [int(operands[0])]
        match make.action:
            case Action.COMPILE | Action.UNLOAD:
                return replace(make, executable=numbers[0])
            case Action.SEND:
                return replace(make, results=(numbers[0],))
            case Action.COPY:
                return replace(make, results=(numbers[0],), inputs=(int(operands[1]),))
            case Action.EXECUTE:
                count = numbers[3] * (numbers[4] + numbers[5])
                if min(numbers[3:]) < 0 or count > len(operands) - 6:
                    raise ValueError("the buffers of an execution are malformed")
                buffers = tuple(int(each) for each in operands[6 : 6 + count])
                used = numbers[3] * numbers[4]
                Callbacks.parse(find_callback_words(make))
                return replace(make, executable=numbers[0], inputs=buffers[:used], results=buffers[used:])
            case _:
                return replace(make, inputs=(numbers[0],))


@dataclass(frozen=True, slots=True)
class Callbacks:
    """The host callbacks of an execution: their channels, and the recorded answers (device, channel, content)."""

    sends: tuple[int, ...]
    receives: tuple[int, ...]
    answers: tuple[tuple[int, int, str], ...]

    def words(self) -> tuple[object, ...]:
        """Return the words that end the operands of an execution."""
        answers = (word for each in self.answers for word in each)
        return (len(self.sends), *self.sends, len(self.receives), *self.receives, len(self.answers), *answers)

    @classmethod
    def parse(cls, words: Sequence[str]) -> Callbacks:
        """Parse these words; without words, an execution has no callbacks. Raises ValueError."""
        found = [0, 0, 0]
        lists: list[Sequence[str]] = []
        for place, width in enumerate((1, 1, 3)):
            if words:
                found[place] = int(words[0])
            size = found[place] * width
            if not 0 <= size < max(len(words), 1):
                raise ValueError("the callbacks of an execution are malformed")
            lists.append(words[1 : 1 + size])
            words = words[1 + size :]
        if words:
            raise ValueError("an execution has too many operands")
        answers = lists[2]
        triples = zip(answers[::3], answers[1::3], answers[2::3], strict=True)
        return cls(
            tuple(map(int, lists[0])),
            tuple(map(int, lists[1])),
            tuple((int(device), int(channel), content) for device, channel, content in triples),
        )


_RESULT_WORD = "answer"


@dataclass(frozen=True, slots=True)
class HandlerResult:
    """The result of an FFI handler in the recorded run `row`.

    `signature` identifies its attributes, types and shapes, `arguments` the contents of its arguments. `content` has
    its results; UNKNOWN if they were not kept.
    """

    row: int
    target: str
    signature: int
    arguments: str
    content: str

    def text(self) -> str:
        """Return the result as a line of the plan."""
        words = (self.row, quote(self.target, safe=""), self.signature, self.arguments, self.content)
        return " ".join((_RESULT_WORD, *encode_plan_words(words)))

    @classmethod
    def is_line(cls, line: str) -> bool:
        """Return whether a line of a plan is a handler result."""
        return line.startswith(f"{_RESULT_WORD} ")

    @classmethod
    def parse(cls, line: str) -> HandlerResult:
        """Parse a line of a plan. Raises ValueError."""
        _, row, target, signature, arguments, content = line.split(" ")
        if not -(1 << 63) <= int(signature) < 1 << 63:
            raise ValueError("the signature of a handler result is too large")
        return cls(int(row), unquote(target), int(signature), arguments, content)


def find_callback_words(execution: Operation) -> tuple[str, ...]:
    """Return the words for `Callbacks.parse` among the operands of an execution."""
    devices, arguments, outputs = map(int, execution.operands[3:6])
    kept = 6 + devices * (arguments + outputs)
    count = int(execution.operands[kept]) if kept < len(execution.operands) else -1
    if not 0 <= count < len(execution.operands) - kept:
        raise ValueError("the inputs that an execution keeps are malformed")
    return execution.operands[kept + 1 + count :]


@dataclass(frozen=True, slots=True)
class OmittedCall:
    """A call that cannot be replayed, and the reason. Operations that depend on it are skipped."""

    row: int
    function: str
    reason: str


@dataclass(frozen=True, slots=True)
class Machine:
    """The recorded devices: their kind (`TPU v5 lite`, empty if unknown), and their number."""

    kind: str
    devices: int


@dataclass(frozen=True)
class Plan:
    """The operations of a capture.

    `reads` has the recorded content name of each read, by row. `programs` has the name of each executable's program.
    `handler_results` are those of FFI handlers in their order; `unanswered` has the reason for each target without
    recorded results.
    """

    capture: Path
    machine: Machine
    operations: tuple[Operation, ...]
    omitted: tuple[OmittedCall, ...]
    reads: Mapping[int, str]
    programs: Mapping[int, str]
    handler_results: tuple[HandlerResult, ...] = ()
    unanswered: Mapping[str, str] = field(default_factory=dict)

    @property
    def seeded(self) -> int:
        """The number of sent buffers whose content was not recorded."""
        return sum(each.is_seeded for each in self.operations)

    @cached_property
    def executables(self) -> Mapping[int, int]:
        """The executable that the first operation of a call compiles or runs, by row."""
        found: dict[int, int] = {}
        for each in self.operations:
            if each.executable is not None:
                found.setdefault(each.row, each.executable)
        return found

    @cached_property
    def _creators(self) -> Mapping[int, Operation]:
        return {buffer: each for each in self.operations for buffer in each.results}

    def creator(self, buffer: int) -> Operation | None:
        """Return the operation that creates a buffer."""
        return self._creators.get(buffer)

    def text(self, options: Mapping[str, OptionValue] | None = None) -> str:
        """Return the plan for the replayer, with options for the client."""
        lines = (
            "framedex-plan 1",
            *starmap(_format_option_line, (options or {}).items()),
            *(each.text() for each in self.handler_results),
            *(each.text() for each in self.operations),
        )
        return "".join(f"{line}\n" for line in lines)

    @property
    def answer_contents(self) -> tuple[str, ...]:
        """The contents of all answers of host callbacks and FFI handlers."""
        callbacks = (Callbacks.parse(find_callback_words(each)) for each in self.executions)
        of_handlers = (each.content for each in self.handler_results if each.content != UNKNOWN)
        return (*(content for each in callbacks for *_, content in each.answers), *of_handlers)

    @property
    def executions(self) -> Sequence[Operation]:
        """The executions, in order."""
        return [each for each in self.operations if each.action is Action.EXECUTE]

    def producer(self, read: Operation) -> Operation | None:
        """Return the execution that computed the content of a read, followed through copies; None if there is none."""
        current: Operation | None = read
        while current is not None and current.action in (Action.READ, Action.COPY):
            current = self._creators.get(current.inputs[0])
        return current if current is not None and current.action is Action.EXECUTE else None

    def result_index(self, read: Operation) -> int:
        """Return the index of a read buffer among the results of its producer on a device."""
        buffer, creator = read.inputs[0], self._creators[read.inputs[0]]
        while creator.action is Action.COPY:
            buffer, creator = creator.inputs[0], self._creators[creator.inputs[0]]
        return creator.results.index(buffer) % int(creator.operands[OUTPUTS_OF_EXECUTION])

    def is_faithful(self, read: Operation) -> bool:
        """Return whether the content of a read depends only on recorded contents."""
        return read.inputs[0] not in self._unfaithful_buffers

    @cached_property
    def _unfaithful_buffers(self) -> frozenset[int]:
        """The buffers that depend on a content that was not recorded."""
        tainted: set[int] = set()
        for each in self.operations:
            if each.is_seeded or not tainted.isdisjoint(each.inputs):
                tainted.update(each.results)
        return frozenset(tainted)

    def restrict(self, first: int, last: int) -> Plan:
        """Return the plan of the executions `first` to `last`, counted from 1, with everything that they depend on.

        Only the reads of their results are kept. Answers of handlers that ran before these executions are dropped.
        """
        wanted = {each.row for each in self.executions[first - 1 : last]}

        def is_wanted(each: Operation) -> bool:
            if each.action is Action.READ:
                producer = self.producer(each)
                return producer is not None and producer.row in wanted
            return each.row in wanted and each.action is Action.EXECUTE

        kept = set(_with_dependencies(self.operations, is_wanted))
        created = {buffer for each in self.operations if each.row in kept for buffer in each.results}
        operations = tuple(
            each
            for each in self.operations
            if each.row in kept or (each.action in _ENDS and created.issuperset(each.inputs) and each.inputs)
        )
        rows = {each.row for each in operations}
        compiled = {each.executable for each in operations if each.action is Action.COMPILE}
        began = min((each.row for each in operations if each.action is Action.EXECUTE), default=0)
        return replace(
            self,
            operations=operations,
            handler_results=tuple(each for each in self.handler_results if each.row > began),
            reads={row: name for row, name in self.reads.items() if row in rows},
            programs={number: name for number, name in self.programs.items() if number in compiled},
        )

    def with_dependencies(self, row: int) -> tuple[Operation, ...]:
        """Return the operation of a row, with everything that it depends on."""
        kept = set(_with_dependencies(self.operations, lambda each: each.row == row))
        return tuple(each for each in self.operations if each.row in kept)


def _with_dependencies(operations: Sequence[Operation], is_wanted: Callable[[Operation], bool]) -> Iterator[int]:
    """Yield the rows of the wanted operations and of those that they depend on."""
    buffers: set[int] = set()
    executables: set[int] = set()
    for each in reversed(operations):
        if each.action in _ENDS:
            continue
        is_needed = not buffers.isdisjoint(each.results) or (
            each.action is Action.COMPILE and each.executable in executables
        )
        if is_needed or is_wanted(each):
            yield each.row
            buffers.update(each.inputs)
            if each.executable is not None:
                executables.add(each.executable)


def _format_option_line(name: str, value: OptionValue) -> str:
    kind = {str: "string", bool: "bool", int: "int64", float: "float"}[type(value)]
    text = str(value).lower() if isinstance(value, bool) else str(value)
    name, text = (quote(each, safe="", errors="surrogateescape") for each in (name, text))
    return f"option 0 {name} {kind} {text}".rstrip()


def encode_plan_words(values: Iterable[object]) -> tuple[str, ...]:
    """Return the values as words of the plan. Raises ValueError for a value that is not one word."""
    found = tuple(map(str, values))
    if any(word.split() != [word] for word in found):
        raise ValueError("a recorded value is empty or contains spaces")
    return found
