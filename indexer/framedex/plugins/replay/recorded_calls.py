"""Translate the calls of a capture into a plan."""

from __future__ import annotations

import heapq
import json
from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from framedex.captures import CaptureStream, read_content_size, read_stored_program
from framedex.model import CallBatch, Function, ObjectDescription
from framedex.plugins.replay.plan import (
    NO_OBJECT,
    PARTS,
    UNKNOWN,
    Action,
    Callbacks,
    HandlerResult,
    Machine,
    OmittedCall,
    Operation,
    Plan,
    encode_plan_words,
)
from framedex.programs import read_note, read_program
from framedex.programs.objects import ObjectRole, find_boundary_function
from framedex.programs.objects.table import iterate_objects, parse_address

_NOT_KEPT = "not kept: "
_HANDLERS, _UNTYPED = "ffi", 0  # the boundary of handlers, and their first API
_ALL_FAILED = "each recorded run of it failed"
_UNRECORDED = "its answers were not recorded. Record them with --contents, at the mock TPU or a CPU plug-in"
_CREATES_MANAGER, _MANAGER = (
    "PJRT_Client_CreateBuffersForAsyncHostToDevice",
    "PJRT_AsyncHostToDeviceTransferManager_",
)
_CREATED_TYPES = frozenset({"buffer", "loaded_executable"})
_HOST_CALLBACKS = (b"xla_ffi_python", b"xla_python_", b"xla_ffi_partitioned_python")
"""Parts of the targets of Python callbacks: such a program contains addresses of the recorded process."""


@dataclass(frozen=True, slots=True)
class RecordedCapture:
    """A capture with all its calls."""

    stream: CaptureStream
    batch: CallBatch

    @classmethod
    def read(cls, path: Path) -> RecordedCapture:
        """Read a capture. Raises like `CaptureStream`."""
        stream = CaptureStream(path)
        return cls(stream, stream.next(stream.calls))

    def calls(self, is_wanted: Callable[[Function], bool]) -> Iterator[_Call]:
        """Yield the calls of some functions in the order in which they began."""
        functions = self.stream.capture.functions
        wanted = [is_wanted(functions[kind.function]) for kind in self.batch.kinds]
        if not any(wanted):
            return
        columns = zip(
            self.batch.kind.tolist(),
            self.batch.start.tolist(),
            self.batch.duration.tolist(),
            self.batch.argument.tolist(),
            strict=True,
        )
        for row, (kind_number, start, duration, argument) in enumerate(columns):
            if not wanted[kind_number]:
                continue
            kind = self.batch.kinds[kind_number]
            yield _Call(
                row,
                functions[kind.function].name,
                start,
                None if duration < 0 else start + duration,
                kind.error,
                self.batch.arguments[argument],
            )


@dataclass(frozen=True, slots=True)
class _Call:
    """A call of the plug-in, or of an FFI handler. `end` is None if it never returned."""

    row: int
    function: str
    start: int
    end: int | None
    error: int
    arguments_json: str

    def arguments(self) -> dict[str, Any]:
        """Parse the values."""
        values = json.loads(self.arguments_json)
        assert isinstance(values, dict)
        return values


class _CannotReplayError(Exception):
    """A call cannot be replayed, for this reason."""


def build_plan(recorded: RecordedCapture) -> Plan:
    """Return the plan of a capture."""
    return _Translation(recorded).plan()


def _is_handler(function: Function) -> bool:
    return function.boundary == _HANDLERS


def _is_replayed(function: Function) -> bool:
    """Whether calls are replayed, or reported as omitted."""
    return not _is_handler(function) and (function.name in _TRANSLATIONS or _creates_objects(function.name))


def _read_answers(recorded: RecordedCapture) -> dict[int, list[tuple[int, int, str]]]:
    """The answers of host callbacks, by execution and in their order: device, channel and content."""
    found: dict[int, dict[int, tuple[int, int, str]]] = {}
    for call in recorded.calls(lambda function: function.name == "PJRT_CopyToDeviceStream_AddChunk"):
        values = call.arguments()
        try:
            execution, device, channel, number = map(int, values["answer"])
            content = str(values["chunk.kept"])
        except (LookupError, TypeError, ValueError):
            continue  # of a recording without contents, or not in an execution
        answers = found.setdefault(execution, {})
        answers[number] = (device, channel, _NOT_KEPT + "it has several parts" if number in answers else content)
    return {execution: [answers[number] for number in sorted(answers)] for execution, answers in found.items()}


