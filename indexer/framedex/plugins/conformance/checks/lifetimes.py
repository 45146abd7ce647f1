"""The order in which objects end."""

import ctypes

from framedex.plugins.conformance.client import Client, expect_equal
from framedex.plugins.conformance.model import Stage, check


@check("PJRT_Client_Destroy")
def destroy_client(client: Client) -> None:
    """A client without other objects can be destroyed."""
    client.call("PJRT_Client_Destroy", client=client.handle)


@check("PJRT_Client_Destroy", "PJRT_Buffer_Destroy", "PJRT_LoadedExecutable_Destroy", stage=Stage.PROGRAM)
def destroy_in_order(client: Client) -> None:
    """Results, arguments, executable and client can be destroyed in this order."""
    arguments = [client.floats(1, 2, 3, 4), client.floats(1, 1, 1, 1)]
    [[result]] = client.run(client.add, [arguments])
    for buffer in (result, *arguments):
        client.call("PJRT_Buffer_Destroy", buffer=buffer)
    client.call("PJRT_LoadedExecutable_Destroy", executable=client.add)
    client.call("PJRT_Client_Destroy", client=client.handle)


@check("PJRT_LoadedExecutable_Destroy", "PJRT_Buffer_ToHostBuffer", stage=Stage.PROGRAM)
def result_outlives_executable(client: Client) -> None:
    """A result is valid after its executable was destroyed."""
    [[result]] = client.run(client.add, [[client.floats(1, 2, 3, 4), client.floats(1, 1, 1, 1)]])
    client.call("PJRT_LoadedExecutable_Destroy", executable=client.add)
    expect_equal(client.fetch_floats(result), [2, 3, 4, 5], "The result")


@check("PJRT_Buffer_Destroy", "PJRT_Event_Await")
def event_outlives_buffer(client: Client) -> None:
    """A ready event is valid after its buffer was destroyed."""
    buffer = client.floats(1.0)
    event = client.call("PJRT_Buffer_ReadyEvent", buffer=buffer).event
    client.call("PJRT_Buffer_Destroy", buffer=buffer)
    client.wait(event)


@check("PJRT_Buffer_ToHostBuffer", "PJRT_Buffer_Destroy")
def destroy_while_fetching(client: Client) -> None:
    """A buffer can be destroyed while it is copied to the host."""
    buffer = client.put(b"\1" * (4 << 20))
    room = ctypes.create_string_buffer(4 << 20)
    client.alive.append(room)
    event = client.call("PJRT_Buffer_ToHostBuffer", src=buffer, dst=room, dst_size=4 << 20).event
    client.call("PJRT_Buffer_Destroy", buffer=buffer)
    client.wait(event)
    expect_equal(room.raw[:4] + room.raw[-4:], b"\1" * 8, "The copy (first and last 4 bytes)")


@check("PJRT_Client_Destroy", "PJRT_LoadedExecutable_Execute", stage=Stage.PROGRAM)
def repeated_clients(client: Client) -> None:
    """Five clients live one after the other, and each runs a program."""
    for _ in range(5):
        arguments = [client.floats(1, 2, 3, 4), client.floats(1, 1, 1, 1)]
        [[result]] = client.run(client.add, [arguments])
        expect_equal(client.fetch_floats(result), [2, 3, 4, 5], "The result")
        for buffer in (result, *arguments):
            client.call("PJRT_Buffer_Destroy", buffer=buffer)
        client.call("PJRT_LoadedExecutable_Destroy", executable=client.add)
        client.call("PJRT_Client_Destroy", client=client.handle)
        client = Client(client.plugin, client.options)
