"""Threads run all kinds of work at once, on the mock's devices and the CPU's, and check every number.

stress.py SECONDS [THREADS] [SEED]

A thread without progress for HANG seconds ends the program with the stacks of all threads. Prints the count of each
kind of work, and the first failures.
"""

import collections
import faulthandler
import json
import logging
import os
import random
import shutil
import subprocess
import sys
import threading
import time
import traceback

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback
from jax.sharding import Mesh, NamedSharding, PartitionSpec

SECONDS = float(sys.argv[1])
THREADS = int(sys.argv[2]) if len(sys.argv) > 2 else 6
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 0
HANG = 60
MOCK, CPU = jax.devices(), jax.devices("cpu")
MESH = Mesh(np.array(MOCK), ("x",))
ALONG = PartitionSpec("x")
WORK = []
counts, failures, last = collections.Counter(), [], {}
stop = threading.Event()


def work(function):
    """Register a kind of work: a function of a random generator and an array of 32 numbers on some device."""
    WORK.append(function)
    return function


def close(result, want, tolerance=1e-3):
    """Assert that the numbers are right."""
    np.testing.assert_allclose(np.asarray(result), want, rtol=tolerance, atol=tolerance)


sine = jax.jit(lambda x: jnp.sin(x) * 2 + x)
slope = jax.jit(jax.grad(lambda x: jnp.sum(jnp.tanh(x) ** 2)))
sums = jax.jit(lambda x: jax.lax.scan(lambda c, y: (c + y, c), 0.0, x))
bump = jax.jit(lambda x: x + 1, donate_argnums=0)
product = jax.jit(lambda x: x.reshape(4, 8) @ x.reshape(8, 4))
many = jax.jit(lambda xs: [x * i for i, x in enumerate(xs)])
collective = jax.jit(
    jax.shard_map(
        lambda x: jax.lax.psum(x, "x") + jax.lax.ppermute(x, "x", [(i, (i + 1) % 8) for i in range(8)]),
        mesh=MESH, in_specs=ALONG, out_specs=ALONG,
    )
)  # fmt: skip


@work
def elementwise(rng, x, values):
    close(sine(x), np.sin(values) * 2 + values)


@work
def gradient(rng, x, values):
    close(slope(x), 2 * np.tanh(values) * (1 - np.tanh(values) ** 2))


@work
def scan(rng, x, values):
    total, before = sums(x)
    close(total, values.sum())
    close(before, np.cumsum(values) - values)


@work
def matrix_product(rng, x, values):
    close(product(x), values.reshape(4, 8) @ values.reshape(8, 4), 1e-2)


@work
def fifty_arrays(rng, x, values):
    results = many([x] * 50)
    for i in rng.sample(range(50), 5):
        close(results[i], values * i)


@work
def chain_in_flight(rng, x, values):
    for _ in range(20):
        x = sine(x * 0)
        x = x + values
    close(x, values)


@work
def donation(rng, x, values):
    moved = jax.device_put(values, next(iter(x.devices())))
    result = bump(bump(moved))
    close(result, values + 2)
    assert moved.is_deleted()


@work
def deletion(rng, x, values):
    result = sine(x)
    x.delete()
    close(result, np.sin(values) * 2 + values)
    try:
        np.asarray(x)
    except RuntimeError as error:
        assert "deleted" in str(error)
    else:
        raise AssertionError("a deleted array was read")


@work
def copies(rng, x, values):
    for device in rng.sample([*MOCK, *CPU], 3):
        x = jax.device_put(x, device)
    close(x, values, 0)
    assert x.devices() == {device}


@work
def new_program(rng, x, values):
    number = rng.random()
    close(jax.jit(lambda x: jnp.cos(x) + number)(x), np.cos(values) + number)


@work
def ahead_of_time(rng, x, values):
    number = rng.random()
    compiled = jax.jit(lambda x: x * number - 1).lower(x).compile()
    close(compiled(x), values * number - 1)
    assert compiled.memory_analysis() is not None


@work
def sharded_program(rng, x, values):
    whole = jax.device_put(values, NamedSharding(MESH, ALONG))
    close(jax.jit(lambda x: x.sum() + x)(whole), values.sum() + values, 1e-2)


@work
def collectives(rng, x, values):
    parts = values.reshape(8, 4)
    close(collective(values).reshape(8, 4), parts.sum(0) + np.roll(parts, 1, axis=0), 1e-2)


@work
def pure_callback(rng, x, values):
    function = jax.jit(lambda x: jax.pure_callback(lambda a: np.cos(np.asarray(a)), x, x) + 1)
    close(function(x), np.cos(values) + 1)