def _read_handler_results(recorded: RecordedCapture) -> Iterator[HandlerResult]:
    """Yield the results of FFI handlers in recordings with contents. A result that was not kept has unknown content."""
    for call in recorded.calls(_is_handler):
        if call.error or call.end is None:
            continue
        values = call.arguments()
        try:
            kept = str(values.get("results.kept", _NOT_KEPT))
            content = UNKNOWN if kept.startswith(_NOT_KEPT) else kept
            arguments = str(values.get("arguments.hash") or UNKNOWN)
            result = HandlerResult(call.row, call.function, int(values["signature"]), arguments, content)
            if HandlerResult.parse(result.text()) == result:
                yield result
        except (LookupError, TypeError, ValueError):
            continue  # of a recording without contents, or of a stage without results


def _explain_unanswered(
    descriptions: Iterable[ObjectDescription], answered: Set[str], failed: Set[str]
) -> dict[str, str]:
    """The targets that the program registered and that have no recorded answers, with the reason."""
    found = {}
    for each in descriptions:
        target = each.content.get("target")
        if each.kind != "ffi_target" or not isinstance(target, str) or not each.content.get("is_of_program"):
            continue
        if each.content.get("api_version") == _UNTYPED:
            found[target] = "framedex cannot record answers of handlers of the untyped API"
        elif target not in answered:
            found[target] = _ALL_FAILED if target in failed else _UNRECORDED
    return found


@dataclass(slots=True)
class _Transfer:
    """A buffer whose content is transferred in parts: the offset and the content name of each."""

    type: str
    dimensions: tuple[int, ...]
    parts: list[tuple[int, str]] = field(default_factory=list)
    problem: str = ""

    def content(self) -> str:
        """Return the content for the plan. Raises _CannotReplayError."""
        if self.problem:
            raise _CannotReplayError(self.problem)
        names = []
        end = 0
        for offset, name in sorted(self.parts, key=lambda part: (part[0], read_content_size(part[1]) or 0)):
            size = read_content_size(name)
            if size is None:  # not kept
                return UNKNOWN
            if offset != end:
                raise _CannotReplayError("the parts of its transfer overlap, or are not complete")
            end += size
            names.append(name)
        if not names:
            raise _CannotReplayError("its content was never transferred")
        return PARTS.join(names)


def _read_transfers(recorded: RecordedCapture) -> dict[int, list[_Transfer]]:
    """The buffers of each transfer manager, by the row of the call that created it."""
    found: dict[int, list[_Transfer]] = {}
    living: dict[int, list[_Transfer]] = {}  # by the manager's address
    for call in recorded.calls(lambda function: function.name.startswith((_CREATES_MANAGER, _MANAGER))):
        if call.error or call.end is None:
            continue
        values = call.arguments()
        try:
            manager = parse_address(values["transfer_manager"])
            if call.function == _CREATES_MANAGER:
                living[manager] = found[call.row] = list(map(_parse_transfer, str(values["shapes"]).split()))
                continue
            transfer = living[manager][int(values["buffer_index"])]
            kept = str(values.get("data.kept", _NOT_KEPT))
            match call.function.removeprefix(_MANAGER):
                case "TransferData":
                    transfer.parts.append((int(values["offset"]), kept))
                case "TransferLiteral":
                    transfer.parts.append((0, kept))
                case "SetBufferError":
                    transfer.problem = "the program ended its transfer with an error"
        except (LookupError, TypeError, ValueError):
            continue  # of a recording without shapes, or damaged
    return found


def _parse_transfer(shape: str) -> _Transfer:
    kind, _, dimensions = shape.removesuffix("]").partition("[")
    return _Transfer(kind, tuple(int(each) for each in dimensions.split(",") if each))


