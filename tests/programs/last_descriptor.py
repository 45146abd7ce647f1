"""Open a file with the last free descriptor repeatedly while recorded; then continue with none left.

Threads and recordings start and stop meanwhile. Prints how often the file could not be opened.
"""

import json
import os
import resource
import sys
import threading

import jax

import framedex_native

ROUNDS = int(sys.argv[1])
folder = sys.argv[2]
THREADS = 4
LIMIT = 200
device = jax.devices()[0]
captures = []


def call(count):
    """Call the runtime in ways that make JAX open no file."""
    for _ in range(count):
        device.memory_stats()


def record_rounds():
    """Record threads that begin and end, and one segment after another."""
    for _ in range(ROUNDS):
        captures.append(str(framedex_native.start(folder)))
        threads = [threading.Thread(target=call, args=(2_000,)) for _ in range(THREADS)]
        for thread in threads:
            thread.start()
        call(10)
        for thread in threads:
            thread.join()
        framedex_native.stop()


# The first start of a process loads the module that records JAX's compilations, from files.
framedex_native.start(folder)
call(10)
framedex_native.stop()
resource.setrlimit(resource.RLIMIT_NOFILE, (LIMIT, LIMIT))
held = []
while True:
    try:
        held.append(os.open("/dev/null", os.O_RDONLY))
    except OSError:
        break
os.close(held.pop())
recording = threading.Thread(target=record_rounds)
recording.start()
failed = opened = 0
while recording.is_alive():
    try:
        os.close(os.open("/dev/urandom", os.O_RDONLY))
    except OSError:
        failed += 1
    opened += 1
recording.join()
held.append(os.open("/dev/null", os.O_RDONLY))
record_rounds()
for descriptor in held:
    os.close(descriptor)
print(json.dumps({"failed": failed, "opened": opened, "captures": captures}))
