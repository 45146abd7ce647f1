"""Compile programs on the main thread, then on four threads at once, while the main thread sends arrays from one line.

Prints the thread id and count for each compiling line. The length of the programs' names, and so their size, identifies
the thread.
"""

import json
import threading

import jax
import numpy as np

PROGRAMS = 3
JUST_LONGER = 400  # characters: the sizes of one thread's programs differ by less


def program(number):
    """A new function whose name gives its program a unique size."""

    def function(x):
        return x * number + 1

    function.__name__ = "f" * (1 + number * JUST_LONGER)
    return jax.jit(function)


def here(number):
    """Compile and run on the main thread."""
    program(number)(np.ones(number + 1, np.float32))


def first(x):
    """Compile and run on the first thread; the others also have a line each."""
    program(1)(x).block_until_ready()


def second(x):
    program(2)(x).block_until_ready()


def third(x):
    program(3)(x).block_until_ready()


def fourth(x):
    program(4)(x).block_until_ready()


def work(function):
    """Compile a few programs on this thread."""
    truth[function.__name__] = threading.get_native_id()
    start.wait()
    for size in range(PROGRAMS):
        function(np.ones(size + 1, np.float32))


def main():
    """Compile on this thread, then on the other."""
    here(0)
    workers = [threading.Thread(target=work, args=(function,)) for function in (first, second, third, fourth)]
    for worker in workers:
        worker.start()
    while alive := [worker for worker in workers if worker.is_alive()]:
        jax.device_put(np.zeros(3, np.int8))
        alive[0].join(0.01)
    for worker in workers:
        worker.join()


truth = {"here": threading.get_native_id()}
start = threading.Barrier(4)
main()
print(json.dumps(truth))
