"""jit, its transformations and control flow, with results that NumPy can check."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from checks import check, close, finish, raises, same

random = np.random.default_rng(0)


@check
def jit():
    values = random.normal(size=(5, 7)).astype(np.float32)
    close(jax.jit(lambda x: jnp.tanh(x) * 2 + 1)(values), np.tanh(values) * 2 + 1)


@check
def eager_operations():
    x = jnp.arange(12.0).reshape(3, 4)
    close(x @ x.T + x.sum(axis=1), np.asarray(x) @ np.asarray(x).T + np.asarray(x).sum(axis=1))
    close(x[1:, ::2], np.arange(12.0).reshape(3, 4)[1:, ::2])
    same(x.at[1, 2].set(-1.0)[1], np.array([4, 5, -1, 7], np.float32))


@check
def grad():
    values = np.linspace(0, 1, 7, dtype=np.float32)
    slope = jax.jit(jax.grad(lambda x: jnp.sum(jnp.tanh(x) ** 2)))(values)
    close(slope, 2 * np.tanh(values) * (1 - np.tanh(values) ** 2))


@check
def value_and_grad_of_a_tree():
    parameters = {"w": np.full((3, 2), 0.5, np.float32), "b": [np.zeros(2, np.float32)]}
    x = random.normal(size=(4, 3)).astype(np.float32)
    value, slopes = jax.jit(jax.value_and_grad(lambda p: jnp.mean((x @ p["w"] + p["b"][0]) ** 2)))(parameters)
    out = x @ parameters["w"]
    close(value, np.mean(out**2))
    close(slopes["w"], x.T @ out * 2 / out.size)
    close(slopes["b"][0], out.sum(0) * 2 / out.size)


@check
def hessian_and_jacobian():
    point = np.array([1.0, 2.0, 3.0], np.float32)
    close(jax.hessian(lambda x: jnp.sum(x**3))(point), np.diag(6 * point))
    close(jax.jacfwd(lambda x: x[:2] * x[2])(point), [[3, 0, 1], [0, 3, 2]])


@check
def forward_mode():
    value, slope = jax.jvp(jnp.sin, (np.float32(0.3),), (np.float32(2.0),))
    close([value, slope], [np.sin(0.3), 2 * np.cos(0.3)])


@check
def custom_derivative():
    @jax.custom_vjp
    def clipped(x):
        return x * 2

    clipped.defvjp(lambda x: (x * 2, None), lambda _, g: (jnp.clip(g, -1, 1),))
    close(jax.jit(jax.grad(lambda x: clipped(x).sum() * 5))(jnp.ones(3)), np.ones(3))


@check
def checkpointed_gradient():
    function = jax.checkpoint(lambda x: jnp.sin(jnp.sin(x)))
    close(jax.jit(jax.grad(function))(0.5), np.cos(np.sin(0.5)) * np.cos(0.5))


@check
def vmap():
    batch = random.normal(size=(6, 4)).astype(np.float32)
    close(jax.jit(jax.vmap(lambda a: a @ a))(batch), (batch * batch).sum(1))
    close(jax.vmap(jax.grad(lambda a: (a**2).sum()))(batch), 2 * batch)


@check
def scan():
    last, sums = jax.jit(lambda xs: jax.lax.scan(lambda c, x: (c + x, c * x), 0.0, xs))(jnp.arange(10.0))
    assert float(last) == 45.0
    close(sums, [sum(range(i)) * i for i in range(10)])


@check
def while_loop():
    def collatz(n):
        step = lambda s: (jnp.where(s[0] % 2 == 0, s[0] // 2, 3 * s[0] + 1), s[1] + 1)  # noqa: E731
        return jax.lax.while_loop(lambda s: s[0] != 1, step, (n, 0))[1]

    assert int(jax.jit(collatz)(27)) == 111


@check
def fori_loop():
    close(jax.jit(lambda n: jax.lax.fori_loop(0, n, lambda i, x: x + i, 0))(100), 4950)


@check
def cond_and_switch():
    function = jax.jit(lambda i, x: jax.lax.switch(i, [jnp.sin, jnp.cos, jnp.exp], x))
    close([function(i, 0.5) for i in range(3)], [np.sin(0.5), np.cos(0.5), np.exp(0.5)])
    chosen = jax.jit(lambda p, x: jax.lax.cond(p, lambda x: x + 1, lambda x: x - 1, x))
    close([chosen(True, 1.0), chosen(False, 1.0)], [2, 0])


@check
def random_numbers():
    key = jax.random.key(0)
    normal = np.asarray(jax.random.normal(key, (20_000,)))
    assert abs(normal.mean()) < 0.03 and abs(normal.std() - 1) < 0.03
    # Threefry is defined bit for bit, on every platform.
    close(jax.random.uniform(jax.random.PRNGKey(0)), 0.947667, 1e-5)
    first, second = jax.random.split(key)
    assert not (jax.random.key_data(first) == jax.random.key_data(second)).all()
    same(np.sort(jax.random.permutation(key, 100)), np.arange(100, dtype=np.int32))
    assert set(np.asarray(jax.random.categorical(key, jnp.log(jnp.array([0.5, 0.0, 0.5])), shape=(50,)))) == {0, 2}


@check
def sort_and_top_k():
    values = random.normal(size=100).astype(np.float32)
    same(jnp.sort(values), np.sort(values))
    same(jnp.argsort(values), np.argsort(values).astype(np.int32))
    top, places = jax.lax.top_k(values, 5)
    same(top, np.sort(values)[::-1][:5])
    same(values[np.asarray(places)], np.asarray(top))
    same(jax.lax.approx_max_k(values, 1)[0], values.max(keepdims=True))
    same(jnp.unique(jnp.array([3, 1, 3, 2])), np.array([1, 2, 3], np.int32))


@check
def convolution():
    image, kernel = random.normal(size=(8, 8)).astype(np.float32), random.normal(size=(3, 3)).astype(np.float32)
    result = jax.jit(lambda i, k: jax.lax.conv_general_dilated(i[None, None], k[None, None], (1, 1), "VALID"))(
        image, kernel
    )
    want = [[(image[i : i + 3, j : j + 3] * kernel).sum() for j in range(6)] for i in range(6)]
    close(result[0, 0], want, 1e-4)


@check
def pooling_and_reductions():
    values = random.normal(size=(4, 6)).astype(np.float32)
    pooled = jax.lax.reduce_window(values, -np.inf, jax.lax.max, (2, 2), (2, 2), "VALID")
    same(pooled, values.reshape(2, 2, 3, 2).max(axis=(1, 3)))
    close(jnp.cumsum(values, axis=1), np.cumsum(values, axis=1))
    same(jnp.argmax(values, axis=0), values.argmax(axis=0).astype(np.int32))
    close(jnp.std(values), values.std())


@check
def gather_and_scatter():
    values, places = np.arange(20, dtype=np.float32).reshape(4, 5), np.array([3, 0, 3])
    same(jnp.take(values, places, axis=0), values[places])
    want = np.zeros(4, np.float32)
    np.add.at(want, places, [1, 2, 3])
    same(jax.jit(lambda i, x: jnp.zeros(4).at[i].add(x))(places, jnp.array([1.0, 2.0, 3.0])), want)


@check
def einsum():
    a, b = random.normal(size=(2, 3, 4)).astype(np.float32), random.normal(size=(2, 4, 5)).astype(np.float32)
    close(jnp.einsum("bij,bjk->bik", a, b), np.einsum("bij,bjk->bik", a, b))


@check
def static_arguments_and_closures():
    table = jnp.asarray(random.normal(size=1000).astype(np.float32))
    function = jax.jit(lambda x, n: x[:n] * table[:n], static_argnums=1)
    for n in (1, 10, 100):
        close(function(jnp.ones(1000), n), table[:n])


@check
def fifty_inputs_and_outputs():
    many = [np.full((i % 5,), i, np.float32) for i in range(50)]
    for result, value in zip(jax.jit(lambda xs: [x * 2 for x in xs])(many), many, strict=True):
        same(result, value * 2)


@check
def two_thousand_inputs():
    # This many parameters may reach the runtime as one tuple.
    many = [np.float32(i) for i in range(2100)]
    assert float(jax.jit(sum)(many)) == sum(range(2100))


@check
def outputs_that_are_inputs_or_constants():
    x = jnp.arange(3.0)
    again, constant, nothing, twice = jax.jit(lambda x: (x, jnp.arange(4), None, x))(x)
    same(again, np.arange(3, dtype=np.float32))
    same(twice, np.arange(3, dtype=np.float32))
    same(constant, np.arange(4, dtype=np.int32))
    assert nothing is None


@check
def no_outputs_and_no_inputs():
    assert jax.jit(lambda x: ())(1.0) == ()
    close(jax.jit(lambda: jnp.ones(3))(), np.ones(3))


@check
def unused_arguments():
    close(jax.jit(lambda a, b, c: b + 1, keep_unused=True)(1.0, 2.0, jnp.ones((100, 100))), 3.0)
    close(jax.jit(lambda a, b, c: b + 1)(1.0, 2.0, jnp.ones((100, 100))), 3.0)


@check
def nested_functions():
    inner = jax.jit(lambda x, n: x**n, static_argnums=1)
    close(jax.jit(lambda x: inner(inner(x, 2), 3) + inner(x, 2))(2.0), 68.0)


@check
def associative_scan_and_map():
    close(jax.lax.associative_scan(jnp.multiply, jnp.arange(1.0, 8.0)), np.cumprod(np.arange(1.0, 8.0)))
    close(jax.lax.map(lambda x: x**2, jnp.arange(5.0)), np.arange(5.0) ** 2)


@check
def special_functions():
    x = np.linspace(0.1, 3, 20, dtype=np.float32)
    import math

    close(jax.scipy.special.gammaln(x), [math.lgamma(v) for v in x], 1e-4)
    close(jax.scipy.special.erf(x), [math.erf(v) for v in x], 1e-5)
    close(jax.nn.softmax(x), np.exp(x) / np.exp(x).sum())


@check
def interpolation_polynomials_and_ode():
    close(jnp.interp(2.5, jnp.arange(5.0), jnp.arange(5.0) ** 2), 6.5)
    close(jnp.polyval(jnp.array([1.0, 2.0, 3.0]), 2.0), 11.0)
    from jax.experimental.ode import odeint

    close(odeint(lambda y, t: -y, 1.0, jnp.array([0.0, 1.0])), [1, np.exp(-1)], 1e-4)


@check
def state_in_a_reference():
    @functools.partial(jax.jit)
    def count(x):
        return jax.lax.fori_loop(0, 5, lambda i, c: c.at[i].set(c[i - 1] + x), jnp.zeros(5))

    close(count(2.0), [2, 4, 6, 8, 10])


@check
def user_errors_are_raised_unchanged():
    raises(TypeError, lambda: jax.jit(lambda x: x @ jnp.ones(4))(jnp.ones(3)), "dot_general")
    raises(jax.errors.TracerBoolConversionError, lambda: jax.jit(lambda x: 1 if x else 2)(True))


@check
def debug_nans_finds_nans():
    jax.config.update("jax_debug_nans", True)
    try:
        raises(FloatingPointError, lambda: jax.jit(lambda x: jnp.log(x))(-1.0), "nan")
    finally:
        jax.config.update("jax_debug_nans", False)


@check
def the_same_program_again_after_clearing_caches():
    function = jax.jit(lambda x: x * 3)
    close(function(2.0), 6.0)
    jax.clear_caches()
    close(function(2.0), 6.0)


finish()
