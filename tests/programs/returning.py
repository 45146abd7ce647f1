"""Arrays that die when the function that holds them returns, each in another way of calling that function."""

import jax
import numpy as np


def holder():
    """Holds an array to its end."""
    array = jax.device_put(np.ones(3, np.int8))
    assert array.size == 3


def called_from_python():
    """Python calls Python."""
    holder()


def called_from_c():
    """C calls Python: a run of its own on the stack."""
    sorted([1], key=lambda _: holder() or 0)


class Box:
    """Holds an array as long as it lives."""

    def __init__(self):
        self.array = jax.device_put(np.ones(3, np.int8))


def boxed():
    """The array dies with an object that dies."""
    box = Box()
    assert box.array.size == 3


def deleted():
    """Nothing returns here: the array dies in the middle of a function."""
    array = jax.device_put(np.ones(3, np.int8))
    del array
    assert True


called_from_python()
called_from_c()
boxed()
deleted()
