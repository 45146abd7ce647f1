"""Executables: names, shapes, costs, memory, and the programs they contain."""

import ctypes

from framedex.plugins.conformance import abi, programs
from framedex.plugins.conformance.abi import Struct
from framedex.plugins.conformance.client import Client, expect, expect_equal, read_outcome
from framedex.plugins.conformance.model import Stage, check
from framedex.plugins.conformance.plugin import (
    UnsupportedError,
    read_addresses,
    read_integers,
    read_named_values,
    read_text,
    take_bytes,
)

_PROGRAM = Stage.PROGRAM


def _two_results(client: Client) -> int:
    return client.executable(client.compile(programs.TWO_RESULTS))


@check("PJRT_LoadedExecutable_GetExecutable", "PJRT_Executable_Destroy", stage=_PROGRAM)
def executable(client: Client) -> None:
    """The caller destroys the executable of a loaded one, which stays usable."""
    client.call("PJRT_Executable_Destroy", executable=client.executable(client.add))
    expect(client.executable(client.add), "The second executable is null.")


@check("PJRT_Executable_Name", stage=_PROGRAM)
def name(client: Client) -> str:
    """A program has a name."""
    found = client.call("PJRT_Executable_Name", executable=client.executable(client.add))
    return read_text(found.executable_name, found.executable_name_size)


@check("PJRT_Executable_NumReplicas", "PJRT_Executable_NumPartitions", stage=_PROGRAM)
def replicas_and_partitions(client: Client) -> None:
    """A program for one device has one replica and one partition."""
    program = client.executable(client.add)
    replicas = client.call("PJRT_Executable_NumReplicas", executable=program).num_replicas
    partitions = client.call("PJRT_Executable_NumPartitions", executable=program).num_partitions
    expect_equal((replicas, partitions), (1, 1), "The numbers of replicas and partitions")


@check("PJRT_Executable_NumReplicas", stage=_PROGRAM)
def two_replicas(client: Client) -> None:
    """A program for two replicas has two."""
    ids = [client.device_id(device) for device in client.need_devices(2)]
    loaded = client.compile(programs.REPLICAS, programs.encode_compile_options(2, devices=ids))
    found = client.call("PJRT_Executable_NumReplicas", executable=client.executable(loaded))
    expect_equal(found.num_replicas, 2, "num_replicas")


@check("PJRT_Executable_NumOutputs", stage=_PROGRAM, each=(0, 1, 2))
def output_count(client: Client, count: int) -> None:
    """A program has as many outputs as `main` has results."""
    code = (programs.NO_RESULTS, programs.ADD, programs.TWO_RESULTS)[count]
    expect_equal(client.output_count(client.compile(code)), count, "num_outputs")


@check("PJRT_Executable_OutputElementTypes", stage=_PROGRAM)
def output_types(client: Client) -> None:
    """The output types are those of the results of `main`."""
    found = client.call("PJRT_Executable_OutputElementTypes", executable=_two_results(client))
    types = read_integers(found.output_types, found.num_output_types, ctypes.c_int)
    wanted = [abi.read_enumerators("PJRT_Buffer_Type")[each] for each in ("F32", "S32")]
    expect_equal(types, wanted, "The types")


@check("PJRT_Executable_OutputDimensions", stage=_PROGRAM)
def output_dimensions(client: Client) -> None:
    """The output dimensions are those of the results of `main`, one after the other."""
    found = client.call("PJRT_Executable_OutputDimensions", executable=_two_results(client))
    expect_equal(found.num_outputs, 2, "num_outputs")
    expect_equal(read_integers(found.dim_sizes, 2, ctypes.c_size_t), [2, 0], "dim_sizes")
    expect_equal(read_integers(found.dims, 2), [3, 2], "dims")


@check("PJRT_Executable_OutputMemoryKinds", stage=_PROGRAM)
def output_memory_kinds(client: Client) -> str:
    """Each output has a memory kind that is a kind of the device."""
    found = client.call("PJRT_Executable_OutputMemoryKinds", executable=_two_results(client))
    expect_equal(found.num_outputs, 2, "num_outputs")
    sizes = read_integers(found.memory_kind_sizes, 2, ctypes.c_size_t)
    kinds = [read_text(at, size) for at, size in zip(read_addresses(found.memory_kinds, 2), sizes, strict=True)]
    known = [client.memory_kind(memory) for memory in client.memories(client.device)]
    expect(set(kinds) <= set(known), f"The kinds are {kinds}; the device has {known}.")
    return ", ".join(kinds)


