"""Programs on arrays of every type, of no elements, and of unusual strides."""

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from checks import SkippedError, check, close, finish, same

jax.config.update("jax_enable_x64", True)
SMALL_INTEGERS = ("int2", "uint2", "int4", "uint4")
SMALL_FLOATS = (
    *("float8_e4m3fn", "float8_e5m2", "float8_e4m3b11fnuz", "float8_e4m3fnuz", "float8_e5m2fnuz"),
    *("float8_e3m4", "float8_e4m3", "float8_e8m0fnu", "float4_e2m1fn"),
)
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "bfloat16", "float32", "float64")
COMPLEX = ("complex64", "complex128")


def dtype_of(name):
    """NumPy's type of a name that only ml_dtypes may define."""
    return np.dtype(getattr(ml_dtypes, name, name))


def passes_through(name):
    """An array passes through a program unchanged, reversed, and reshaped."""
    want = np.array([0, 1, 1, 0, 1, -1 if "u" not in name and name != "bool" else 2]).astype(dtype_of(name))
    whole, backwards = jax.jit(lambda x: (x, x[::-1]))(jax.device_put(want))
    same(whole, want)
    same(backwards, want[::-1])
    if jax.__version_info__ >= (0, 9) or name not in (*SMALL_INTEGERS, "float4_e2m1fn"):
        # XLA's CPU compiler of jaxlib 0.8 transposes values of less than a byte incorrectly.
        same(jax.jit(lambda x: x.reshape(2, 3).T)(want), want.reshape(2, 3).T)


def converts(name):
    """A program computes in float32 from a small type and back."""
    want = np.array([1, 1, 1, 1, 1]).astype(dtype_of(name))
    close(jax.jit(lambda x: x.astype(jnp.float32) * 2 + 1)(want), want.astype(np.float32) * 2 + 1)
    same(jax.jit(lambda x: x.astype(dtype_of(name)))(want.astype(np.float32)), want)


@check
def bool_passes_through():
    passes_through("bool")


@check
def integers_pass_through():
    for name in INTEGERS:
        passes_through(name)


@check
def floats_pass_through():
    for name in FLOATS:
        passes_through(name)


@check
def complex_numbers_pass_through():
    for name in COMPLEX:
        passes_through(name)


@check
def small_integers_pass_through():
    for name in SMALL_INTEGERS:
        passes_through(name)


@check
def small_floats_pass_through():
    problems = []
    for name in SMALL_FLOATS:
        try:
            passes_through(name)
        except Exception as error:
            problems.append((name, f"{type(error).__name__}: {error}"[:200]))
    assert not problems, problems


@check
def small_types_convert():
    problems = []
    for name in (*SMALL_INTEGERS[1:], *SMALL_FLOATS):
        try:
            converts(name)
        except Exception as error:
            problems.append((name, f"{type(error).__name__}: {error}"[:200]))
    assert not problems, problems


@check
def integer_arithmetic_wraps():
    for name in INTEGERS:
        info = np.iinfo(name)
        same(jax.jit(lambda x: x + x.dtype.type(1))(np.array([info.max], name)), np.array([info.min], name))
        same(jax.jit(lambda x: x // x.dtype.type(3))(np.array([100], name)), np.array([33], name))


@check
def int4_arithmetic():
    values = np.arange(-8, 8).astype(ml_dtypes.int4)
    same(jax.jit(lambda x: x + x)(values), ((np.arange(-8, 8) * 2 + 8) % 16 - 8).astype(ml_dtypes.int4))


@check
def an_odd_number_of_int4():
    for count in (1, 3, 7):
        values = np.arange(count).astype(ml_dtypes.uint4)
        same(jax.jit(lambda x: x[::-1])(values), values[::-1])


@check
def float_arithmetic():
    for name in FLOATS:
        values = np.array([0.5, 1.5, -2.0, 0.0]).astype(dtype_of(name))
        same(jax.jit(lambda x: x * x.dtype.type(2) + x)(values), values * values.dtype.type(2) + values)


@check
def bits_survive():
    bits = np.array([0, 0x80000000, 0x7F800001, 0xFFC12345, 1, 0x7F800000], np.uint32)
    cast = jax.jit(lambda x: jax.lax.bitcast_convert_type(x, jnp.float32))(bits)
    same(np.asarray(cast).view(np.uint32), bits)


@check
def complex_arithmetic():
    for name in COMPLEX:
        values = np.array([1 + 2j, -3j, 0.5], name)
        close(jax.jit(lambda x: x * x.conj() + jnp.exp(x).imag)(values), values * values.conj() + np.exp(values).imag)


@check
def sixty_four_bits():
    same(jax.jit(lambda x: x + 1)(np.array([2**40], np.int64)), np.array([2**40 + 1], np.int64))
    close(jax.jit(jnp.sum)(np.full(10, 1e-12)), 1e-11, 1e-20)
    same(jax.jit(lambda x: x * 2)(2**40), np.int64(2**41))


@check
def scalars():
    for value in (True, 7, 2.5, 1 + 2j, np.float16(0.5), np.int8(-3)):
        assert jax.jit(lambda x: x)(value).item() == value, value


@check
def no_elements():
    for shape in ((0,), (0, 3), (3, 0), (2, 0, 2)):
        for name in ("float32", "int32", "bool", "bfloat16", "complex64", "uint4"):
            empty = np.zeros(shape, dtype_of(name))
            result = jax.jit(lambda x: (x, jnp.concatenate([x, x])))(jax.device_put(empty))
            same(result[0], empty)
            assert result[1].shape == (2 * shape[0], *shape[1:])
    same(jax.jit(jnp.sum)(np.zeros((0, 3), np.float32)), np.float32(0))


@check
def strides():
    cube = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    for view in (cube.transpose(2, 0, 1), cube[:, ::-1, ::2], cube[..., ::-1], np.asfortranarray(cube), cube[:, 1:2]):
        same(jax.jit(lambda x: x + 1)(view), view + 1)
        same(jax.device_put(view), np.ascontiguousarray(view))
    same(jax.jit(lambda x: x * 2)(np.broadcast_to(np.float32(3), (4, 5))), np.full((4, 5), 6, np.float32))


@check
def many_dimensions():
    values = np.arange(2**8, dtype=np.int32).reshape((2,) * 8)
    same(jax.jit(lambda x: x.transpose(7, 0, 6, 1, 5, 2, 4, 3))(values), values.transpose(7, 0, 6, 1, 5, 2, 4, 3))


@check
def typed_keys():
    key = jax.random.key(3)
    moved = jax.jit(lambda k: jax.random.split(k, 3))(jax.device_put(key, jax.devices()[0]))
    assert moved.shape == (3,)
    same(jax.random.key_data(moved), jax.random.key_data(jax.random.split(key, 3)))


@check
def float0_and_weak_types():
    assert jax.grad(lambda x: x * 1.0, allow_int=True)(3).dtype == jax.dtypes.float0
    assert (jnp.ones(2, jnp.bfloat16) * 2.0).dtype == jnp.bfloat16


@check
def an_unsupported_type_does_not_crash():
    if not hasattr(ml_dtypes, "float6_e2m3fn"):
        raise SkippedError("ml_dtypes has no float6_e2m3fn")
    try:
        jax.device_put(np.zeros(3, ml_dtypes.float6_e2m3fn))
    except Exception as error:
        assert "dtype" in str(error) or "type" in str(error)
    same(jax.jit(lambda x: x + 1)(np.float32(1)), np.float32(2))


finish()
