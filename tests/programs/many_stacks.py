"""Send arrays from every kind of stack repeatedly: each line below is another path into the runtime."""

import functools
import json
import sys
import threading

import jax
import numpy as np

array = np.arange(6, dtype=np.float32).reshape(2, 3)


def recursive(depth):
    """Through the given number of Python frames."""
    return recursive(depth - 1) if depth else jax.device_put(array)


def generator():
    """From a generator."""
    for _ in range(2):
        yield jax.device_put(array)


class Lazy:
    """Sends an array from a method that C calls."""

    def __array__(self, dtype=None, copy=None):
        return np.asarray(jax.device_put(array))


def once(number):
    """Every path once; the number chooses depths, so that stacks vary."""
    recursive(number % 17)
    list(generator())
    list(map(jax.device_put, [array, array]))
    sorted([2, 1], key=lambda _: jax.device_put(array).size)
    functools.reduce(lambda _, value: jax.device_put(value), [array] * 3)
    jax.tree_util.tree_map(jax.device_put, {"a": array, "b": [array]})
    np.asarray(Lazy())
    eval("jax.device_put(array)")
    jax.device_put(array).delete()


def work(count):
    """Every path, the given number of times."""
    for number in range(count):
        once(number)


rounds = int(sys.argv[1])
work(rounds)
threads = [threading.Thread(target=work, args=(rounds // 4,)) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(json.dumps(rounds))
