"""Recompile because an argument has another type, pytree structure or sharding."""

from typing import NamedTuple

import jax
import numpy as np


def _ones(*shape, dtype=np.float32):
    return np.ones(shape, dtype)


@jax.jit
def _double(x):
    return x * 2


@jax.jit
def _add_all(tree):
    return sum(leaf.sum() for leaf in jax.tree.leaves(tree))


class Batch(NamedTuple):
    images: np.ndarray
    labels: np.ndarray


def last_batch_is_smaller():
    for rows in (8, 8, 5):
        _double(_ones(rows, 4))  # shape of x


def other_dtype():
    for dtype in (np.float32, np.int32):
        _double(_ones(4, dtype=dtype))  # dtype of x


def other_rank():
    for shape in ((4,), (4, 1)):
        _double(_ones(*shape))  # shape of x


def python_number_then_numpy():
    for rate in (0.5, np.float32(0.5)):
        _double(rate)  # weak type of x


def integer_then_float():
    for rate in (1, 1.0):
        _double(rate)  # dtype of x


def boolean_mask_of_numbers():
    for dtype in (np.bool_, np.complex64):
        _double(_ones(4, dtype=dtype))  # dtype of x


def key_added_to_a_dict():
    for tree in ({"a": _ones(2)}, {"a": _ones(2), "b": _ones(2)}):
        _add_all(tree)  # number of arguments


def none_added_to_a_dict():
    for tree in ({"a": _ones(2)}, {"a": _ones(2), "b": None}):
        _add_all(tree)  # the structure of tree['b']


def renamed_key():
    for key in ("w", "weights"):
        _add_all({key: _ones(2)})  # array argument 1


def list_then_tuple():
    for kind in (list, tuple):
        _add_all(kind([_ones(2), _ones(2)]))  # the structure of tree


def longer_list():
    for length in (1, 3):
        _add_all([_ones(2)] * length)  # number of arguments


def field_of_a_named_tuple():
    for labels in (2, 3):
        _add_all(Batch(_ones(2), _ones(labels)))  # shape of tree.labels


def keyword_instead_of_position():
    _double(_ones(3))
    _double(x=_ones(3))  # the structure of the call


def default_left_out():
    @jax.jit
    def scale(x, factor=2.0):
        return x * factor

    scale(_ones(3), 3.0)
    scale(_ones(3))  # number of arguments


def unused_argument():
    @jax.jit
    def first(x, ignored):
        return x + 1

    for size in (1, 2):
        first(_ones(3), _ones(size))  # shape of unused argument ignored


def other_sharding():
    mesh = jax.make_mesh((2,), ("d",))
    for spec in (jax.P("d"), jax.P()):
        _double(jax.device_put(_ones(4), jax.NamedSharding(mesh, spec)))  # sharding of x


def other_device():
    for device in jax.devices():
        _double(jax.device_put(_ones(4), device))  # compile option device_assignment


def old_and_new_keys():
    @jax.jit
    def draw(key):
        return jax.random.normal(key, (3,))

    for make in (jax.random.PRNGKey, jax.random.key):
        key = make(0)
        draw(key)  # dtype of key


def two_arguments_change():
    @jax.jit
    def product(x, y):
        return x @ y

    for size in (2, 3):
        product(_ones(4, size), _ones(size, 4))  # shape of x; shape of y


def nested_parameters():
    @jax.jit
    def forward(parameters, x):
        return x @ parameters["layers"][0]["w"] + parameters["layers"][0]["b"]

    for width in (2, 3):
        forward({"layers": [{"w": _ones(4, width), "b": _ones(1)}]}, _ones(4))  # shape of parameters["layers"][0]["w"]
