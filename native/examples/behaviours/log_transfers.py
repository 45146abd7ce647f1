"""Logs transfers of at least LOG_BYTES (default: 1 MiB), with the line that requested each."""

import os
import sys

from framedex_native.behaviour import on

MINIMUM = int(os.environ.get("LOG_BYTES", str(1 << 20)))


def log(call, size, description):
    if size >= MINIMUM:
        print(f"{call.line or 'no line of Python'}: {size} bytes {description}", file=sys.stderr)


@on("PJRT_Client_BufferFromHostBuffer")
def to_device(call):
    arguments = call.arguments
    log(call, arguments.bytes, f"to the device, {arguments.type}{list(arguments.dims)}")


@on("PJRT_Buffer_ToHostBuffer")
def to_host(call):
    if call.arguments.dst:  # without it, JAX only queries the size
        log(call, call.arguments.dst_size, "to the host")