@check("PJRT_Executable_ParameterMemoryKinds", stage=_PROGRAM)
def parameter_memory_kinds(client: Client) -> str:
    """Each parameter has a memory kind."""
    found = client.call("PJRT_Executable_ParameterMemoryKinds", executable=client.executable(client.add))
    expect_equal(found.num_parameters, 2, "num_parameters")
    sizes = read_integers(found.memory_kind_sizes, 2, ctypes.c_size_t)
    return ", ".join(read_text(at, size) for at, size in zip(read_addresses(found.memory_kinds, 2), sizes, strict=True))


@check("PJRT_Executable_SizeOfGeneratedCodeInBytes", stage=_PROGRAM)
def code_size(client: Client) -> str:
    """The size of the code is known, or negative."""
    found = client.call("PJRT_Executable_SizeOfGeneratedCodeInBytes", executable=client.executable(client.add))
    return f"{found.size_in_bytes} bytes"


@check("PJRT_Executable_GetCostAnalysis", stage=_PROGRAM)
def costs(client: Client) -> str:
    """The costs are named values; `flops` of an addition of four floats is not negative."""
    found = client.call("PJRT_Executable_GetCostAnalysis", executable=client.executable(client.add))
    values = read_named_values(found.properties, found.num_properties)
    expect(values.get("flops", 0) >= 0, f"flops is {values.get('flops')}.")
    return ", ".join(f"{key}={value:g}" for key, value in list(values.items())[:4] if isinstance(value, (int, float)))


@check("PJRT_Executable_GetCostAnalysis", stage=_PROGRAM)
def costs_twice(client: Client) -> None:
    """The costs are the same at each call."""
    program = client.executable(client.add)
    found = [client.call("PJRT_Executable_GetCostAnalysis", executable=program) for _ in range(2)]
    first, second = (read_named_values(each.properties, each.num_properties) for each in found)
    expect_equal(second, first, "The second answer")


@check("PJRT_Executable_GetCompiledMemoryStats", stage=_PROGRAM)
def memory_statistics(client: Client) -> str:
    """The memory of a program covers its arguments and results."""
    found = client.call("PJRT_Executable_GetCompiledMemoryStats", executable=client.executable(client.add))
    sizes = (found.argument_size_in_bytes, found.output_size_in_bytes)
    expect(sizes[0] >= 32 and sizes[1] >= 16, f"Arguments and results take {sizes} bytes.")
    return f"arguments {sizes[0]}, results {sizes[1]}, temporary {found.temp_size_in_bytes} bytes"


@check("PJRT_Executable_GetCompiledMemoryStats", stage=_PROGRAM)
def aliased_memory(client: Client) -> str:
    """A donated argument of 16 bytes counts as aliased memory of the results, if the program reuses it."""
    loaded = client.compile(programs.DONATE)
    found = client.call("PJRT_Executable_GetCompiledMemoryStats", executable=client.executable(loaded))
    size, limit = found.alias_size_in_bytes, found.output_size_in_bytes
    if not size:
        raise UnsupportedError("The program does not reuse donated memory.")
    expect(16 <= size <= limit, f"{size} bytes are aliased, of {limit} bytes of results.")
    return f"{size} bytes"


def _optimized(client: Client) -> tuple[str, bytes]:
    program = Struct("PJRT_Program", code=None)
    target = client.executable(client.add)
    client.call("PJRT_Executable_OptimizedProgram", executable=target, program=program)
    code = ctypes.create_string_buffer(program.code_size + 1)
    program.code = code
    client.call("PJRT_Executable_OptimizedProgram", executable=target, program=program)
    return read_text(program.format, program.format_size), code.raw[: program.code_size]


@check("PJRT_Executable_OptimizedProgram", stage=_PROGRAM)
def optimized_program(client: Client) -> str:
    """The optimised program has a size, then a code in the format `hlo`, `hlo_with_config` or `mlir`."""
    name, code = _optimized(client)
    expect(name in ("hlo", "hlo_with_config", "mlir"), f"The format is {name!r}.")
    expect(code.strip(b"\0"), "The code is empty.")
    return f"{name}, {len(code)} bytes"


