"""A small client of a plug-in, for checks. Objects are handles: the addresses that the plug-in returned."""

from __future__ import annotations

import ctypes
import functools
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from framedex.plugins.conformance import abi, programs
from framedex.plugins.conformance.abi import Struct
from framedex.plugins.conformance.plugin import (
    BrokenRuleError,
    Plugin,
    PluginError,
    UnsupportedError,
    make_named_values,
    read_addresses,
    read_integers,
    read_text,
)

F32 = abi.read_enumerators("PJRT_Buffer_Type")["F32"]
S32 = abi.read_enumerators("PJRT_Buffer_Type")["S32"]
SEMANTICS = {
    name: abi.read_enumerators("PJRT_HostBufferSemantics")[f"k{name}"]
    for name in ("ImmutableOnlyDuringCall", "ImmutableUntilTransferCompletes", "ImmutableZeroCopy", "MutableZeroCopy")
}
_ON_READY = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
Options = dict[str, str | int | float | bool]


class Client:
    """A PJRT client. The objects that checks create stay alive until the process ends, unless a check destroys them."""

    def __init__(self, plugin: Plugin, options: Options) -> None:
        self.plugin = plugin
        self.options = options
        self.call = plugin.call
        created = plugin.call("PJRT_Client_Create", create_options=make_named_values(options), num_options=len(options))
        self.handle: int = created.client
        self.alive: list[Any] = []  # memory that the plug-in may still read

    # ---- Devices and memories

    @functools.cached_property
    def devices(self) -> list[int]:
        """The addressable devices."""
        found = self.call("PJRT_Client_AddressableDevices", client=self.handle)
        return read_addresses(found.addressable_devices, found.num_addressable_devices)

    @property
    def device(self) -> int:
        """The first addressable device."""
        if not self.devices:
            raise BrokenRuleError("The client has no addressable device.")
        return self.devices[0]

    def need_devices(self, count: int) -> list[int]:
        """The first `count` devices. Raises UnsupportedError if there are fewer."""
        if len(self.devices) < count:
            raise UnsupportedError(f"It has {len(self.devices)} of {count} devices.")
        return self.devices[:count]

    def device_id(self, device: int) -> int:
        """The global id of a device."""
        identifier: int = self.call("PJRT_DeviceDescription_Id", device_description=self.description(device)).id
        return identifier

    def description(self, device: int) -> int:
        """The description of a device."""
        found: int = self.call("PJRT_Device_GetDescription", device=device).device_description
        return found

    def memories(self, device: int) -> list[int]:
        """The memories of a device."""
        found = self.call("PJRT_Device_AddressableMemories", device=device)
        return read_addresses(found.memories, found.num_memories)

    def memory_kind(self, memory: int) -> str:
        """The kind of a memory: `device`, `pinned_host`."""
        found = self.call("PJRT_Memory_Kind", memory=memory)
        return read_text(found.kind, found.kind_size)

    def default_memory(self, device: int) -> int:
        """The default memory of a device."""
        found: int = self.call("PJRT_Device_DefaultMemory", device=device).memory
        return found

    # ---- Buffers

    def start_put(
        self, content: bytes | Any, element_type: int = F32, dims: Sequence[int] | None = None, **more: Any
    ) -> Struct:
        """Call BufferFromHostBuffer with these bytes, and return its arguments. `more` are other argument fields."""
        if isinstance(content, bytes):
            content = ctypes.create_string_buffer(content, max(len(content), 1))
        self.alive.append(content)
        dims = [len(content) // 4] if dims is None else dims
        placed = {} if "device" in more or "memory" in more else {"device": self.device}
        semantics = SEMANTICS["ImmutableOnlyDuringCall"]
        fields: dict[str, Any] = {
            "client": self.handle,
            "data": content,
            "type": element_type,
            "host_buffer_semantics": semantics,
        }
        fields |= {"dims": pack_int64s(dims), "num_dims": len(dims)}
        return self.call("PJRT_Client_BufferFromHostBuffer", **(fields | placed | more))

    def put(self, content: bytes | Any, element_type: int = F32, dims: Sequence[int] | None = None, **more: Any) -> int:
        """A buffer with these bytes, after its transfer."""
        started = self.start_put(content, element_type, dims, **more)
        self.wait(started.done_with_host_buffer)
        buffer: int = started.buffer
        return buffer

    def floats(self, *values: float, **more: Any) -> int:
        """A buffer with a vector of F32."""
        return self.put(pack_floats(*values), F32, [len(values)], **more)

    def fetch(self, buffer: int, size: int | None = None, **more: Any) -> bytes:
        """The content of a buffer, in the row-major order or in `host_layout`."""
        if size is None:
            size = self.call("PJRT_Buffer_ToHostBuffer", src=buffer, dst=None, unfilled="event", **more).dst_size
        room = ctypes.create_string_buffer(max(size, 1))
        self.alive.append(room)
        self.wait(self.call("PJRT_Buffer_ToHostBuffer", src=buffer, dst=room, dst_size=size, **more).event)
        return room.raw[:size]

    def fetch_floats(self, buffer: int) -> list[float]:
        """The content of a buffer of F32."""
        content = self.fetch(buffer)
        return list(struct.unpack(f"<{len(content) // 4}f", content))

    def dims(self, buffer: int) -> list[int]:
        """The dimensions of a buffer."""
        found = self.call("PJRT_Buffer_Dimensions", buffer=buffer)
        return read_integers(found.dims, found.num_dims)

    def is_deleted(self, buffer: int) -> bool:
        """Whether a buffer is deleted or donated."""
        return bool(self.call("PJRT_Buffer_IsDeleted", buffer=buffer).is_deleted)

    def wait_ready(self, buffer: int) -> None:
        """Wait for the content of a buffer. Raises PluginError if it has an error."""
        self.wait(self.call("PJRT_Buffer_ReadyEvent", buffer=buffer).event)

    # ---- Events

    def wait(self, event: int) -> None:
        """Wait for an event and destroy it. Raises PluginError if it has an error."""
        if not event:
            raise BrokenRuleError("An event is a null pointer.")
        try:
            self.call("PJRT_Event_Await", event=event)
        finally:
            self.call("PJRT_Event_Destroy", event=event)

    def on_ready(self, event: int, callback: Any) -> None:
        """Call `callback` with the event's PluginError, or None, when the event is ready."""

        def receive(error: int | None, _: int | None) -> None:
            callback(self.plugin.take_error("PJRT_Event_OnReady", error) if error else None)

        function = _ON_READY(receive)
        self.alive.append(function)
        self.call("PJRT_Event_OnReady", event=event, callback=function, user_arg=None)

    # ---- Programs

    def program(self, code: str | bytes, program_format: str = "mlir") -> Struct:
        """A PJRT_Program."""
        content = code.encode() if isinstance(code, str) else code
        name = program_format.encode()
        return Struct("PJRT_Program", code=content, code_size=len(content), format=name, format_size=len(name))

    def compile(self, code: str | bytes, options: bytes | None = None, program_format: str = "mlir") -> int:
        """A loaded executable."""
        options = self.default_options() if options is None else options
        compiled: int = self.call(
            "PJRT_Client_Compile",
            client=self.handle,
            program=self.program(code, program_format),
            compile_options=options,
            compile_options_size=len(options),
        ).executable
        return compiled

    def default_options(self) -> bytes:
        """Compile options for one device: the first."""
        return programs.encode_compile_options(devices=[self.device_id(self.device)])

    @functools.cached_property
    def add(self) -> int:
        """A loaded executable that adds two vectors of four floats."""
        return self.compile(programs.ADD)

    def executable(self, loaded: int) -> int:
        """The executable of a loaded executable."""
        found: int = self.call("PJRT_LoadedExecutable_GetExecutable", loaded_executable=loaded).executable
        return found

    def output_count(self, loaded: int) -> int:
        """The number of results of a program."""
        count: int = self.call("PJRT_Executable_NumOutputs", executable=self.executable(loaded)).num_outputs
        return count

    def start(
        self, loaded: int, arguments: Sequence[Sequence[int]], outputs: int | None = None, **more: Any
    ) -> Execution:
        """Start a program with a list of arguments per device. `options` and other fields come from `more`."""
        outputs = self.output_count(loaded) if outputs is None else outputs
        rows = [(ctypes.c_uint64 * max(len(row), 1))(*row) for row in arguments]
        results = [(ctypes.c_uint64 * max(outputs, 1))() for _ in arguments]
        events = (ctypes.c_uint64 * len(rows))()
        options = more.pop("options", None) or Struct("PJRT_ExecuteOptions")
        self.alive += [rows, results, events, options]
        fields = {
            "executable": loaded,
            "options": options,
            "argument_lists": build_pointers(rows),
            "num_devices": len(rows),
            "num_args": len(arguments[0]),
            "output_lists": build_pointers(results),
            "device_complete_events": events,
        }
        self.call("PJRT_LoadedExecutable_Execute", **(fields | more))
        return Execution([list(row)[:outputs] for row in results], list(events))

    def run(self, loaded: int, arguments: Sequence[Sequence[int]], **more: Any) -> list[list[int]]:
        """Run a program to its end, and return the result buffers per device."""
        execution = self.start(loaded, arguments, **more)
        for event in execution.events:
            self.wait(event)
        if any(0 in row for row in execution.results):
            raise BrokenRuleError("PJRT_LoadedExecutable_Execute returned OK and left a result null.")
        return execution.results


class Execution:
    """A started execution: the result buffers and the completion event per device."""

    def __init__(self, results: list[list[int]], events: list[int]) -> None:
        self.results = results
        self.events = events


def build_pointers(arrays: Sequence[Any]) -> Any:
    """An array with the addresses of ctypes objects."""
    array: Any = (ctypes.c_uint64 * max(len(arrays), 1))(*map(ctypes.addressof, arrays))
    array.alive = arrays
    return array


def pack_int64s(values: Sequence[int]) -> Any:
    """An array of int64_t; None if there are no values."""
    return (ctypes.c_int64 * len(values))(*values) if values else None


def build_tiled_layout(*minor_to_major: int) -> Struct:
    """A layout without tiles, with its dimensions from the fastest to the slowest."""
    order = pack_int64s(minor_to_major)
    tiled = Struct("PJRT_Buffer_MemoryLayout_Tiled", minor_to_major=order, minor_to_major_size=len(minor_to_major))
    return Struct("PJRT_Buffer_MemoryLayout", tiled=tiled, type=0)


def pack_floats(*values: float) -> bytes:
    """The bytes of F32 values."""
    return struct.pack(f"<{len(values)}f", *values)


@contextmanager
def unsupported_if_error(*codes: str) -> Iterator[None]:
    """Context manager that raises UnsupportedError for a PluginError, or only for one of `codes`.

    NOT_FOUND means that there is no compiler for a platform.
    """
    try:
        yield
    except PluginError as error:
        if codes and error.code not in codes:
            raise
        raise UnsupportedError(str(error)) from None


def expect(condition: object, message: str) -> None:
    """Raise BrokenRuleError with this message if the condition is false."""
    if not condition:
        raise BrokenRuleError(message)


def expect_equal(found: object, wanted: object, name: str) -> None:
    """Raise BrokenRuleError if two values differ."""
    expect(found == wanted, f"{name} is {found!r}, not {wanted!r}.")


def read_outcome(call: Callable[[], object], *codes: str) -> str:
    """Make a call that may return an error, with one of `codes` if given. Return the error's code, or `OK`.

    UNIMPLEMENTED passes through as unsupported.
    """
    try:
        call()
    except PluginError as error:
        if error.code == "UNIMPLEMENTED":
            raise
        expect(error.message, f"{error.function} returned {error.code} without a message.")
        expect(not codes or error.code in codes, f"{error.function} returned {error.code}, not {' or '.join(codes)}.")
        return error.code
    return "OK"


def expect_error(call: Callable[[], object], *codes: str) -> str:
    """Make a call that must return an error, as `read_outcome` does."""
    code = read_outcome(call, *codes)
    expect(code != "OK", "The call returned OK where an error is due.")
    return code
