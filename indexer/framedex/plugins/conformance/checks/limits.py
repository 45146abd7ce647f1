"""Many objects, long texts, deep chains."""

from framedex.plugins.conformance import programs
from framedex.plugins.conformance.client import Client, expect_equal, pack_floats
from framedex.plugins.conformance.model import Stage, check


@check("PJRT_Client_BufferFromHostBuffer")
def live_buffers(client: Client) -> None:
    """5,000 buffers are alive at once, each with its content."""
    buffers = [client.floats(number) for number in range(5000)]
    for number in (0, 2500, 4999):
        expect_equal(client.fetch_floats(buffers[number]), [float(number)], f"The content of buffer {number}")


@check("PJRT_LoadedExecutable_Execute", stage=Stage.PROGRAM)
def executions(client: Client) -> None:
    """1,000 executions run one after the other."""
    arguments, loaded = [client.floats(1, 2, 3, 4), client.floats(1, 1, 1, 1)], client.add
    for _ in range(1000):
        execution = client.start(loaded, [arguments], outputs=1)
        client.wait(execution.events[0])
        client.call("PJRT_Buffer_Destroy", buffer=execution.results[0][0])


@check("PJRT_LoadedExecutable_Execute", stage=Stage.PROGRAM)
def pending_executions(client: Client) -> None:
    """200 executions are started before the first one is awaited."""
    arguments, loaded = [client.floats(1, 2, 3, 4), client.floats(1, 1, 1, 1)], client.add
    started = [client.start(loaded, [arguments], outputs=1) for _ in range(200)]
    for execution in started:
        client.wait(execution.events[0])
    expect_equal(client.fetch_floats(started[-1].results[0][0]), [2, 3, 4, 5], "The last result")


@check("PJRT_Client_Compile")
def long_names(client: Client) -> None:
    """A module may have a name of 4,000 characters."""
    loaded = client.compile(programs.ADD.replace("@add", f"@{'a' * 4000}"))
    expect_equal(client.output_count(loaded), 1, "num_outputs")


@check("PJRT_Client_Compile")
def long_program(client: Client) -> None:
    """A program of 2,000 operations compiles and runs."""
    steps = "\n".join(f"    %v{i + 1} = stablehlo.add %v{i}, %x : tensor<4xf32>" for i in range(2000))
    code = f"""module @long {{
  func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
    %v0 = stablehlo.add %x, %x : tensor<4xf32>
{steps}
    return %v2000 : tensor<4xf32>
  }}
}}
"""
    [[result]] = client.run(client.compile(code), [[client.floats(1, 1, 1, 1)]])
    expect_equal(client.fetch_floats(result), [2002.0] * 4, "The result")


@check("PJRT_Buffer_ReadyEvent", "PJRT_Event_Destroy")
def events(client: Client) -> None:
    """2,000 events of a buffer are alive at once."""
    buffer = client.put(pack_floats(1, 2))
    found = [client.call("PJRT_Buffer_ReadyEvent", buffer=buffer).event for _ in range(2000)]
    for event in found:
        client.wait(event)