@check("PJRT_Executable_Fingerprint", stage=_PROGRAM)
def fingerprint(client: Client) -> str:
    """Two compilations of a program have the same fingerprint."""
    found = [
        client.call("PJRT_Executable_Fingerprint", executable=client.executable(client.compile(programs.ADD)))
        for _ in range(2)
    ]
    first, second = (take_bytes(each.executable_fingerprint, each.executable_fingerprint_size) for each in found)
    expect_equal(second, first, "The second fingerprint")
    return f"{len(first)} bytes"


@check("PJRT_LoadedExecutable_Fingerprint", stage=_PROGRAM)
def loaded_fingerprint(client: Client) -> str:
    """A loaded executable has a fingerprint."""
    found = client.call("PJRT_LoadedExecutable_Fingerprint", executable=client.add)
    return f"{found.executable_fingerprint_size} bytes"


@check("PJRT_Executable_Fingerprint", stage=_PROGRAM)
def different_fingerprints(client: Client) -> None:
    """Different programs have different fingerprints."""
    texts = set()
    for code in (programs.ADD, programs.TWO_RESULTS):
        found = client.call("PJRT_Executable_Fingerprint", executable=client.executable(client.compile(code)))
        texts.add(take_bytes(found.executable_fingerprint, found.executable_fingerprint_size))
    expect_equal(len(texts), 2, "The number of distinct fingerprints")


@check("PJRT_Executable_GetCompileOptions", stage=_PROGRAM)
def compile_options(client: Client) -> str:
    """The compile options of an executable are serialised."""
    found = client.call("PJRT_Executable_GetCompileOptions", executable=client.executable(client.add))
    content = take_bytes(
        found.serialized_bytes, found.serialized_bytes_size, found.serialized_compile_options_deleter,
        found.serialized_compile_options,
    )  # fmt: skip
    expect(content, "The options are empty.")
    return f"{len(content)} bytes"


@check("PJRT_LoadedExecutable_AddressableDevices", stage=_PROGRAM)
def devices(client: Client) -> None:
    """A program for the first device names that device."""
    found = client.call("PJRT_LoadedExecutable_AddressableDevices", executable=client.add)
    expect_equal(
        read_addresses(found.addressable_devices, found.num_addressable_devices), [client.device], "The devices"
    )


@check("PJRT_LoadedExecutable_AddressableDeviceLogicalIds", stage=_PROGRAM)
def logical_ids(client: Client) -> None:
    """A program for one device is its replica 0 and partition 0."""
    found = client.call("PJRT_LoadedExecutable_AddressableDeviceLogicalIds", executable=client.add)
    expect_equal(found.num_addressable_device_logical_ids, 1, "The number of logical ids")
    expect_equal(read_integers(found.addressable_device_logical_ids, 2, ctypes.c_int), [0, 0], "Replica and partition")


@check("PJRT_LoadedExecutable_GetDeviceAssignment", stage=_PROGRAM)
def device_assignment(client: Client) -> str:
    """The device assignment is a serialised DeviceAssignmentProto of one replica and one partition."""
    found = client.call("PJRT_LoadedExecutable_GetDeviceAssignment", executable=client.add)
    content = take_bytes(
        found.serialized_bytes, found.serialized_bytes_size, found.serialized_device_assignment_deleter,
        found.serialized_device_assignment,
    )  # fmt: skip
    expect(content.startswith(b"\x08\x01\x10\x01"), f"The assignment is {content.hex()}.")
    return content.hex()


@check("PJRT_LoadedExecutable_Delete", "PJRT_LoadedExecutable_IsDeleted", stage=_PROGRAM)
def delete(client: Client) -> None:
    """A deleted executable reports that, and keeps its object."""
    expect(
        not client.call("PJRT_LoadedExecutable_IsDeleted", executable=client.add).is_deleted, "It is deleted before."
    )
    client.call("PJRT_LoadedExecutable_Delete", executable=client.add)
    expect(client.call("PJRT_LoadedExecutable_IsDeleted", executable=client.add).is_deleted, "It is not deleted after.")
    client.call("PJRT_LoadedExecutable_Destroy", executable=client.add)


@check("PJRT_LoadedExecutable_Delete", "PJRT_LoadedExecutable_Execute", stage=_PROGRAM)
def run_deleted(client: Client) -> str:
    """The execution of a deleted executable is an error, or it runs."""
    arguments = [client.floats(1, 2, 3, 4), client.floats(1, 2, 3, 4)]
    client.call("PJRT_LoadedExecutable_Delete", executable=client.add)
    return read_outcome(lambda: client.fetch(client.run(client.add, [arguments], outputs=1)[0][0]))
