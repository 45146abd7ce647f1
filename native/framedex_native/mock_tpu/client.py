"""A jaxlib CPU client with one device for each device of the mock TPU, and the arrays of its programs."""

from __future__ import annotations

import atexit
import functools
import re
from collections.abc import Callable, Sequence
from typing import Any

import jax
import ml_dtypes
import numpy as np
from jax._src.array import ArrayImpl
from jax.sharding import Mesh, NamedSharding, PartitionSpec, Sharding, SingleDeviceSharding
from jaxlib import _jax, xla_client

from .compiling import compile_program
from .cpu_devices import open_cpu_client
from .program import Program
from .rewriting import TRANSFER_TARGET

PLATFORM = "tpu"
_guards = _jax.guard_lib
_NUMPY_NAMES = {"PRED": "bool", "TOKEN": "bool", "BF16": "bfloat16", "C64": "complex64", "C128": "complex128"}
_NUMPY_KINDS = {"S": "int", "U": "uint", "F": "float"}


def prepare_process(transfer_handler: Any, at_exit: Callable[[], None]) -> None:
    """Register with XLA's CPU all custom calls that are registered for the TPU, and `transfer_handler`. Call it once.

    `transfer_handler` is the capsule of the FFI handler that transfers data to and from the host. `at_exit` runs when
    the interpreter exits, before JAX destroys its clients.
    """
    atexit.register(at_exit)
    xla_client.register_custom_call_target(TRANSFER_TARGET, transfer_handler, platform="cpu", api_version=1)

    def register_on_cpu(name: str, function: Any, _platform: str, api_version: int = 0, traits: Any = 0) -> None:
        # Bypass xla_client, which holds its own lock during this call.
        host = xla_client.xla_platform_names["cpu"]
        _jax.register_custom_call_target(name, function, host, api_version, traits)

    xla_client.register_custom_call_handler(PLATFORM, register_on_cpu)
    # Since jaxlib 0.9 a type is registered with more than its id.
    register_type = "register_custom_type" if hasattr(xla_client, "register_custom_type") else "register_custom_type_id"
    getattr(xla_client, f"{register_type}_handler")(PLATFORM, getattr(_jax, register_type))


def release_memory() -> None:
    """Release the memory of dead arrays, which jaxlib keeps until its garbage collection."""
    _jax.collect_garbage()


