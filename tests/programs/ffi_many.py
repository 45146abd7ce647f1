"""Run a handler many times in many threads: ffi_many.py LIBRARY THREADS RUNS."""

import json
import sys
import threading

import ffi_examples
import jax
import jax.numpy as jnp

ffi_examples.register(sys.argv[1])
threads, runs = int(sys.argv[2]), int(sys.argv[3])


@jax.jit
def program(x):
    return jax.lax.scan(lambda carry, _: (ffi_examples.rms_norm(carry), ()), x, length=runs // 5)[0]


def work(x):
    for _ in range(5):
        x = program(x)
    x.block_until_ready()


x = jnp.ones((1, 4), jnp.float32)
program.lower(x).compile()
workers = [threading.Thread(target=work, args=(x,)) for _ in range(threads)]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()
print(json.dumps({"runs": threads * (runs // 5) * 5}))
