"""Linear algebra, transforms, derivatives and optimisation."""

import jax
import jax.numpy as jnp
import numpy as np
import scipy.sparse
from jax.experimental import sparse


def _positive(seed, size):
    x = np.random.default_rng(seed).normal(size=(size, size)).astype(np.float32)
    return x @ x.T + size * np.eye(size, dtype=np.float32)


def gaussian_process():
    @jax.jit
    def predict(points, values, queries):
        def kernel(a, b):
            return jnp.exp(-((a[:, None] - b[None]) ** 2) / 2)

        factor = jnp.linalg.cholesky(kernel(points, points) + 0.1 * jnp.eye(points.size))
        solved = jax.scipy.linalg.cho_solve((factor, True), values)
        part = jax.scipy.linalg.solve_triangular(factor, kernel(points, queries), lower=True)
        return kernel(queries, points) @ solved, 1 - (part**2).sum(0)

    points = np.linspace(0, 3, 8, dtype=np.float32)
    for result in predict(points, np.sin(points), points + 0.2):
        print(np.asarray(result))


def kalman_filter():
    @jax.jit
    def run(observations):
        motion, noise = jnp.array([[1, 0.1], [0, 1]]), 0.01 * jnp.eye(2)

        def step(state, observation):
            mean, spread = state
            mean, spread = motion @ mean, motion @ spread @ motion.T + noise
            gain = jnp.linalg.solve(spread[:1, :1] + 0.1, spread[:1]).T
            mean = mean + gain[:, 0] * (observation - mean[0])
            return (mean, spread - gain @ spread[:1]), mean

        return jax.lax.scan(step, (jnp.zeros(2), jnp.eye(2)), observations)[1]

    print(np.asarray(run(np.cumsum(np.ones(9, np.float32))))[-1])


def principal_components():
    @jax.jit
    def reduce(x):
        _, values, vectors = jnp.linalg.svd(x - x.mean(0), full_matrices=False)
        return values, jnp.abs((x - x.mean(0)) @ vectors[:2].T).sum(0)

    for result in reduce(np.random.default_rng(2).normal(size=(12, 5)).astype(np.float32)):
        print(np.asarray(result))


def eigenvalues():
    values, vectors = jax.jit(jnp.linalg.eigh)(_positive(3, 6))
    print(np.asarray(values), np.abs(np.asarray(vectors)).sum())


def poisson_equation():
    @jax.jit
    def solve(charge):
        k = 2 * jnp.pi * jnp.fft.fftfreq(charge.shape[0])
        size = k[:, None] ** 2 + k[None] ** 2
        return jnp.fft.ifft2(jnp.where(size > 0, jnp.fft.fft2(charge) / jnp.where(size > 0, size, 1), 0)).real

    print(np.asarray(solve(np.random.default_rng(4).normal(size=(8, 8)).astype(np.float32)))[0])


def conjugate_gradients():
    x, _ = jax.jit(lambda a, b: jax.scipy.sparse.linalg.cg(a, b, maxiter=8))(_positive(5, 8), np.ones(8, np.float32))
    print(np.asarray(x))


def quasi_newton():
    @jax.jit
    def minimise(x):
        def f(x):
            return ((1 - x[:-1]) ** 2 + 100 * (x[1:] - x[:-1] ** 2) ** 2).sum()

        def step(state):
            x, inverse, gradient, count = state
            move = -inverse @ gradient
            rates = 0.5 ** jnp.arange(12)
            rate = rates[jnp.argmin(jax.vmap(lambda rate: f(x + rate * move))(rates))]
            change, after = rate * move, jax.grad(f)(x + rate * move)
            turn = after - gradient
            scale = 1 / jnp.maximum(change @ turn, 1e-6)
            left = jnp.eye(x.size) - scale * jnp.outer(change, turn)
            return x + change, left @ inverse @ left.T + scale * jnp.outer(change, change), after, count + 1

        start = (x, jnp.eye(x.size), jax.grad(f)(x), 0)
        return jax.lax.while_loop(lambda state: (jnp.abs(state[2]).max() > 1e-3) & (state[3] < 40), step, start)

    x, _, _, count = minimise(np.zeros(3, np.float32))
    print(np.asarray(x), int(count))


def second_derivatives():
    def f(x):
        return jnp.prod(jnp.sin(x)) + jnp.sum(x**3)

    x = np.array([0.1, 0.5, 0.9], np.float32)
    print(np.asarray(jax.jit(jax.hessian(f))(x)), np.asarray(jax.jit(jax.jacfwd(jax.grad(f)))(x)).sum())


def implicit_derivatives():
    @jax.custom_vjp
    def root(a):
        return jax.lax.fori_loop(0, 20, lambda _, x: 0.5 * (x + a / x), jnp.ones_like(a))

    def forward(a):
        x = root(a)
        return x, x

    root.defvjp(forward, lambda x, g: (g / (2 * x),))
    print(np.asarray(jax.jit(jax.vmap(jax.grad(root)))(np.array([1, 2, 3], np.float32))))


def sparse_matrices():
    matrix = sparse.BCOO.from_scipy_sparse(scipy.sparse.random(8, 8, 0.3, random_state=6, dtype=np.float32))
    print(np.asarray(jax.jit(lambda m, x: m @ x)(matrix, np.ones((8, 2), np.float32))).sum(1))


def double_precision():
    with jax.enable_x64(True):
        f = jax.jit(lambda x: (jnp.cumsum(jnp.exp(x)), jnp.linalg.inv(jnp.outer(x, x) + jnp.eye(x.size))))
        for result in f(np.linspace(0, 1, 5)):
            print(np.asarray(result).sum(0))


def special_functions():
    x = np.linspace(0.1, 3, 7, dtype=np.float32)
    f = jax.jit(lambda x: [jax.scipy.special.gammaln(x), jax.scipy.special.erfinv(x / 4), jax.scipy.special.i0(x),
                           jax.scipy.special.digamma(x), jnp.arctan2(x, 1 - x), jnp.remainder(x, 0.7)])  # fmt: skip
    for result in f(x):
        print(np.asarray(result))


def bits():
    x = np.random.default_rng(7).integers(0, 2**32, 16, dtype=np.uint32)
    half = np.uint32(2**31)
    f = jax.jit(lambda x: (jax.lax.population_count(x), jax.lax.clz(x), x << 3 ^ x >> 5, jnp.packbits(x > half)))
    for result in f(x):
        print(np.asarray(result))


def infinities():
    x = np.array([0, 1, np.inf, -np.inf, np.nan], np.float32)
    f = jax.jit(lambda x: (jnp.nanmax(x), jnp.isnan(x), jnp.where(x > 0, jnp.log(jnp.abs(x)), 0), jnp.nan_to_num(x)))
    for result in f(x):
        print(np.asarray(result))
