"""Send arrays of 1, 2, ... 5 bytes, then end as the argument selects."""

import ctypes
import mmap
import os
import signal
import sys
import threading

import jax
import numpy as np

# A background job, as in continuous integration, starts with the interrupt ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)

PUTS = 5


def put(size):
    """Send an array identified by its size."""
    return jax.device_put(np.zeros(size, np.int8))


def returns():
    pass


def exits():
    sys.exit(3)


def exits_with_a_message():
    sys.exit("bad luck")


def exits_at_once():
    os._exit(4)


def raises():
    raise ValueError("from the program: größe")


def raises_in_jax():
    held.delete()
    jax.numpy.sin(held)


def aborts():
    os.abort()


def is_terminated():
    os.kill(os.getpid(), signal.SIGTERM)


def is_interrupted():
    os.kill(os.getpid(), signal.SIGINT)
    threading.Event().wait()


def segfaults_in_a_call():
    # The runtime reads the array's memory, which is no longer readable.
    pages = mmap.mmap(-1, mmap.PAGESIZE)
    array = np.frombuffer(pages, np.int8)
    address = ctypes.c_void_p(array.ctypes.data)
    assert ctypes.CDLL(None).mprotect(address, ctypes.c_size_t(mmap.PAGESIZE), 0) == 0
    jax.device_put(array)


def forks():
    child = os.fork()
    if child == 0:
        print("child", flush=True)
        os._exit(0)
    os.waitpid(child, 0)


def waits_for_a_signal():
    # Not signal.pause(): it would miss a signal that comes just before it.
    while True:
        os.getpid()


def counts_interrupts():
    count = 0

    def tell(*_):
        nonlocal count
        count += 1
        print("interrupt", count, flush=True)

    signal.signal(signal.SIGINT, tell)
    print("ready", flush=True)
    while True:
        signal.pause()


def leaves_a_daemon_thread():
    started = threading.Event()

    def work():
        # A daemon thread that ends inside jaxlib kills any JAX program, so this one sleeps in Python.
        put(PUTS)
        started.set()
        threading.Event().wait()

    threading.Thread(target=work, daemon=True).start()
    started.wait()


def leaves_a_thread():
    threading.Timer(0, put, [PUTS]).start()


held = [put(size) for size in range(1, PUTS + 1)][-1]
print("err", file=sys.stderr, flush=True)
print("out", flush=True)  # last: a waiting process may send a signal at once
globals()[sys.argv[1]]()
