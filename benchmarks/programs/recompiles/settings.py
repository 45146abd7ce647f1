"""Recompile because a setting of JAX changed, or an eager primitive has another parameter."""

import jax
import jax.numpy as jnp
import numpy as np

X = np.ones((4, 4), np.float32)


@jax.jit
def _product(x):
    return x @ x


def matrix_precision():
    for precision in ("float32", "bfloat16"):
        with jax.default_matmul_precision(precision):
            _product(X)  # JAX setting jax_default_matmul_precision


def wide_types():
    for is_wide in (False, True):
        with jax.enable_x64(is_wide):
            _product(X)  # JAX setting jax_enable_x64


def derivative_of_softmax():
    for is_custom in (False, True):
        with jax.softmax_custom_jvp(is_custom):
            _product(X)  # JAX setting jax_softmax_custom_jvp


def promotion_of_ranks():
    for mode in ("allow", "raise"):
        with jax.numpy_rank_promotion(mode):
            _product(X)  # JAX setting jax_numpy_rank_promotion


def promotion_of_dtypes():
    for mode in ("standard", "strict"):
        with jax.numpy_dtype_promotion(mode):
            _product(X)  # JAX setting jax_numpy_dtype_promotion


def default_device():
    for device in jax.devices():
        with jax.default_device(device):
            _product(X)  # JAX setting jax_default_device; compile option device_assignment


def partitionable_random_numbers():
    for is_partitionable in (False, True):
        with jax.threefry_partitionable(is_partitionable):
            _product(X)  # JAX setting jax_threefry_partitionable


def mesh_of_the_context():
    _product(X)
    with jax.set_mesh(jax.make_mesh((2,), ("d",))):
        _product(X)  # sharding: devices; JAX setting abstract_mesh_context_manager


def shape_of_zeros():
    for size in (3, 4):
        jnp.zeros((size,))  # parameter shape


def copies_of_a_tile():
    for copies in (2, 3):
        jnp.tile(X, copies)  # parameter reps


def axis_of_a_sum():
    for axis in (0, 1):
        jnp.sum(X, axis=axis)  # static argument axis


def shape_of_random_numbers():
    key = jax.random.key(0)
    for size in (3, 4):
        jax.random.normal(key, (size,))  # static argument shape


def end_of_a_range():
    for end in (3, 4):
        jnp.arange(end)  # parameter shape


def static_slices():
    x = jax.device_put(X)
    for end in (2, 3):
        x[:end]  # parameter slice_sizes


def width_of_a_pad():
    for width in (1, 2):
        jnp.pad(X, width)  # static argument pad_width


def eager_shape():
    for size in (3, 4):
        jnp.sin(np.ones(size, np.float32))  # shape of x
