"""Fill a device of 1 MiB, overfill it, and check its freed memory, only through arrays."""

import gc
import json

import jax
import numpy as np

MIB = 1 << 20
device = jax.devices()[0]
result = {"limit": device.memory_stats()["bytes_limit"], "in_use": {}, "largest_free": {}, "errors": {}}


def put(size):
    """An array of this many bytes, with content determined by its size."""
    return jax.device_put(np.full(size, size % 251, np.uint8))


def look(name):
    """Record the memory in use and the largest free block."""
    gc.collect()
    statistics = device.memory_stats()
    result["in_use"][name] = statistics["bytes_in_use"]
    result["largest_free"][name] = statistics["largest_free_block_bytes"]


def refused(name, size):
    """Record the error that an array of this size raises."""
    try:
        put(size)
        result["errors"][name] = None
    except jax.errors.JaxRuntimeError as error:
        result["errors"][name] = str(error)


look("empty")
refused("larger than the device", MIB + 1)
look("after a refusal")
whole = put(MIB)
look("full")
refused("one byte too many", 1)
result["intact after refusals"] = bool((np.asarray(whole) == MIB % 251).all())
whole.delete()
look("after delete")
del whole

# Eighths of the memory, every other one freed: half is free, but no block of a quarter.
eighths = [put(MIB // 8) for _ in range(8)]
look("eighths")
for eighth in eighths[::2]:
    eighth.delete()
look("every other eighth")
refused("fragmented", MIB // 4)
fits = put(MIB // 8)
look("a hole filled")
fits.delete()
# Adjacent free blocks before, after, and on both sides.
eighths[1].delete()
look("three joined")
quarter = put(MIB * 3 // 8)
quarter.delete()
for eighth in eighths[3::2]:
    eighth.delete()
look("all joined")
result["usable to the end"] = bool((np.asarray(put(MIB)) == MIB % 251).all())
look("dropped by reference counting")

# The smallest block is one alignment; an empty array also takes one.
small = [put(1), put(512), put(513), put(0)]
look("one, one, two and one pieces")
del small
random = np.random.default_rng(1)
held = []
for _ in range(400):
    if held and random.random() < 0.5:
        held.pop(random.integers(len(held))).delete()
    try:
        held.append(put(int(random.integers(0, 60_000))))
    except jax.errors.JaxRuntimeError:
        held.pop(random.integers(len(held))).delete()
result["contents kept"] = all((np.asarray(array) == array.size % 251).all() for array in held)
look("random")
result["random expected"] = sum(max(1, -(-array.nbytes // 512)) * 512 for array in held)
held.clear()
look("at the end")
result["peak"] = device.memory_stats()["peak_bytes_in_use"]
result["largest"] = device.memory_stats()["largest_alloc_size"]

print(json.dumps(result))