class Client:
    """CPU devices that stand in for the devices of the mock TPU."""

    def __init__(
        self, device_ids: Sequence[int], processes: Sequence[int], own_process: int, element_types: Sequence[str]
    ) -> None:
        """Open the CPU client for devices with these ids, which belong to these processes.

        `element_types` lists the names of the PJRT buffer types by number. Raises the same exceptions as jaxlib.
        """
        self._client, devices, self.is_distributed = open_cpu_client(processes, own_process)
        self._devices = dict(zip(device_ids, devices, strict=True))
        own = [number for number, process in zip(device_ids, processes, strict=True) if process == own_process]
        self._default_order = own + [number for number in device_ids if number not in own]
        self._token_type = element_types.index("TOKEN")
        self._dtypes = {number: dtype for number, name in enumerate(element_types) if (dtype := _dtype(name))}
        self._types = {dtype: number for number, dtype in self._dtypes.items() if number != self._token_type}
        self._single = {number: SingleDeviceSharding(device) for number, device in self._devices.items()}

    def default_ids(self, count: int) -> list[int]:
        """The default devices of a program, this process's own first."""
        return self._default_order[:count]

    def cpu_ids(self, device_ids: Sequence[int]) -> list[int]:
        """The ids of the CPU devices that stand in for these. FFI handlers use the same ids.

        Raises ValueError for an unknown device.
        """
        unknown = [number for number in device_ids if number not in self._devices]
        if unknown:
            raise ValueError(f"INVALID_ARGUMENT: the mock TPU has no device {unknown[0]} (see framedex run --device)")
        return [self._devices[number].id for number in device_ids]

    def compile(self, code: bytes, code_format: str, options: bytes, key: int) -> Program:
        """Compile a program with the arguments of PJRT_Client_Compile. `key` identifies it in its host transfers."""
        return compile_program(self, code, code_format, options, key)

    def load(self, module: Any, device_ids: Sequence[int], options: Any) -> Any:
        """Compile a rewritten module for these devices into jaxlib's loaded executable."""
        devices = _jax.DeviceList(tuple(self._devices[number] for number in device_ids))
        return self._client.compile_and_load(module, devices, options)

    def sharding(self, device_ids: Sequence[int]) -> Sharding:
        """The sharding of an array with one piece on each of these devices. JAX treats the pieces as replicas."""
        if len(device_ids) == 1:
            return self._single[device_ids[0]]
        return _replicated_sharding(tuple(self._devices[number] for number in device_ids))

    def result_handler(self, type_number: int, dims: Sequence[int], sharding: Sharding) -> Any:
        """The function that creates an array from one result of a program."""
        aval = _aval(tuple(dims), self._dtypes[type_number])
        try:
            return _jax.array_result_handler(aval, sharding, committed=True, _skip_checks=True)
        except TypeError:  # jaxlib 0.12 and later has no checks to skip
            return _jax.array_result_handler(aval, sharding, committed=True)

    def type_number(self, shape: Any) -> int:
        """The number of the PJRT buffer type of an array or token shape."""
        return self._token_type if shape.is_token() else self._types[shape.numpy_dtype()]

    def array(self, memory: Any, type_number: int, dims: tuple[int, ...], device: int) -> Any:
        """Create an array on a CPU device from dense bytes in `memory`, a Python buffer that the array owns."""
        dtype = self._dtypes[type_number]
        values: np.ndarray[Any, Any] = np.ndarray(dims, dtype, memory)
        return _put(_aval(dims, dtype), self._single[device], values, self._devices[device])

    def joined(self, pieces: Sequence[Any], sharding: Sharding) -> Any:
        """Combine one piece for each device of `sharding`, in its order, into an array."""
        return ArrayImpl(pieces[0].aval, sharding, list(pieces), committed=True, _skip_checks=True)

    def copied(self, array: Any) -> Any:
        """Copy an array, for a program that donates its argument although the caller keeps it."""
        (device,) = array.devices()
        values = np.array(array)
        return _put(array.aval, array.sharding, values, device, force_copy=True)


def _put(aval: Any, sharding: Any, values: Any, device: Any, **how: Any) -> Any:
    """Create an array on a CPU device under any transfer guard: on the mock TPU this is not a transfer."""
    state = _guards.thread_local_state()
    guard = state.host_to_device
    state.host_to_device = _guards.TransferGuardLevel.ALLOW
    try:
        return _jax.batched_device_put(aval, sharding, [values], [device], enable_x64=True, **how)
    finally:
        state.host_to_device = guard


@functools.lru_cache(maxsize=4096)
def _aval(dims: tuple[int, ...], dtype: np.dtype[Any]) -> jax.core.ShapedArray:
    return jax.core.ShapedArray(dims, dtype)


@functools.cache
def _replicated_sharding(devices: tuple[Any, ...]) -> Sharding:
    return NamedSharding(Mesh(np.array(devices), ("device",)), PartitionSpec())


def _dtype(name: str) -> np.dtype[Any] | None:
    """The NumPy type of a PJRT buffer type such as `F8E4M3FN`; None if neither NumPy nor ml_dtypes has it."""
    numpy_name = _NUMPY_NAMES.get(name, "")
    if match := re.fullmatch(r"([SUF])(\d+)(E\w+)?", name):
        kind, bits, form = match.groups()
        numpy_name = f"{_NUMPY_KINDS[kind]}{bits}" + (f"_{form.lower()}" if form else "")
    scalar = getattr(ml_dtypes, numpy_name, None) or getattr(np, numpy_name, None)
    return np.dtype(scalar) if scalar is not None else None
