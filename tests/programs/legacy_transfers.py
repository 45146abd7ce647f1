"""Operations of jaxlib 0.4.13 on the mock's cores: list, put, fetch, copy, delete, run out of memory."""

import json
import sys
import threading

import jax
import numpy as np

TYPES = ("bool", "int8", "uint16", "int32", "float16", "float32", "complex64")


def put_and_fetch(value, device):
    array = jax.device_put(value, device)
    fetched = np.asarray(array)
    array.delete()
    return bool(fetched.dtype == value.dtype and np.array_equal(fetched, value))


def in_threads(devices):
    """One thread per core, each with its own values."""
    wrong = []

    def work(device):
        for i in range(20):
            if not put_and_fetch(np.arange(100, dtype=np.int32) * (device.id + 1) + i, device):
                wrong.append((device.id, i))

    threads = [threading.Thread(target=work, args=(device,)) for device in devices]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return wrong


def message_of(function):
    try:
        function()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


devices = jax.devices()
shapes = {
    "scalar": np.int32(7),
    "empty": np.zeros((0, 3), np.float32),
    "transposed": np.arange(24, dtype=np.float32).reshape(2, 3, 4).T,
    "strided": np.arange(24, dtype=np.int32).reshape(4, 6)[::2, 1::2],
    "rank 8": np.arange(256, dtype=np.int32).reshape((2,) * 8),
}
on_first = jax.device_put(np.arange(6, dtype=np.float32), devices[0])
result = {
    "devices": [[device.id, device.device_kind, list(device.coords), device.core_on_chip] for device in devices],
    "kinds": {name: put_and_fetch(np.ones((3, 5), name), devices[0]) for name in TYPES},
    "shapes": {name: put_and_fetch(value, devices[-1]) for name, value in shapes.items()},
    "threads": in_threads(devices),
    "copied": np.asarray(jax.device_put(on_first, devices[-1])).tolist(),
    "too large": message_of(lambda: jax.device_put(np.zeros(int(sys.argv[1]), np.uint8), devices[0])),
    "after that": put_and_fetch(np.ones(100, np.float32), devices[0]),
}
print(json.dumps(result))
