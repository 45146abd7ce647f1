"""Wait in every way that JAX has, and loop; lines have the names of their cases. Prints the durations in ns."""

import contextlib
import json
import queue
import sys
import threading
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

TAKES = 0.1  # duration in seconds of a run of `slow`
took = {}


@contextlib.contextmanager
def case(name):
    """Records the duration of a block."""
    began = time.perf_counter_ns()
    yield
    took[name] = time.perf_counter_ns() - began


def asleep(x):
    time.sleep(TAKES)
    return np.asarray(x)


@jax.jit
def slow(x):
    return jax.pure_callback(asleep, jax.ShapeDtypeStruct(x.shape, x.dtype), x) + 1


@jax.jit
def both(x):
    return slow(x), x * 3.0


@jax.jit
def quick(x):
    return x * 2.0


@jax.jit
def step(w, x):
    return w + x, jnp.sum(w)


@jax.jit
def evaluate(w):
    return jnp.max(w)


@jax.jit
def heavy(x):
    return jax.lax.fori_loop(0, 8, lambda _, y: jnp.tanh(y @ y), x)


one = jnp.float32(1.0)
many = jnp.ones((8,), jnp.float32)


def fetch(array):
    return np.asarray(array)  # case: fetch


def one_by_one():
    for each in (one, many):
        slow(each).block_until_ready()
        quick(each).block_until_ready()
    assert one > 0  # compiled before it is inspected
    result = slow(many)
    with case("block_until_ready"):
        result.block_until_ready()  # case: block_until_ready
    result.block_until_ready()  # case: again
    result = slow(many)
    with case("asarray"):
        np.asarray(result)  # case: asarray
    result = slow(one)
    with case("float"):
        float(result)  # case: float
    result = slow(one)
    with case("bool"):
        assert result > 0  # case: bool
    result = slow(one)
    with case("item"):
        result.item()  # case: item
    result = slow(many)
    with case("tolist"):
        result.tolist()  # case: tolist
    result = slow(many)
    with case("print"):
        str(result)  # case: print
    result = slow(many)
    with case("device_get"):
        jax.device_get(result)  # case: device_get
    early, result = quick(many), slow(many)
    early.block_until_ready()
    with case("tree"):
        jax.block_until_ready([result, early])  # case: tree


def read_later():
    result = slow(many)
    result.copy_to_host_async()  # case: copy_to_host_async
    with case("read_later"):
        np.asarray(result)  # case: read_later


def only_asked():
    result = slow(many)
    result.is_ready()  # case: is_ready
    time.sleep(2 * TAKES)


def sleeps_after():
    result = slow(many)
    with case("sleeps_after"):
        result.block_until_ready()  # case: sleeps_after
    time.sleep(3 * TAKES)


def by_callers():
    with case("fetch"):
        fetch(slow(many))  # case: first_caller
        fetch(slow(many))  # case: second_caller


def on_a_thread():
    def wait():
        slow(many).block_until_ready()  # case: thread

    with case("thread"):
        thread = threading.Thread(target=wait, name="waiter")
        thread.start()
        thread.join()


def loader():
    batches = queue.Queue()

    def load():
        for _ in range(3):
            time.sleep(TAKES)
            batches.put(jax.device_put(np.ones(256, np.float32)))  # case: loads
        time.sleep(TAKES)

    thread = threading.Thread(target=load, name="loader")
    thread.start()
    total = one
    for _ in range(3):
        total = step(total, batches.get())[1]
        total.block_until_ready()
    thread.join()


def beside_a_busy_thread():
    """While it waits, another thread makes tens of thousands of calls."""
    enough, over = threading.Semaphore(0), threading.Event()

    def work():
        value = one
        while not over.is_set():
            for _ in range(6_000):
                value = quick(value)
            enough.release()

    def when_enough(x):
        for _ in range(2):  # the first may already be running
            enough.acquire()
        return np.asarray(x)

    wait = jax.jit(lambda x: jax.pure_callback(when_enough, jax.ShapeDtypeStruct(x.shape, x.dtype), x))
    thread = threading.Thread(target=work, name="busy")
    thread.start()
    with case("beside"):
        for _ in range(3):
            wait(many).block_until_ready()  # case: beside
    over.set()
    thread.join()


def on_two_threads():
    """Each reads its own result of the same run."""

    def read(result):
        result.copy_to_host_async()
        with case(threading.current_thread().name):
            np.asarray(result)  # case: both

    results = both(many)
    threads = [threading.Thread(target=read, args=(result,)) for result in results]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def sharded():
    mesh = Mesh(np.array(jax.devices()), ("x",))
    array = jax.device_put(jnp.ones((300, 300)), NamedSharding(mesh, PartitionSpec()))
    heavy(array).block_until_ready()
    result = heavy(array)
    with case("sharded"):
        result.block_until_ready()  # case: sharded


def fails():
    def refuse(x):
        time.sleep(TAKES)
        raise ValueError("on purpose")

    result = jax.jit(lambda x: jax.pure_callback(refuse, jax.ShapeDtypeStruct(x.shape, x.dtype), x))(many)
    with case("fails"), contextlib.suppress(jax.errors.JaxRuntimeError):
        result.block_until_ready()  # case: fails


def full_queue():
    matrix = jnp.ones((300, 300))
    heavy(matrix).block_until_ready()
    result = matrix
    with case("full_queue"):
        for _ in range(60):
            result = heavy(result)  # case: full_queue
    with case("drained"):
        result.block_until_ready()  # case: drained


def train():
    weights = jnp.zeros((16,))
    for number in range(12):
        batch = jax.device_put(np.full((16,), number, np.float32))  # case: batch
        weights, loss = step(weights, batch)  # case: step
        float(loss)
        if number % 5 == 4:
            float(evaluate(weights))


def tight():
    value = one
    for _ in range(30):
        value = quick(value)  # case: tight


def epochs():
    weights = jnp.zeros((32,))
    for _ in range(4):
        for number in range(25):
            weights, _ = step(weights, number)  # case: inner
        for _ in range(15):
            evaluate(weights)  # case: validation
        np.asarray(weights)  # case: epoch


CASES = {
    "loader": (loader,),
    "waits": (one_by_one, read_later, only_asked, sleeps_after, by_callers, on_a_thread, sharded, fails, full_queue),
    "train": (train,),
    "tight": (tight,),
    "both": (on_two_threads,),
    "busy": (beside_a_busy_thread,),
    "epochs": (epochs,),
}
for run in CASES[sys.argv[1]]:
    run()
print(json.dumps(took))
