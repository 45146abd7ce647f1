"""Loops of a library around, within and beside loops of the program; only loops of the program have iterations."""

import jax
import jax.numpy as jnp
import numpy as np
import training_library as library

kept = []


@jax.jit
def double(x):
    return x * 2.0


def put(count):
    return jax.device_put(np.ones(count, np.float32))


def step(value):
    return double(value)


def leaking_step(value):
    kept.append(put(256))
    return double(value)


def step_of_two(value):
    return double(double(value) + 1.0)


def step_with_a_loop(value):
    for _ in range(3):
        value = double(value)  # 24 iterations
    return value


def library_alone():
    library.fit(step, jnp.ones(4), 10)
    library.fit(leaking_step, jnp.ones(4), 10)
    library.fit(step_of_two, jnp.ones(4), 10)
    library.fit(step_with_a_loop, jnp.ones(4), 8)
    library.fit_while(lambda value: double(value), jnp.ones(5))
    library.fit_epochs(leaking_step, jnp.ones(4), 3, 5)
    library.recurse(step_of_two, jnp.ones(7), 6)
    trainer = library.Trainer(lambda batch: double(batch), [lambda number: kept.append(put(64 + number))])
    trainer.fit([jnp.ones(6)] * 4)
    trainer.predict([jnp.ones(6)] * 7)


def epochs():
    for _ in range(5):
        library.fit(step, jnp.ones(3), 10)  # 5 iterations


def epochs_of_two_steps():
    for _ in range(4):
        library.fit(step, jnp.ones(3), 10)  # 4 iterations
        library.fit(step_of_two, jnp.ones(3), 10)


def two_epochs():
    """A library loop repeats more calls than these loops have iterations."""
    for _ in range(2):
        library.fit(step_of_two, jnp.ones(3), 10)
    for _ in range(2):
        library.Trainer(step_of_two).fit([jnp.ones(6)] * 4)
    for _ in range(3):
        library.fit_epochs(step_of_two, jnp.ones(3), 2, 10)
        float(double(jnp.ones(())))
    for _ in range(2):
        list(map(double, library.loader(10)))
    for _ in range(2):
        put(10)
        library.fit(step, put(10), 9)
        put(10)


def batches_of_a_library():
    for batch in library.loader(6):
        double(batch)  # 6 iterations
    for batch in library.loader(6, lambda batch: double(batch)):
        double(batch)  # 6 iterations
    for batch in library.prefetch(library.loader(8)):
        double(batch)  # 8 iterations


library_alone()
epochs()
epochs_of_two_steps()
two_epochs()
batches_of_a_library()
