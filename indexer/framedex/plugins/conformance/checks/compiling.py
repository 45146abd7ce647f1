"""Compilation: formats, options and errors."""

from framedex.plugins.conformance import programs
from framedex.plugins.conformance.client import (
    Client,
    expect,
    expect_equal,
    expect_error,
    read_outcome,
    unsupported_if_error,
)
from framedex.plugins.conformance.model import check
from framedex.plugins.conformance.plugin import PluginError

_COMPILE = "PJRT_Client_Compile"


@check(_COMPILE)
def add(client: Client) -> None:
    """PJRT_Client_Compile compiles StableHLO text in the format `mlir`."""
    expect(client.add, "The executable is null.")


@check(_COMPILE)
def empty_options(client: Client) -> None:
    """Compile options of zero bytes are an empty CompileOptionsProto: defaults, or an error."""
    read_outcome(lambda: client.compile(programs.ADD, b""), "INVALID_ARGUMENT", "INTERNAL")


@check(_COMPILE)
def options_without_assignment(client: Client) -> None:
    """Without a device assignment the client chooses the device."""
    loaded = client.compile(programs.ADD, programs.encode_compile_options())
    expect_equal(_run_add(client, loaded), [11, 22, 33, 44], "The result")


@check(_COMPILE)
def portable(client: Client) -> None:
    """A portable executable of one device can be compiled."""
    expect(client.compile(programs.ADD, programs.encode_compile_options(portable=True)), "The executable is null.")


@check(_COMPILE)
def malformed_options(client: Client) -> str:
    """Malformed compile options are an error."""
    return expect_error(lambda: client.compile(programs.ADD, b"\xff\xff\xff\xff"))


@check(_COMPILE)
def unknown_option_override(client: Client) -> str:
    """An unknown compiler option is ignored or an error that names it."""
    extra = programs.encode_option_override("framedex_unknown_option", "1")
    try:
        client.compile(programs.ADD, programs.encode_compile_options(extra=extra))
    except PluginError as error:
        expect("framedex_unknown_option" in error.message, f"The error does not name the option: {error.message[:80]}")
        return error.code
    return "ignored"


@check(_COMPILE, each=("not_a_format", ""))
def unknown_format(client: Client, name: str) -> str:
    """An unknown program format is an error."""
    return expect_error(lambda: client.compile(programs.ADD, program_format=name))


_MALFORMED = {"empty": "", "text": "this is not MLIR", "cut": programs.ADD[:80], "binary": "\0\1\2\3" * 16}


@check(_COMPILE, each=_MALFORMED)
def malformed_program(client: Client, damage: str) -> str:
    """A malformed program is an error."""
    return expect_error(lambda: client.compile(_MALFORMED[damage]))


@check(_COMPILE)
def malformed_bytecode(client: Client) -> str:
    """Malformed MLIR bytecode is an error."""
    return expect_error(lambda: client.compile(b"ML\xefR\x0dStableHLO_v1.0.0\0\xff\xff\xff"))


@check(_COMPILE)
def malformed_hlo(client: Client) -> str:
    """A malformed HLO proto is an error."""
    return expect_error(lambda: client.compile(b"\xff\xff\xff\xff", program_format="hlo"))


@check(_COMPILE)
def unknown_operation(client: Client) -> str:
    """An unknown operation is an error."""
    code = programs.ADD.replace("stablehlo.add", "stablehlo.no_such_operation")
    return expect_error(lambda: client.compile(code))


@check(_COMPILE)
def type_error(client: Client) -> str:
    """A program with contradictory types is an error."""
    return expect_error(lambda: client.compile(programs.ADD.replace("%y: tensor<4xf32>", "%y: tensor<5xf32>", 1)))


@check(_COMPILE)
def no_main(client: Client) -> str:
    """A module without `main` is an error."""
    return expect_error(lambda: client.compile(programs.ADD.replace("@main", "@other")))


