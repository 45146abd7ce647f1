"""Isolate an execution: replace the operations that it depends on by transfers of its arguments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from framedex.captures import read_stored_buffer, read_stored_program, write_stored_buffer, write_stored_program
from framedex.plugins.replay.plan import NO_OBJECT, UNKNOWN, Action, Operation, Plan
from framedex.plugins.replay.runner import Array, Options, ReplayCrashedError, Target, run_plan


class CannotProbeError(Exception):
    """An execution cannot be isolated or probed, for this reason."""


@dataclass(frozen=True, slots=True)
class IsolatedExecution:
    """An execution whose arguments are sent. `plan` also has its compilation; its capture has the contents."""

    plan: Plan
    sends: tuple[Operation, ...]
    compilation: Operation
    execution: Operation

    @property
    def devices(self) -> int:
        """The number of devices that execute."""
        return int(self.execution.operands[3])


def isolate(plan: Plan, execution: Operation, target: Target, seed: int, folder: Path) -> IsolatedExecution:
    """Isolate an execution of a plan, with arguments that a target computes. `folder` becomes the capture.

    Raises CannotProbeError.
    """
    number = plan.executions.index(execution) + 1
    plan = plan.restrict(number, number)
    operations = plan.operations
    before = operations[: operations.index(execution)]
    compilation = next((each for each in before if each.executable == execution.executable), None)
    if compilation is None:
        raise CannotProbeError("its program was not compiled")
    sent = {buffer: each for each in before if (buffer := _recorded_buffer(each)) in execution.inputs}
    for each in sent.values():
        for name in each.contents:
            write_stored_buffer(folder, read_stored_buffer(plan.capture, name) or b"")
    computed = [buffer for buffer in dict.fromkeys(execution.inputs) if buffer not in sent]
    contents = read_buffers(plan, before, computed, target, seed) if computed else {}
    sends = (*sent.values(), *_build_sends(plan, contents, folder))
    for name in compilation.operands[1:3]:
        write_stored_program(folder, read_stored_program(plan.capture, name) or b"")
    code = read_stored_program(plan.capture, compilation.operands[1]) or b""
    isolated = replace(
        plan,
        capture=folder,
        operations=(*sends, compilation, execution),
        omitted=(),
        handler_results=tuple(
            each for each in plan.handler_results if each.row > execution.row and each.target.encode() in code
        ),
    )
    for name in isolated.answer_contents:
        write_stored_buffer(folder, read_stored_buffer(plan.capture, name) or b"")
    return IsolatedExecution(isolated, sends, compilation, execution)


def _recorded_buffer(operation: Operation) -> int:
    """The buffer that an operation sends with a recorded content."""
    is_sent = operation.action is Action.SEND and not operation.is_seeded
    return operation.results[0] if is_sent else NO_OBJECT


def read_buffers(
    plan: Plan, before: Iterable[Operation], wanted: Sequence[int], target: Target, seed: int
) -> dict[int, Array]:
    """Replay operations, and return the contents of buffers that they create. Raises CannotProbeError."""
    buffers = dict(enumerate(wanted, 1))
    operations = [each for each in before if each.action is not Action.READ]
    operations += [
        Operation(Action.READ, -row, (str(buffer), UNKNOWN), inputs=(buffer,)) for row, buffer in buffers.items()
    ]
    found: dict[int, Array] = {}
    try:
        with closing(run_plan(replace(plan, operations=tuple(operations)), target, Options(seed=seed))) as report:
            for record in report:
                if record.kind == "read":
                    found[buffers[-record.row]] = Array.parse(record)
    except ReplayCrashedError as error:
        raise CannotProbeError(f"its arguments cannot be read: {error.reason}") from None
    if len(found) < len(buffers):
        raise CannotProbeError("not all of its arguments could be read")
    return found


def _build_sends(plan: Plan, contents: dict[int, Array], folder: Path) -> Iterable[Operation]:
    for buffer, array in contents.items():
        name = write_stored_buffer(folder, array.content)
        shape = array.dimensions
        operands = (buffer, *_find_device(plan, buffer), array.type, name, len(shape), *shape)
        yield Operation(Action.SEND, -1 - buffer, tuple(map(str, operands)), results=(buffer,))


def _find_device(plan: Plan, buffer: int) -> tuple[int, str]:
    """Return the device and the kind of memory of a buffer."""
    memory = UNKNOWN
    creator = plan.creator(buffer)
    while creator is not None and creator.action is Action.EXECUTE:
        chosen, devices, arguments = (int(creator.operands[place]) for place in (2, 3, 4))
        position = creator.results.index(buffer) * devices // len(creator.results)
        if chosen != NO_OBJECT or not arguments:
            return (position if chosen == NO_OBJECT else chosen), memory
        buffer = creator.inputs[position * arguments]
        creator = plan.creator(buffer)
    if creator is None:
        return 0, memory
    device, memory = creator.operands[1:3] if creator.action is Action.SEND else creator.operands[2:4]
    return int(device), memory