class _Translation:
    def __init__(self, recorded: RecordedCapture) -> None:
        self._recorded = recorded
        self._path = recorded.stream.capture.path
        self._contents = {
            each.content["read"]: str(each.content.get("content", UNKNOWN))
            for each in recorded.stream.capture.descriptions
            if each.kind == "read" and isinstance(each.content.get("read"), int)
        }
        self._answers = _read_answers(recorded)
        self._transfers = _read_transfers(recorded)
        self._managers: dict[int, tuple[list[_Transfer], int, str]] = {}  # by address: the buffers, device and memory
        self._objects: dict[int, int] = {}  # the number of the living object at an address
        self._created: list[tuple[int, int, list[tuple[int, int]]]] = []  # (end, row, objects) of calls in progress
        self._count = 0
        self._devices: dict[int, int] = {}
        self._memories: dict[int, tuple[int, str]] = {}  # device and kind
        self._device_of_memory: dict[int, int] = {}
        self._default_memories: set[int] = set()
        self._kind = ""
        self._operations: list[Operation] = []
        self._omitted: list[OmittedCall] = []
        self._reads: dict[int, str] = {}
        self._programs: dict[int, str] = {}

    def plan(self) -> Plan:
        for call in self._recorded.calls(_is_replayed):
            translate = _TRANSLATIONS.get(call.function)
            self._finish_calls(call.start)
            try:
                if translate is None:
                    raise _CannotReplayError("framedex cannot replay this function")
                self._check_outcome(call)
                translate(self, call, call.arguments())
            except _CannotReplayError as error:
                self._omitted.append(OmittedCall(call.row, call.function, str(error)))
                self._forget_created(call)
            except (LookupError, TypeError, ValueError):
                self._omitted.append(OmittedCall(call.row, call.function, "not all its values were recorded"))
                self._forget_created(call)
        answers = tuple(_read_handler_results(self._recorded))
        failed = {each.function for each in self._recorded.calls(_is_handler) if each.error}
        descriptions = self._recorded.stream.capture.descriptions
        return Plan(
            self._path,
            Machine(self._kind, len(self._devices)),
            tuple(self._operations),
            tuple(self._omitted),
            self._reads,
            self._programs,
            answers,
            _explain_unanswered(descriptions, {each.target for each in answers}, failed),
        )

    def _check_outcome(self, call: _Call) -> None:
        if call.end is None:
            raise _CannotReplayError("it never returned")
        if call.error:
            raise _CannotReplayError("it failed when it was recorded")

    def _forget_created(self, call: _Call) -> None:
        """Forget the results of a call, and former objects at their addresses."""
        self._created = [each for each in self._created if each[1] != call.row]
        heapq.heapify(self._created)
        values = json.loads(call.arguments_json)
        for each in find_boundary_function(call.function).results:
            for value in iterate_objects(each, values.get(each.name)):
                self._objects.pop(parse_address(value), None)

    def _finish_calls(self, now: int) -> None:
        """Add the results of the calls that have returned by now, because other threads may use them from then on."""
        while self._created and self._created[0][0] <= now:
            self._objects.update(heapq.heappop(self._created)[2])

    def _create(self, call: _Call, addresses: list[Any]) -> list[int]:
        """Number the objects that a call returns."""
        numbers = list(range(self._count, self._count + len(addresses)))
        self._count += len(addresses)
        created = list(zip(map(parse_address, addresses), numbers, strict=True))
        heapq.heappush(self._created, (call.end or 0, call.row, created))
        return numbers

    def _object(self, address: Any) -> int:
        return self._objects.get(parse_address(address), NO_OBJECT)

    def _device(self, address: Any) -> int:
        return self._devices[parse_address(address)]

    def _target(self, values: dict[str, Any], device: str, memory: str) -> tuple[int, str]:
        """The device and the kind of memory that receive a buffer."""
        address = parse_address(values.get(memory))
        if not address:
            return self._device(values[device]), UNKNOWN
        kind = "" if address in self._default_memories else self._memories.get(address, (0, ""))[1]
        return self._device_of_memory[address], kind or UNKNOWN

    def _add(self, call: _Call, action: Action, operands: object, **more: Any) -> None:
        assert isinstance(operands, tuple)
        operation = Operation(action, call.row, encode_plan_words(operands), **more)
        if Operation.parse(operation.text()) != operation:
            raise ValueError("a recorded value is malformed")
        self._operations.append(operation)

    # The machine

    def devices(self, _call: _Call, values: dict[str, Any]) -> None:
        for address in values["addressable_devices"]:
            self._devices.setdefault(parse_address(address), len(self._devices))

    def device_kind(self, _call: _Call, values: dict[str, Any]) -> None:
        self._kind = self._kind or str(values["device_kind"])

    def device_memories(self, _call: _Call, values: dict[str, Any]) -> None:
        for address in values["memories"]:
            self._device_of_memory[parse_address(address)] = self._device(values["device"])

    def memory_kind(self, _call: _Call, values: dict[str, Any]) -> None:
        address = parse_address(values["memory"])
        self._memories[address] = (self._device_of_memory.get(address, 0), str(values["kind"]).replace(" ", "_"))

    def default_memory(self, _call: _Call, values: dict[str, Any]) -> None:
        address = parse_address(values["memory"])
        self._default_memories.add(address)
        self._device_of_memory[address] = self._device(values["device"])

    # Programs

    def compile(self, call: _Call, values: dict[str, Any]) -> None:
        program, options = str(values.get("program.kept", "")), str(values.get("compile_options.kept", ""))
        for name in (program, options):
            if not name or name.startswith(_NOT_KEPT):
                raise _CannotReplayError(f"its program was {name or 'not kept'}")
        code = read_stored_program(self._path, program)
        if code is None:
            raise _CannotReplayError(f"the file of its program, programs/{program}, is missing or damaged")
        if any(marker in code for marker in _HOST_CALLBACKS):
            raise _CannotReplayError("its program calls Python of the recorded process")
        (number,) = self._create(call, [values["executable"]])
        note = read_note(read_stored_program(self._path, str(values.get("jax.kept", ""))) or b"")
        self._programs[number] = note.name if note is not None else read_program(code).name
        self._add(call, Action.COMPILE, (number, program, options, values["program.format"]), executable=number)

    def unload(self, call: _Call, values: dict[str, Any]) -> None:
        if (number := self._objects.pop(parse_address(values["executable"]), None)) is not None:
            self._add(call, Action.UNLOAD, (number,), executable=number)

    def execute(self, call: _Call, values: dict[str, Any]) -> None:
        count = values["num_args"]
        arguments = [[self._object(each) for each in row] for row in values["argument_lists"]] if count else []
        outputs = values["output_lists"]
        devices = len(arguments) or len(outputs) or len(values["device_complete_events"])
        per_device = len(outputs[0]) if outputs else 0
        callbacks = self._callbacks(values, devices)
        is_whole = all(len(row) == count for row in arguments) and all(len(row) == per_device for row in outputs)
        if not is_whole or (count and len(outputs) not in (0, devices)):
            raise _CannotReplayError("not all its buffers were recorded")
        inputs = tuple(buffer for row in arguments for buffer in row)
        results = self._create(call, [address for row in outputs for address in row])
        device = values.get("execute_device")
        kept = values.get("options.non_donatable_input_indices") or ()
        executable = self._object(values["executable"])
        head = (executable, values["options.launch_id"], self._device(device) if parse_address(device) else NO_OBJECT)
        counts = (devices, count, per_device)
        operands = (*head, *counts, *inputs, *results, len(kept), *kept, *callbacks)
        self._add(call, Action.EXECUTE, operands, inputs=inputs, results=tuple(results), executable=executable)

    def _callbacks(self, values: dict[str, Any], devices: int) -> tuple[object, ...]:
        """The words of an execution's host callbacks; none if it has none."""
        sends, receives = (values.get(f"options.num_{kind}_ops") or 0 for kind in ("send", "recv"))
        if not sends and not receives:
            return ()
        channels = [tuple(map(int, values.get(f"{kind}_channels", ()))) for kind in ("send", "receive")]
        if [len(each) for each in channels] != [sends, receives]:
            raise _CannotReplayError("its program calls back into the recorded process, with unknown channels")
        if receives and "answered" not in values:
            raise _CannotReplayError("its program calls back into the recorded process. Record it with --contents")
        answers = self._answers.get(values.get("answered", 0), [])
        if any(content.startswith(_NOT_KEPT) or not 0 <= device < devices for device, _, content in answers):
            raise _CannotReplayError("an answer of its callbacks was not kept")
        return Callbacks(channels[0], channels[1], tuple(answers)).words()

    # Buffers

    def send(self, call: _Call, values: dict[str, Any]) -> None:
        device, memory = self._target(values, "device", "memory")
        content = str(values.get("data.kept", _NOT_KEPT))
        if content.startswith(_NOT_KEPT):
            content = UNKNOWN
        (number,) = self._create(call, [values["buffer"]])
        shape = values["dims"]
        operands = (number, device, memory, values["type"], content, len(shape), *shape)
        self._add(call, Action.SEND, operands, results=(number,))

    def manage(self, call: _Call, values: dict[str, Any]) -> None:
        """Note a transfer manager. Its buffers are sent where they are retrieved."""
        if values.get("device_layouts"):
            raise _CannotReplayError("the layouts of its buffers were not recorded")
        device, memory = self._target(values, "device", "memory")
        self._managers[parse_address(values["transfer_manager"])] = (self._transfers[call.row], device, memory)

    def retrieve(self, call: _Call, values: dict[str, Any]) -> None:
        found = self._managers.get(parse_address(values["transfer_manager"]))
        if found is None:
            raise _CannotReplayError("its transfer manager was not recorded completely")
        transfers, device, memory = found
        transfer = transfers[values["buffer_index"]]
        content, shape = transfer.content(), transfer.dimensions
        (number,) = self._create(call, [values["buffer_out"]])
        operands = (number, device, memory, transfer.type, content, len(shape), *shape)
        self._add(call, Action.SEND, operands, results=(number,))

    def forget_manager(self, _call: _Call, values: dict[str, Any]) -> None:
        self._managers.pop(parse_address(values["transfer_manager"]), None)

    def copy(self, call: _Call, values: dict[str, Any]) -> None:
        device, memory = self._target(values, "dst_device", "dst_memory")
        source = self._object(values["buffer"])
        (number,) = self._create(call, [values["dst_buffer"]])
        self._add(call, Action.COPY, (number, source, device, memory), inputs=(source,), results=(number,))

    def read(self, call: _Call, values: dict[str, Any]) -> None:
        if not parse_address(values["dst"]):  # queries only the size
            return
        source = self._object(values["src"])
        self._reads[call.row] = content = self._contents.get(values.get("dst.read", 0), UNKNOWN)
        self._add(call, Action.READ, (source, content), inputs=(source,))

    def read_in_place(self, call: _Call, values: dict[str, Any]) -> None:
        """A program reads a buffer in the host's memory through its address. Its content is not recorded."""
        source = self._object(values["buffer"])
        self._reads[call.row] = UNKNOWN
        self._add(call, Action.READ, (source, UNKNOWN), inputs=(source,))

    def delete(self, call: _Call, values: dict[str, Any]) -> None:
        source = self._object(values["buffer"])
        if source != NO_OBJECT:
            self._add(call, Action.DELETE, (source,), inputs=(source,))

    def destroy(self, call: _Call, values: dict[str, Any]) -> None:
        if (source := self._objects.pop(parse_address(values["buffer"]), None)) is not None:
            self._add(call, Action.DESTROY, (source,), inputs=(source,))


