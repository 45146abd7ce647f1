"""A TPU with slow memory: transfers, and programs that read and write it, take time in proportion to their bytes.

HBM_BYTES_PER_SECOND is the bandwidth (default: 100 MB/s).
"""

import os

from framedex_native.behaviour import on, runs

BYTES_PER_MICROSECOND = float(os.environ.get("HBM_BYTES_PER_SECOND", "1e8")) / 1e6


@on("PJRT_Client_BufferFromHostBuffer")
def write(call):
    call.delay(call.arguments.bytes / BYTES_PER_MICROSECOND)


@on("PJRT_Buffer_ToHostBuffer")
def read(call):
    if call.arguments.dst:  # without it, JAX only queries the size
        call.delay(call.arguments.dst_size / BYTES_PER_MICROSECOND)


@runs("*")
def run(program):
    program.run()
    moved = sum(array.nbytes for shard in program.shards for array in (*shard.inputs, *shard.outputs))
    program.delay(moved / len(program.shards) / BYTES_PER_MICROSECOND)
