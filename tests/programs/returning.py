"""Arrays destroyed when the function that holds them returns, each called in another way."""

import jax
import numpy as np


def holder():
    """Holds an array until it returns."""
    array = jax.device_put(np.ones(3, np.int8))
    assert array.size == 3


def called_from_python():
    """Python calls Python."""
    holder()


def called_from_c():
    """C calls Python: a separate run of frames on the stack."""
    sorted([1], key=lambda _: holder() or 0)


class Box:
    """Holds an array for its own lifetime."""

    def __init__(self):
        self.array = jax.device_put(np.ones(3, np.int8))


def boxed():
    """The array is destroyed with its owner."""
    box = Box()
    assert box.array.size == 3


def deleted():
    """Without a return: the array is destroyed in the middle of a function."""
    array = jax.device_put(np.ones(3, np.int8))
    del array
    assert True


called_from_python()
called_from_c()
boxed()
deleted()
