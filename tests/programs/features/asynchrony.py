"""Asynchronous work: calls return early, results are waited for, and many threads share the devices."""

import queue
import threading

import jax
import jax.numpy as jnp
import numpy as np
from checks import check, close, finish, raises, same

DEVICES = jax.devices()
gate = threading.Event()
# A program that does not finish before the gate is opened.
held = jax.jit(lambda x: jax.pure_callback(lambda a: gate.wait(10) and np.asarray(a) + 1, x, x))


@check
def a_call_returns_before_its_work_is_done():
    gate.clear()
    x = held(np.float32(1))
    assert not x.is_ready()
    y = jax.jit(lambda x: x * 2)(x)
    assert not y.is_ready()
    gate.set()
    assert float(y) == 4.0
    assert x.is_ready()


@check
def a_chain_of_work_in_flight():
    step = jax.jit(lambda x: x + 1)
    x = jnp.zeros(4)
    for _ in range(500):
        x = step(x)
    same(x, np.full(4, 500, np.float32))


@check
def a_fan_of_work_in_flight():
    function = jax.jit(lambda x: (x * 2).sum())
    results = [function(jnp.full(10, i)) for i in range(200)]
    assert [int(result) for result in results] == [i * 20 for i in range(200)]


@check
def an_input_freed_while_in_flight():
    gate.clear()
    x = held(np.ones(1000, np.float32))
    y = jax.jit(lambda x: x.sum())(x)
    del x
    gate.set()
    assert float(y) == 2000.0


@check
def a_copy_of_an_array_in_flight():
    gate.clear()
    x = held(np.ones(3, np.float32))
    there = jax.device_put(x, DEVICES[-1])
    x.copy_to_host_async()
    gate.set()
    same(there, np.full(3, 2, np.float32))
    same(x, np.full(3, 2, np.float32))


@check
def a_failure_in_flight_reaches_dependent_work():
    def bad(a):
        raise ValueError("no such luck")

    x = jax.jit(lambda x: jax.pure_callback(bad, jax.ShapeDtypeStruct((), np.float32), x))
    y = jax.jit(lambda x: x + 1)
    raises(Exception, lambda: y(x(1.0)).block_until_ready(), "no such luck")
    assert float(y(1.0)) == 2.0


@check
def devices_work_side_by_side():
    gate.clear()
    waiting = held(jax.device_put(np.float32(1), DEVICES[0]))
    other = jax.jit(lambda x: x * 3)(jax.device_put(np.float32(2), DEVICES[1]))
    assert float(other) == 6.0
    assert not waiting.is_ready()
    gate.set()
    assert float(waiting) == 2.0


@check
def threads_that_compile_and_run():
    failures = queue.SimpleQueue()

    def work(number):
        try:
            function = jax.jit(lambda x: jnp.sin(x).sum() + number)
            for i in range(30):
                x = np.arange(100, dtype=np.float32) + i
                close(function(jax.device_put(x, DEVICES[number % 8])), np.sin(x).sum() + number, 1e-3)
        except BaseException as error:
            failures.put(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures.empty(), failures.get()


@check
def blocking_on_many_arrays_at_once():
    results = jax.block_until_ready([jax.jit(lambda x: x + 1)(float(i)) for i in range(50)])
    assert [float(result) for result in results] == [i + 1 for i in range(50)]


finish()
