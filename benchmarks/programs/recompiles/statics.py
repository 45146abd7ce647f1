"""Recompile because a static argument or the static data of a pytree changed."""

import dataclasses
import enum
import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

X = np.ones(4, np.float32)


class Mode(enum.Enum):
    TRAIN = 1
    EVAL = 2


@dataclasses.dataclass(frozen=True)
class Config:
    width: int
    mode: Mode = Mode.TRAIN


class Model:
    def __init__(self, scale):
        self.scale = scale

    @functools.partial(jax.jit, static_argnums=0)
    def apply(self, x):
        return x * self.scale


@functools.partial(jax.tree_util.register_dataclass, data_fields=["w"], meta_fields=["rate", "name"])
@dataclasses.dataclass
class State:
    w: np.ndarray
    rate: float = 0.1
    name: str = "sgd"


@jax.tree_util.register_pytree_node_class
class Tagged:
    def __init__(self, value, tag):
        self.value, self.tag = value, tag

    def tree_flatten(self):
        return (self.value,), self.tag

    @classmethod
    def tree_unflatten(cls, tag, children):
        return cls(*children, tag)


class Layers(NamedTuple):
    widths: tuple
    activation: object


@functools.partial(jax.jit, static_argnums=1)
def _use(x, option):
    return x * 2


@functools.partial(jax.jit, static_argnames=("steps", "is_training"))
def _train(x, steps=1, is_training=True):
    for _ in range(steps):
        x = jnp.sin(x) if is_training else x
    return x


@jax.jit
def _read(state):
    return jax.tree.leaves(state)[0] * 2


def static_number():
    for number in (1, 2):
        _use(X, number)  # static argument option


def static_text():
    for mode in ("same", "valid"):
        _use(X, mode)  # static argument option


def static_enum():
    for mode in Mode:
        _use(X, mode)  # static argument option


def static_dataclass():
    for width in (2, 3):
        _use(X, Config(width))  # static argument option


def static_keyword():
    for steps in (2, 3):
        _train(X, steps=steps)  # static argument steps


def training_then_evaluation():
    for is_training in (True, False):
        _train(X, is_training=is_training)  # static argument is_training


def static_default_left_out():
    _train(X, steps=2)
    _train(X)  # static argument steps


def static_object_without_equality():
    for _ in range(2):
        _use(X, object())  # static argument option


def static_lambda():
    for _ in range(2):
        _use(X, lambda x: x)  # static argument option


def static_partial():
    for _ in range(2):
        _use(X, functools.partial(jnp.sum, axis=0))  # static argument option


def static_function():
    for function in (jnp.sin, jnp.cos):
        _use(X, function)  # static argument option


def static_tuple():
    for layers in ((2, 3), (2, 4)):
        _use(X, layers)  # static argument option


def static_named_tuple_with_a_lambda():
    for _ in range(2):
        _use(X, Layers((2, 3), lambda x: x))  # static argument option


def method_of_new_objects():
    for scale in (2.0, 3.0):
        Model(scale).apply(X)  # static argument self


def static_field():
    for rate in (0.1, 0.2):
        _read(State(X, rate))  # static data state.rate


def two_static_fields():
    for rate, name in ((0.1, "sgd"), (0.2, "adam")):
        _read(State(X, rate, name))  # static data state.rate; static data state.name


def auxiliary_data_of_a_node():
    for tag in ("a", "b"):
        _read(Tagged(X, tag))  # static data state


def function_in_a_partial():
    for _ in range(2):
        _read(jax.tree_util.Partial(lambda x: x, X))  # static data state


def static_field_of_a_nested_node():
    for rate in (0.1, 0.2):
        _read({"state": [State(X, rate)]})  # static data state['state'][0].rate
