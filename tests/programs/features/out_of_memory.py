"""A device of 1 MiB: programs whose inputs, results or temporaries do not fit, and the process after them."""

import jax
import jax.numpy as jnp
import numpy as np
from checks import check, close, finish, raises, same

MIB = 1 << 20
OutOfMemory = jax.errors.JaxRuntimeError
make = jax.jit(lambda x, n: jnp.full((n,), x, jnp.int8), static_argnums=1)


def device_works():
    """Whether a small program still runs."""
    close(jax.jit(lambda x: x * 2)(np.arange(4, dtype=np.float32)), np.arange(4) * 2)


@check
def a_result_that_does_not_fit():
    raises(OutOfMemory, lambda: make(1, 2 * MIB).block_until_ready(), "RESOURCE_EXHAUSTED")
    device_works()


@check
def results_that_fit_alone_but_not_together():
    first = make(1, 3 * MIB // 4)
    first.block_until_ready()
    raises(OutOfMemory, lambda: make(2, MIB // 2).block_until_ready(), "RESOURCE_EXHAUSTED")
    same(first[:3], np.ones(3, np.int8))
    first.delete()
    same(make(2, MIB // 2)[:3], np.full(3, 2, np.int8))
    device_works()


@check
def an_input_that_does_not_fit():
    raises(OutOfMemory, lambda: jax.jit(lambda x: x[0])(np.ones(2 * MIB, np.int8)), "RESOURCE_EXHAUSTED")
    device_works()


@check
def deleted_arguments_make_room():
    first_one = jax.jit(lambda x: x[0])
    for value in range(5):
        x = jax.device_put(np.full(3 * MIB // 4, value, np.int8))
        close(first_one(x), value)
        del x


@check
def repeated_failures():
    for _ in range(20):
        raises(OutOfMemory, lambda: make(1, 2 * MIB).block_until_ready(), "RESOURCE_EXHAUSTED")
    device_works()


@check
def failures_leak_no_memory():
    import gc

    gc.collect()
    assert jax.devices()[0].memory_stats()["bytes_in_use"] < MIB // 16


finish()
