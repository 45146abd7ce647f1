"""Send and receive between a program and the host."""

import ctypes

from framedex.plugins.conformance import programs
from framedex.plugins.conformance.abi import Struct
from framedex.plugins.conformance.client import (
    Client,
    build_pointers,
    expect,
    expect_equal,
    pack_floats,
    unsupported_if_error,
)
from framedex.plugins.conformance.model import Stage, check

_CHANNEL = 1
_SEND = ctypes.CFUNCTYPE(
    ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_bool, ctypes.c_void_p
)
_RECEIVE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)


def _compile(client: Client, code: str) -> int:
    with unsupported_if_error():
        return client.compile(code)


@check("PJRT_LoadedExecutable_Execute", stage=Stage.PROGRAM)
def send(client: Client) -> None:
    """A program sends an array to the callback of its channel."""
    loaded = _compile(client, programs.send(_CHANNEL))
    received: list[bytes] = []

    def receive(chunk: int, report_error: int, total: int, is_done: bool, argument: int | None) -> None:
        part = Struct("PJRT_Chunk", at=chunk)
        received.append(ctypes.string_at(part.data, part.size))
        if part.deleter:
            ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(part.deleter)(part.data, part.deleter_arg)

    callback = _SEND(receive)
    info = Struct("PJRT_SendCallbackInfo", channel_id=_CHANNEL, user_arg=None, send_callback=callback)
    options = Struct("PJRT_ExecuteOptions", send_callbacks=build_pointers([info._memory]), num_send_ops=1)
    client.alive += [callback, info]
    client.run(loaded, [[client.floats(1, 2, 3, 4)]], options=options)
    expect_equal(b"".join(received), pack_floats(1, 2, 3, 4), "The received bytes")


_STREAM = "PJRT_CopyToDeviceStream_"


@check(f"{_STREAM}AddChunk", f"{_STREAM}TotalBytes", f"{_STREAM}GranuleSize", f"{_STREAM}CurrentBytes",
       f"{_STREAM}Destroy", stage=Stage.PROGRAM)  # fmt: skip
def receive(client: Client) -> None:
    """A program receives an array from the callback of its channel, through a stream of chunks."""
    loaded = _compile(client, programs.build_receive_program(_CHANNEL))
    content = ctypes.create_string_buffer(pack_floats(5, 6, 7, 8), 16)
    free = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(lambda data, argument: None)
    seen: dict[str, int] = {}
    failures: list[Exception] = []

    def answer(stream: int, argument: int | None) -> None:
        try:
            seen["total"] = client.call(f"{_STREAM}TotalBytes", stream=stream).total_bytes
            seen["granule"] = client.call(f"{_STREAM}GranuleSize", stream=stream).granule_size_in_bytes
            seen["before"] = client.call(f"{_STREAM}CurrentBytes", stream=stream).current_bytes
            chunk = Struct("PJRT_Chunk", data=content, size=16, deleter=free, deleter_arg=None)
            client.alive.append(chunk)
            client.wait(client.call(f"{_STREAM}AddChunk", stream=stream, chunk=chunk).transfer_complete)
            seen["after"] = client.call(f"{_STREAM}CurrentBytes", stream=stream).current_bytes
            client.call(f"{_STREAM}Destroy", stream=stream)
        except Exception as failure:
            failures.append(failure)

    callback = _RECEIVE(answer)
    info = Struct("PJRT_RecvCallbackInfo", channel_id=_CHANNEL, user_arg=None, recv_callback=callback)
    options = Struct("PJRT_ExecuteOptions", recv_callbacks=build_pointers([info._memory]), num_recv_ops=1)
    client.alive += [callback, info, free]
    [[result]] = client.run(loaded, [[client.floats(0, 0, 0, 0)]], options=options)
    expect(not failures, f"The callback failed: {failures[:1]}.")
    expect_equal((seen["total"], seen["before"], seen["after"]), (16, 0, 16), "The total, first and last bytes")
    expect_equal(client.fetch_floats(result), [5, 6, 7, 8], "The result")