def _creates_objects(function: str) -> bool:
    results = find_boundary_function(function).results
    return any(each.role is ObjectRole.CREATES and each.type in _CREATED_TYPES for each in results)


_TRANSLATIONS: dict[str, Callable[[_Translation, _Call, dict[str, Any]], None]] = {
    "PJRT_Client_AddressableDevices": _Translation.devices,
    "PJRT_DeviceDescription_Kind": _Translation.device_kind,
    "PJRT_Device_AddressableMemories": _Translation.device_memories,
    "PJRT_Device_DefaultMemory": _Translation.default_memory,
    "PJRT_Memory_Kind": _Translation.memory_kind,
    "PJRT_Client_Compile": _Translation.compile,
    "PJRT_LoadedExecutable_Destroy": _Translation.unload,
    "PJRT_LoadedExecutable_Execute": _Translation.execute,
    "PJRT_Client_BufferFromHostBuffer": _Translation.send,
    _CREATES_MANAGER: _Translation.manage,
    f"{_MANAGER}RetrieveBuffer": _Translation.retrieve,
    f"{_MANAGER}Destroy": _Translation.forget_manager,
    "PJRT_Buffer_CopyToMemory": _Translation.copy,
    "PJRT_Buffer_CopyToDevice": _Translation.copy,
    "PJRT_Buffer_ToHostBuffer": _Translation.read,
    "PJRT_Buffer_OpaqueDeviceMemoryDataPointer": _Translation.read_in_place,
    "PJRT_Buffer_UnsafePointer": _Translation.read_in_place,
    "PJRT_Buffer_Delete": _Translation.delete,
    "PJRT_Buffer_Destroy": _Translation.destroy,
}
