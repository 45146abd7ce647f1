"""Execution: devices, results, donation, errors, options."""

import ctypes

from framedex.plugins.conformance import programs
from framedex.plugins.conformance.abi import Struct
from framedex.plugins.conformance.client import (
    F32,
    S32,
    Client,
    expect,
    expect_equal,
    expect_error,
    pack_floats,
    pack_int64s,
    read_outcome,
)
from framedex.plugins.conformance.model import Stage, check

_EXECUTE = "PJRT_LoadedExecutable_Execute"
_PROGRAM = Stage.PROGRAM


def _arguments(client: Client) -> list[int]:
    return [client.floats(1, 2, 3, 4), client.floats(10, 20, 30, 40)]


@check(_EXECUTE, stage=_PROGRAM)
def add(client: Client) -> None:
    """A program computes its result."""
    [[result]] = client.run(client.add, [_arguments(client)])
    expect_equal(client.fetch_floats(result), [11, 22, 33, 44], "The result")


@check(_EXECUTE, stage=_PROGRAM)
def add_without_wait(client: Client) -> None:
    """A result can be read before the completion event is ready."""
    execution = client.start(client.add, [_arguments(client)])
    expect_equal(client.fetch_floats(execution.results[0][0]), [11, 22, 33, 44], "The result")


@check(_EXECUTE, stage=_PROGRAM)
def without_events(client: Client) -> None:
    """`device_complete_events` may be null."""
    execution = client.start(client.add, [_arguments(client)], device_complete_events=None)
    expect_equal(client.fetch_floats(execution.results[0][0]), [11, 22, 33, 44], "The result")


@check(_EXECUTE, "PJRT_Buffer_ReadyEvent", stage=_PROGRAM)
def completion_event(client: Client) -> None:
    """After the completion event the results are ready."""
    execution = client.start(client.add, [_arguments(client)])
    client.wait(execution.events[0])
    event = client.call("PJRT_Buffer_ReadyEvent", buffer=execution.results[0][0]).event
    client.wait(event)


@check(_EXECUTE, stage=_PROGRAM)
def results(client: Client) -> None:
    """A program with several results returns them in order."""
    [[turned, seven]] = client.run(
        client.compile(programs.TWO_RESULTS), [[client.put(pack_floats(*range(6)), F32, [2, 3])]]
    )
    expect_equal(client.fetch_floats(turned), [0, 3, 1, 4, 2, 5], "The first result")
    expect_equal(client.dims(turned), [3, 2], "The dimensions of the first result")
    expect_equal(client.fetch(seven), (7).to_bytes(4, "little"), "The second result")
    expect_equal(client.call("PJRT_Buffer_ElementType", buffer=seven).type, S32, "The type of the second result")


@check(_EXECUTE, stage=_PROGRAM)
def no_arguments(client: Client) -> None:
    """A program may have no arguments."""
    [[result]] = client.run(client.compile(programs.NO_ARGUMENTS), [[]])
    expect_equal(client.fetch(result), b"\1\0\0\0\2\0\0\0\3\0\0\0", "The result")


@check(_EXECUTE, stage=_PROGRAM)
def no_results(client: Client) -> None:
    """A program may have no results; its completion event becomes ready."""
    expect_equal(client.run(client.compile(programs.NO_RESULTS), [[client.floats(1, 2, 3, 4)]]), [[]], "The results")