@work
def callback_into_the_device(rng, x, values):
    if x.devices() <= set(CPU):
        return  # JAX's own CPU backend may deadlock here
    function = jax.jit(lambda x: jax.pure_callback(lambda a: np.asarray(sine(np.asarray(a))), x, x) + 1)
    close(function(x), np.sin(values) * 2 + values + 1)


@work
def ordered_effects(rng, x, values):
    seen = []

    @jax.jit
    def function(x):
        for i in range(3):
            io_callback(lambda a, i=i: seen.append((i, float(np.asarray(a)))), None, x[i], ordered=True)
        return x * 2

    close(function(x), values * 2)
    jax.effects_barrier()
    assert [i for i, _ in seen] == [0, 1, 2], seen
    close([value for _, value in seen], values[:3], 0)


@work
def debug_callback(rng, x, values):
    seen = []
    jax.jit(lambda x: jax.debug.callback(lambda a: seen.append(np.asarray(a).sum()), x))(x)
    jax.effects_barrier()
    close(seen, [values.sum()])


@work
def failing_callback(rng, x, values):
    def bad(a):
        raise ValueError("no such luck")

    try:
        (jax.jit(lambda x: jax.pure_callback(bad, x, x))(x) + 1).block_until_ready()
    except Exception as error:
        assert "no such luck" in str(error), error
    else:
        raise AssertionError("the callback's exception was lost")
    # JAX keeps the failure for this thread's next effects_barrier(), until the device has run another callback.
    pure_callback(rng, x, values)


@work
def transfers(rng, x, values):
    big = np.arange(rng.randrange(1, 200_000), dtype=np.int32)
    put = jax.device_put(big, rng.choice(MOCK))
    put.copy_to_host_async()
    assert (np.asarray(put) == big).all()


@work
def random_numbers(rng, x, values):
    seed = rng.randrange(1000)
    device = next(iter(x.devices()))
    with jax.default_device(device):
        here = np.asarray(jax.random.normal(jax.random.key(seed), (8,)))
    with jax.default_device(CPU[0]):
        close(here, np.asarray(jax.random.normal(jax.random.key(seed), (8,))), 1e-5)


def thread(number):
    """Work until stopped and every kind has run, or until a failure."""
    rng = random.Random(SEED * 1000 + number)
    while failures == [] and (first_round or not stop.is_set()):
        kind = next_kind(rng)
        last[number] = (time.monotonic(), kind.__name__)
        values = np.float32([rng.uniform(-2, 2) for _ in range(32)])
        try:
            kind(rng, jax.device_put(values, rng.choice([*MOCK, *MOCK, *CPU])), values)
        except BaseException:
            failures.append(f"{kind.__name__}: {traceback.format_exc()}")
        counts[kind.__name__] += 1
    last.pop(number, None)


def next_kind(rng):
    """The next kind: each of them in the first round, and any later on."""
    try:
        return first_round.popleft()
    except IndexError:
        return rng.choice(WORK)


first_round = collections.deque(random.Random(SEED).sample(WORK, len(WORK)))


def dump_and_die():
    """Print every thread's stack if possible, and exit."""
    stuck = {number: name for number, (since, name) in last.items() if time.monotonic() - since > HANG / 2}
    print(f"stress: no progress for {HANG} s in {stuck}", file=sys.stderr, flush=True)
    faulthandler.dump_traceback()
    if gdb := shutil.which("gdb"):
        subprocess.run(
            [gdb, "-nx", "-batch", "-p", str(os.getpid()), "-ex", "thread apply all bt 30"], stdout=sys.stderr
        )
    os._exit(3)


def main():
    """Start the threads, watch them, and report."""
    for name in ("jax._src.callback", "jax._src.debugging"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    threads = [threading.Thread(target=thread, args=(number,)) for number in range(THREADS)]
    for one in threads:
        one.start()
    end = time.monotonic() + SECONDS
    while any(one.is_alive() for one in threads):
        # If even this thread hangs, the interpreter's own watchdog ends the program.
        faulthandler.dump_traceback_later(HANG * 2, exit=True)
        if time.monotonic() > end:
            stop.set()
        now = time.monotonic()
        if any(now - since > HANG for since, _ in list(last.values())):
            dump_and_die()
        next(one for one in [*threads, threads[0]] if one.is_alive() or one is threads[0]).join(0.2)
    faulthandler.cancel_dump_traceback_later()
    print(
        json.dumps(
            {
                "done": sum(counts.values()),
                "kinds": dict(counts),
                "all": [k.__name__ for k in WORK],
                "failures": failures[:3],
            }
        )
    )
    sys.exit(1 if failures else 0)


main()
