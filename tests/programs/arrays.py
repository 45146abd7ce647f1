"""Send arrays of every dtype, shape and layout to the device and back; print those that differ in any bit."""

import json
import zlib

import jax
import ml_dtypes
import numpy as np

jax.config.update("jax_enable_x64", True)
device = jax.devices()[0]
random = np.random.default_rng(0)
sent = {}
problems = []


def check(name, array):
    """Send an array; the runtime must receive its type and shape, and the returned array must have the same bytes."""
    put = jax.device_put(array, device)
    back = np.asarray(put)
    want = np.asarray(array)
    if back.dtype != want.dtype or back.shape != want.shape or put.devices() != {device}:
        problems.append([name, str(back.dtype), str(back.shape)])
    elif zlib.crc32(np.ascontiguousarray(back).tobytes()) != zlib.crc32(np.ascontiguousarray(want).tobytes()):
        problems.append([name, "bytes differ"])
    sent[name] = [str(want.dtype), list(want.shape), want.nbytes]


def every_bit_pattern(dtype):
    """An array of each value of the type, or many random ones; including NaN payloads and signed zeros."""
    dtype = np.dtype(dtype)
    if dtype == np.bool_:
        return np.array([False, True] * 8)
    bits = bits_of(dtype)
    if bits <= 8:
        return np.arange(256, dtype=np.uint8).view(dtype) if bits == 8 else small(dtype, bits)
    return random.integers(0, 256, 96 * dtype.itemsize, dtype=np.uint8).view(dtype)


def bits_of(dtype):
    """The number of bits of a value."""
    if dtype.kind in "iu" or "int" in dtype.name:
        return int(jax.numpy.iinfo(dtype).bits)
    return 8 * dtype.itemsize if dtype.kind == "c" else int(jax.numpy.finfo(dtype).bits)


def small(dtype, bits):
    """Every value of a type that occupies a whole byte in memory and uses part of it."""
    if "int" in dtype.name:
        info = jax.numpy.iinfo(dtype)
        return np.arange(int(info.min), int(info.max) + 1).astype(dtype)
    return np.arange(2**bits, dtype=np.uint8).view(dtype)


DTYPES = [
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
    *(getattr(ml_dtypes, name) for name in dir(ml_dtypes) if name.startswith(("bfloat", "float", "int", "uint"))),
]


def is_known(dtype):
    """Whether this jaxlib has the type: newer versions of ml_dtypes have more."""
    try:
        jax.device_put(np.zeros((), dtype))
    except jax.errors.JaxRuntimeError as error:
        if "Unknown NumPy dtype" in str(error):
            return False
        raise
    return True


for dtype in filter(is_known, DTYPES):
    values = every_bit_pattern(dtype)
    name = np.dtype(dtype).name
    check(f"{name} vector", values)
    check(f"{name} matrix", values[: len(values) // 4 * 4].reshape(4, -1))
    check(f"{name} scalar", values[1:2].reshape(()))
    check(f"{name} empty", values[:0])
    check(f"{name} Fortran order", np.asfortranarray(values[: len(values) // 4 * 4].reshape(4, -1)))
    check(f"{name} backwards", values[::-1])
    check(f"{name} every other", values[::2])

cube = np.arange(2 * 3 * 5, dtype=np.int32).reshape(2, 3, 5)
LAYOUTS = {
    "transposed": cube.transpose(2, 0, 1),
    "inner slice": cube[:, 1:, 1:4],
    "negative strides": cube[::-1, ::-1, ::-2],
    "broadcast (stride 0)": np.broadcast_to(cube[:, :1], (2, 3, 5)),
    "new axis": cube[:, None, ::2],
    "one element of many": cube[1:2, 2:3, 4:5],
    "zero in the middle": cube[:, :0],
    "eight dimensions": np.arange(256, dtype=np.int16).reshape((2,) * 8).transpose(7, 0, 6, 1, 5, 2, 4, 3),
    "read-only": np.frombuffer(b"framedex" * 4, np.float32),
    "unaligned": np.frombuffer(b"x" + np.arange(8, dtype=np.float64).tobytes(), np.float64, offset=1),
    "big-endian": np.arange(5, dtype=">i4").astype("<i4")[::-1],
    "record field": np.zeros(7, dtype=[("a", "i1"), ("b", "<f4")])["b"],
}
for name, array in LAYOUTS.items():
    check(name, array)
check("64 MiB", random.integers(0, 2**62, 8 << 20, dtype=np.int64))
check("64 MiB transposed", random.integers(0, 2**31, (4096, 4096), dtype=np.int32).T)

for name, value in {"int": 7, "float": 2.5, "bool": True, "complex": 1 + 2j, "big": 2**40, "nan": float("nan")}.items():
    back = jax.device_put(value).item()
    if repr(back) != repr(value):
        problems.append([f"Python {name}", repr(back)])

print(json.dumps({"problems": problems, "sent": sent}))