@check(_COMPILE)
def unknown_custom_call(client: Client) -> str:
    """An unknown custom call is an error, at compilation or at execution."""
    code = programs.ADD.replace("stablehlo.add %x, %y :", "stablehlo.custom_call @framedex_unknown(%x, %y) :").replace(
        ": tensor<4xf32>\n    return", ": (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>\n    return"
    )
    return expect_error(lambda: client.fetch(client.run(client.compile(code), [[client.floats(1, 2, 3, 4)] * 2])[0][0]))


@check(_COMPILE)
def replicas(client: Client) -> None:
    """A program for two replicas is compiled for the two assigned devices."""
    ids = [client.device_id(device) for device in client.need_devices(2)]
    expect(
        client.compile(programs.REPLICAS, programs.encode_compile_options(2, devices=ids)), "The executable is null."
    )


@check(_COMPILE)
def too_many_replicas(client: Client) -> str:
    """A program for more replicas than devices is an error."""
    return expect_error(lambda: client.compile(programs.ADD, programs.encode_compile_options(4096)))


@check(_COMPILE)
def unknown_device(client: Client) -> str:
    """A device assignment with an unknown device is an error."""
    return expect_error(lambda: client.compile(programs.ADD, programs.encode_compile_options(devices=[123456])))


@check(_COMPILE)
def twice(client: Client) -> None:
    """The same program can be compiled twice."""
    first, second = client.compile(programs.ADD), client.compile(programs.ADD)
    expect(first != second, "Both executables have the same address.")
    expect_equal(_run_add(client, first), _run_add(client, second), "The result")


@check(_COMPILE)
def many_programs(client: Client) -> None:
    """20 programs can be alive at once."""
    loaded = [client.compile(programs.build_identity_program("f32", [size])) for size in range(1, 21)]
    for size, each in enumerate(loaded, 1):
        [[result]] = client.run(each, [[client.floats(*range(size))]])
        expect_equal(client.fetch_floats(result), [float(value) for value in range(size)], f"The result of size {size}")


@check("PJRT_Client_TopologyDescription", "PJRT_Compile")
def for_topology(client: Client) -> None:
    """PJRT_Compile compiles for a topology, with a client."""
    expect(_compile_for_topology(client, client.handle), "The executable is null.")


@check("PJRT_Client_TopologyDescription", "PJRT_Compile")
def for_topology_without_client(client: Client) -> None:
    """PJRT_Compile compiles for a topology, without a client."""
    expect(_compile_for_topology(client, None), "The executable is null.")


@check("PJRT_Compile", "PJRT_Client_Load")
def load(client: Client) -> None:
    """PJRT_Client_Load loads an executable that was compiled for the topology of the client."""
    options = client.default_options()
    loaded = client.call(
        "PJRT_Client_Load", client=client.handle, executable=_compile_for_topology(client, client.handle),
        compile_options=options, compile_options_size=len(options),
    ).loaded_executable  # fmt: skip
    expect_equal(_run_add(client, loaded), [11, 22, 33, 44], "The result")


@check("PJRT_Compile")
def malformed_for_topology(client: Client) -> str:
    """PJRT_Compile of a malformed program is an error."""
    return expect_error(lambda: _compile_for_topology(client, None, "this is not MLIR"))


def _compile_for_topology(client: Client, handle: int | None, code: str = programs.ADD) -> int:
    options = programs.encode_compile_options()
    topology = client.call("PJRT_Client_TopologyDescription", client=client.handle).topology
    with unsupported_if_error("NOT_FOUND"):
        compiled: int = client.call(
            "PJRT_Compile", topology=topology, program=client.program(code), compile_options=options,
            compile_options_size=len(options), client=handle,
        ).executable  # fmt: skip
    return compiled


def _run_add(client: Client, loaded: int) -> list[float]:
    [[result]] = client.run(loaded, [[client.floats(1, 2, 3, 4), client.floats(10, 20, 30, 40)]])
    return client.fetch_floats(result)