@check(_EXECUTE, stage=_PROGRAM, each=(10, 100, 300))
def many_results(client: Client, count: int) -> None:
    """A program may have many arguments and results."""
    loaded = client.compile(programs.build_program_with_results(count))
    [row] = client.run(loaded, [[client.floats(number, number) for number in range(count)]])
    for number in (0, count // 2, count - 1):
        expect_equal(client.fetch_floats(row[number]), [2.0 * number] * 2, f"Result {number}")


@check(_EXECUTE, stage=_PROGRAM)
def zero_size(client: Client) -> None:
    """A program may have arguments and results without elements."""
    loaded = client.compile(programs.build_identity_program("f32", [0, 3]))
    [[result]] = client.run(loaded, [[client.put(b"", F32, [0, 3])]])
    expect_equal(client.fetch(result), b"", "The result")


@check(_EXECUTE, stage=_PROGRAM)
def same_argument_twice(client: Client) -> None:
    """A buffer may be passed as two arguments."""
    buffer = client.floats(1, 2, 3, 4)
    [[result]] = client.run(client.add, [[buffer, buffer]])
    expect_equal(client.fetch_floats(result), [2, 4, 6, 8], "The result")


@check(_EXECUTE, stage=_PROGRAM)
def arguments_survive(client: Client) -> None:
    """Arguments that are not donated keep their content."""
    arguments = _arguments(client)
    for _ in range(3):
        client.run(client.add, [arguments])
    expect_equal(client.fetch_floats(arguments[0]), [1, 2, 3, 4], "The first argument")


@check(_EXECUTE, "PJRT_Buffer_Destroy", stage=_PROGRAM)
def arguments_destroyed_at_once(client: Client) -> None:
    """Arguments can be destroyed right after PJRT_LoadedExecutable_Execute returned."""
    arguments = _arguments(client)
    execution = client.start(client.add, [arguments])
    for buffer in arguments:
        client.call("PJRT_Buffer_Destroy", buffer=buffer)
    expect_equal(client.fetch_floats(execution.results[0][0]), [11, 22, 33, 44], "The result")


@check(_EXECUTE, stage=_PROGRAM)
def chain(client: Client) -> None:
    """Results are arguments of the next execution, without a wait."""
    one = client.floats(1, 1, 1, 1)
    value = client.floats(0, 0, 0, 0)
    for _ in range(50):
        value = client.start(client.add, [[value, one]], outputs=1).results[0][0]
    expect_equal(client.fetch_floats(value), [50.0] * 4, "The result")


@check(_EXECUTE, "PJRT_LoadedExecutable_Destroy", stage=_PROGRAM)
def destroyed_while_running(client: Client) -> None:
    """An executable can be destroyed while it runs."""
    loaded = client.compile(programs.build_loop_program(40))
    execution = client.start(loaded, [[client.put(pack_floats(1.0) * 65536, dims=[256, 256])]])
    client.call("PJRT_LoadedExecutable_Destroy", executable=loaded)
    client.wait(execution.events[0])
    client.wait_ready(execution.results[0][0])


@check(_EXECUTE, stage=_PROGRAM)
def donation(client: Client) -> None:
    """A donated argument is deleted by the call, and the result is right."""
    arguments = _arguments(client)
    [[result]] = client.run(client.compile(programs.DONATE), [arguments])
    expect(client.is_deleted(arguments[0]), "The donated argument is not deleted.")
    expect(not client.is_deleted(arguments[1]), "The other argument is deleted.")
    expect_equal(client.fetch_floats(result), [11, 22, 33, 44], "The result")


@check(_EXECUTE, stage=_PROGRAM)
def use_after_donation(client: Client) -> str:
    """The use of a donated buffer is an error."""
    loaded, arguments = client.compile(programs.DONATE), _arguments(client)
    client.run(loaded, [arguments])
    return expect_error(lambda: client.fetch(client.run(loaded, [arguments])[0][0]))


@check(_EXECUTE, stage=_PROGRAM)
def read_after_donation(client: Client) -> str:
    """Reading a donated buffer is an error."""
    arguments = _arguments(client)
    client.run(client.compile(programs.DONATE), [arguments])
    return expect_error(lambda: client.fetch(arguments[0], 16))


@check(_EXECUTE, stage=_PROGRAM)
def donated_twice(client: Client) -> str:
    """A buffer that is donated and passed as another argument too is an error, or is used for both and deleted."""
    buffer = client.floats(1, 2, 3, 4)
    loaded = client.compile(programs.DONATE)

    def run() -> None:
        [[result]] = client.run(loaded, [[buffer, buffer]])
        expect_equal(client.fetch_floats(result), [2, 4, 6, 8], "The result")
        expect(client.is_deleted(buffer), "The donated buffer is not deleted.")

    return read_outcome(run)


@check(_EXECUTE, stage=_PROGRAM)
def non_donatable(client: Client) -> None:
    """An argument in `non_donatable_input_indices` survives a program that would donate it."""
    arguments = _arguments(client)
    indices = pack_int64s([0])
    options = Struct("PJRT_ExecuteOptions", non_donatable_input_indices=indices, num_non_donatable_input_indices=1)
    [[result]] = client.run(client.compile(programs.DONATE), [arguments], options=options)
    expect(not client.is_deleted(arguments[0]), "The argument is deleted.")
    expect_equal(client.fetch_floats(arguments[0]), [1, 2, 3, 4], "The argument")
    expect_equal(client.fetch_floats(result), [11, 22, 33, 44], "The result")


@check(_EXECUTE, stage=_PROGRAM)
def too_few_arguments(client: Client) -> str:
    """Too few arguments are an error."""
    return expect_error(lambda: client.fetch(client.run(client.add, [[client.floats(1, 2, 3, 4)]])[0][0]))


@check(_EXECUTE, stage=_PROGRAM)
def too_many_arguments(client: Client) -> str:
    """Too many arguments are an error."""
    return expect_error(lambda: client.fetch(client.run(client.add, [[client.floats(1, 2, 3, 4)] * 3])[0][0]))


@check(_EXECUTE, stage=_PROGRAM)
def wrong_shape(client: Client) -> str:
    """An argument of another size is an error."""
    wrong = [client.floats(1, 2, 3, 4, 5, 6, 7, 8), client.floats(1, 2)]
    return expect_error(lambda: client.fetch(client.run(client.add, [wrong])[0][0]))


@check(_EXECUTE, stage=_PROGRAM)
def deleted_argument(client: Client) -> str:
    """A deleted argument is an error."""
    arguments = _arguments(client)
    client.call("PJRT_Buffer_Delete", buffer=arguments[0])
    return expect_error(lambda: client.fetch(client.run(client.add, [arguments])[0][0]))


@check(_EXECUTE, stage=_PROGRAM)
def argument_on_other_device(client: Client) -> str:
    """An argument on another device is an error, or it is copied."""
    _, second = client.need_devices(2)
    arguments = [client.floats(1, 2, 3, 4, device=second), client.floats(10, 20, 30, 40)]

    def run() -> None:
        [[result]] = client.run(client.add, [arguments])
        expect_equal(client.fetch_floats(result), [11, 22, 33, 44], "The result")

    return read_outcome(run)


@check(_EXECUTE, stage=_PROGRAM)
def too_many_devices(client: Client) -> str:
    """More argument lists than devices of the program are an error."""
    return expect_error(lambda: client.run(client.add, [_arguments(client), _arguments(client)]))


@check(_EXECUTE, stage=_PROGRAM)
def replicas(client: Client) -> None:
    """A program on two replicas runs on both and reduces between them."""
    devices = client.need_devices(2)
    ids = [client.device_id(device) for device in devices]
    loaded = client.compile(programs.REPLICAS, programs.encode_compile_options(2, devices=ids))
    rows = [[client.floats(1, 2, 3, 4, device=devices[0])], [client.floats(10, 20, 30, 40, device=devices[1])]]
    for [result], device in zip(client.run(loaded, rows), devices, strict=True):
        expect_equal(client.fetch_floats(result), [11, 22, 33, 44], "The result")
        expect_equal(client.call("PJRT_Buffer_Device", buffer=result).device, device, "The device of the result")


@check(_EXECUTE, stage=_PROGRAM)
def partitions(client: Client) -> None:
    """A program in two partitions gives each device its half."""
    devices = client.need_devices(2)
    ids = [client.device_id(device) for device in devices]
    loaded = client.compile(programs.PARTITIONS, programs.encode_compile_options(1, 2, devices=ids))
    rows = [[client.floats(1, 2, device=devices[0])], [client.floats(3, 4, device=devices[1])]]
    halves = [client.fetch_floats(result) for [result] in client.run(loaded, rows)]
    expect_equal(halves, [[2, 4], [6, 8]], "The halves")


@check(_EXECUTE, stage=_PROGRAM)
def on_second_device(client: Client) -> None:
    """A program that is compiled for the second device runs there."""
    _, second = client.need_devices(2)
    loaded = client.compile(programs.ADD, programs.encode_compile_options(devices=[client.device_id(second)]))
    arguments = [client.floats(1, 2, 3, 4, device=second), client.floats(1, 2, 3, 4, device=second)]
    [[result]] = client.run(loaded, [arguments])
    expect_equal(client.call("PJRT_Buffer_Device", buffer=result).device, second, "The device of the result")
    expect_equal(client.fetch_floats(result), [2, 4, 6, 8], "The result")


@check(_EXECUTE, stage=_PROGRAM)
def portable(client: Client) -> None:
    """A portable executable runs on each device that `execute_device` names."""
    loaded = client.compile(programs.ADD, programs.encode_compile_options(portable=True))
    for device in client.devices:
        arguments = [client.floats(1, 2, 3, 4, device=device), client.floats(1, 2, 3, 4, device=device)]
        [[result]] = client.run(loaded, [arguments], execute_device=device)
        expect_equal(client.call("PJRT_Buffer_Device", buffer=result).device, device, "The device of the result")
        expect_equal(client.fetch_floats(result), [2, 4, 6, 8], "The result")


@check(_EXECUTE, stage=_PROGRAM, each=(0, 1, -1, 2**31 - 1))
def launch_id(client: Client, number: int) -> None:
    """An execution may have any launch id."""
    [[result]] = client.run(client.add, [_arguments(client)], options=Struct("PJRT_ExecuteOptions", launch_id=number))
    expect_equal(client.fetch_floats(result), [11, 22, 33, 44], "The result")


@check(_EXECUTE, stage=_PROGRAM)
def call_location(client: Client) -> None:
    """An execution may have the location of its caller."""
    options = Struct("PJRT_ExecuteOptions", call_location=b"train.py:12")
    [[result]] = client.run(client.add, [_arguments(client)], options=options)
    expect_equal(client.fetch_floats(result), [11, 22, 33, 44], "The result")


@check("PJRT_ExecuteContext_Create", "PJRT_ExecuteContext_Destroy")
def context(client: Client) -> None:
    """A context can be created and destroyed."""
    found = client.call("PJRT_ExecuteContext_Create").context
    expect(found, "The context is null.")
    client.call("PJRT_ExecuteContext_Destroy", context=found)


@check("PJRT_ExecuteContext_Create", _EXECUTE, stage=_PROGRAM)
def with_context(client: Client) -> None:
    """An execution may have a context."""
    found = client.call("PJRT_ExecuteContext_Create").context
    options = Struct("PJRT_ExecuteOptions", context=found)
    [[result]] = client.run(client.add, [_arguments(client)], options=options)
    expect_equal(client.fetch_floats(result), [11, 22, 33, 44], "The result")
    client.call("PJRT_ExecuteContext_Destroy", context=found)


@check(_EXECUTE, stage=_PROGRAM)
def large_result(client: Client) -> None:
    """A result of 16 MiB is right at its ends."""
    count = 4 << 20
    loaded = client.compile(programs.build_identity_program("f32", [count]))
    content = ctypes.create_string_buffer(pack_floats(5) + bytes(4 * count - 8) + pack_floats(6), 4 * count)
    [[result]] = client.run(loaded, [[client.put(content, F32, [count])]])
    found = client.fetch(result, 4 * count)
    expect_equal(found[:4] + found[-4:], pack_floats(5, 6), "The ends of the result")
