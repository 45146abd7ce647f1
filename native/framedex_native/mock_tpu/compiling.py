"""Compilation of JAX's TPU programs for jaxlib's CPU client."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from jax._src.interpreters import mlir
from jaxlib import _jax, xla_client
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from .hlo_proto import module_with_config
from .main_function import (
    Signature,
    ValuePlacement,
    remove_impossible_donations,
    remove_layouts,
    remove_memory_kinds,
    signature_of,
)
from .planned_compiler import PlannedCompilation, compile_for_plan
from .program import DEVICE_MEMORY, Program, Value
from .rewriting import rewrite
from .slow_compilation import report_if_slow

if TYPE_CHECKING:
    from framedex_native.ffi.donations import donations

    from .client import Client
else:
    from .donations import donations  # from ffi/, through this package's __init__.py

_MEMORY_STATISTICS = (
    "generated_code_size_in_bytes",
    "argument_size_in_bytes",
    "output_size_in_bytes",
    "alias_size_in_bytes",
    "temp_size_in_bytes",
    "host_generated_code_size_in_bytes",
    "host_argument_size_in_bytes",
    "host_output_size_in_bytes",
    "host_alias_size_in_bytes",
    "host_temp_size_in_bytes",
    "peak_memory_in_bytes",
    "total_size_in_bytes",
)


def compile_program(client: Client, code: bytes, code_format: str, options: bytes, key: int) -> Program:
    """Compile `code` with serialised CompileOptions.

    `code_format` is `mlir` for StableHLO, `hlo` for a serialised HLO module. `key` identifies the program in its host
    transfers. Raises JaxRuntimeError as jaxlib does.
    """
    settings = _jax.CompileOptions.ParseFromString(options)
    _check_options(settings)
    # The CPU compiler rejects flags of the TPU compiler.
    settings.env_option_overrides = [
        (name, value) for name, value in settings.env_option_overrides if not name.startswith("xla_tpu_")
    ]
    if hasattr(settings, "individually_defined_output_indices"):  # jaxlib 0.12 and later
        settings.individually_defined_output_indices = []  # the mock signals all results with one event
    shape = (settings.num_replicas, settings.num_partitions)
    given = settings.device_assignment
    device_ids = _device_ids(given) if given is not None else client.default_ids(shape[0] * shape[1])
    assignment = xla_client.DeviceAssignment.create(np.array(device_ids).reshape(shape))
    settings.device_assignment = xla_client.DeviceAssignment.create(np.array(client.cpu_ids(device_ids)).reshape(shape))
    with mlir.make_ir_context(), report_if_slow(lambda: parse_program(code, code_format)):
        module = parse_program(code, code_format)
        signature = signature_of(module)
        has_transfers = rewrite(module, key)
        remove_memory_kinds(module)
        if signature.leaves_layouts_open:
            signature = _with_chosen_layouts(signature, client.load(module, device_ids, settings))
        remove_layouts(module)
        remove_impossible_donations(module, signature)
        loaded = client.load(module, device_ids, settings)
    program = _program(client, loaded, signature, device_ids, assignment, has_transfers, _fingerprint(code, options))
    planned = compile_for_plan(lambda: parse_program(code, code_format), options, assignment, device_ids)
    return program if planned is None else _with_planned_memory(program, loaded, planned)


def _check_options(settings: Any) -> None:
    """Raise JaxRuntimeError for options that end the process in XLA, or that the mock lacks."""
    if settings.num_replicas < 1 or settings.num_partitions < 1:
        raise _jax.JaxRuntimeError("INVALID_ARGUMENT: The compile options have no replicas, or no partitions.")
    if settings.compile_portable_executable:
        raise _jax.JaxRuntimeError("UNIMPLEMENTED: framedex's mock TPU compiles no portable executables.")


def parse_program(code: bytes, code_format: str) -> ir.Module:
    """Parse a portable artifact, plain bytecode or text (`mlir`), or a serialised HLO module (`hlo`).

    Raises JaxRuntimeError for another format.
    """
    if code_format not in ("mlir", "hlo"):
        raise _jax.JaxRuntimeError(f"INVALID_ARGUMENT: Unknown program format {code_format!r}.")
    context: Any = ir.Context.current  # created by the caller
    # PyTorch/XLA passes HLO, which jaxlib's client no longer accepts.
    text = _jax.mlir.hlo_to_stablehlo(code) if code_format == "hlo" else code
    try:
        return stablehlo.deserialize_portable_artifact(context, text)
    except Exception:
        return ir.Module.parse(text)


def _with_chosen_layouts(signature: Signature, loaded: Any) -> Signature:
    """Fill in the layouts that XLA chose."""
    return signature.with_layouts(
        [str(layout) for layout in loaded.get_parameter_layouts()],
        [str(layout) for layout in loaded.get_output_layouts()],
    )


def _device_ids(assignment: xla_client.DeviceAssignment) -> list[int]:
    """The device ids by replica, then by partition."""
    # Only the text form exposes the ids without protocol buffers.
    partitions = [list(map(int, ids.split())) for ids in re.findall(r"Computation\d+\{([\d ]*)\}", repr(assignment))]
    return [number for replica in zip(*partitions, strict=True) for number in replica]


def _program(
    client: Client,
    loaded: Any,
    signature: Signature,
    device_ids: Sequence[int],
    assignment: xla_client.DeviceAssignment,
    has_transfers: bool,
    fingerprint: str,
) -> Program:
    module = loaded.hlo_modules()[0]
    proto = module.as_serialized_hlo_module_proto()
    program_shape = xla_client.XlaComputation(proto).program_shape()
    parameters = _flatten_shapes(program_shape.parameter_shapes())
    results = _flatten_shapes([program_shape.result_shape()])
    sharding = client.sharding(device_ids)
    parameter_values = [_value(client, *described) for described in zip(parameters, signature.parameters, strict=True)]
    result_values = [_value(client, *described) for described in zip(results, signature.results, strict=True)]
    donated = donations(proto)
    statistics = loaded.get_compiled_memory_stats()
    memory = _memory(statistics)
    _move_to_host(memory, "argument", zip(parameters, signature.parameters, strict=True))
    _move_to_host(memory, "output", zip(results, signature.results, strict=True))
    _move_to_host(memory, "alias", ((parameters[number], signature.parameters[number]) for number, _ in donated))
    shape = (assignment.replica_count(), assignment.computation_count())
    return Program(
        name=module.name,
        replicas=shape[0],
        partitions=shape[1],
        device_ids=device_ids,
        cpu_ordinals=client.cpu_ids(device_ids),
        device_assignment=assignment.serialize(),
        parameters=parameter_values,
        results=result_values,
        donated=donated,
        optimized=module_with_config(
            *(proto, parameter_values, result_values, shape),
            getattr(statistics, "serialized_buffer_assignment_proto", b""),
        ),
        costs=sorted(_costs(loaded).items()),
        memory=list(memory.items()),
        fingerprint=fingerprint,
        has_transfers=has_transfers,
        execute=loaded.execute_sharded,
        result_handlers=[client.result_handler(value.type, value.dims, sharding) for value in result_values],
        sharding=sharding,
    )


def _with_planned_memory(program: Program, loaded: Any, planned: PlannedCompilation) -> Program:
    """Replace the memory of a program by that on the planned machine, and its optimised form by that of its compiler.

    A program that is too large for the machine keeps the form of the CPU's executable `loaded`.
    """
    if planned.executable is not None:
        memory = _memory(planned.executable.get_compiled_memory_stats())
    else:
        memory = dict(program.memory) | {"temp_size_in_bytes": planned.temporaries}
    proto = (planned.executable or loaded).hlo_modules()[0].as_serialized_hlo_module_proto()
    shape = (program.replicas, program.partitions)
    optimized = module_with_config(proto, program.parameters, program.results, shape, b"")
    return replace(program, memory=list(memory.items()), optimized=optimized)


def _flatten_shapes(shapes: Sequence[Any]) -> list[Any]:
    """The shapes of single arrays. Many parameters, and all results, are wrapped in one tuple."""
    return list(shapes[0].tuple_shapes()) if len(shapes) == 1 and shapes[0].is_tuple() else list(shapes)


def _value(client: Client, shape: Any, placement: ValuePlacement) -> Value:
    dims = tuple(shape.dimensions()) if shape.is_array() else ()
    return Value(client.type_number(shape), dims, placement.order(len(dims)), placement.tiles, placement.memory_kind)


def _memory(statistics: Any) -> dict[str, int]:
    return {name: int(getattr(statistics, name, 0)) for name in _MEMORY_STATISTICS}


def _move_to_host(memory: dict[str, int], part: str, values: Iterable[tuple[Any, ValuePlacement]]) -> None:
    """Move values in host memory to the host's statistics. The CPU compiler counts all values as device memory."""
    on_host = sum(
        math.prod(shape.dimensions()) * shape.numpy_dtype().itemsize
        for shape, place in values
        if place.memory_kind != DEVICE_MEMORY
    )
    memory[f"{part}_size_in_bytes"] -= on_host
    memory[f"host_{part}_size_in_bytes"] += on_host


def _costs(loaded: Any) -> dict[str, float]:
    try:
        return {name: float(value) for name, value in loaded.cost_analysis().items()}
    except _jax.JaxRuntimeError:  # XLA's CPU backend cannot analyse every program
        return {}


def _fingerprint(code: bytes, options: bytes) -> str:
    return hashlib.sha256(len(code).to_bytes(8, "little") + code + options).hexdigest()
