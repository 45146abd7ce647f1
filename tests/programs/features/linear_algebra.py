"""Decompositions, solvers and Fourier transforms, for single real to double complex numbers."""

import jax
import jax.numpy as jnp
import numpy as np
from checks import check, close, finish

random = np.random.default_rng(0)
TYPES = {"float32": 1e-4, "complex128": 1e-9}
jax.config.update("jax_enable_x64", True)


def matrix(kind, *shape):
    """A random matrix of a type."""
    values = random.normal(size=shape)
    return (values + 1j * random.normal(size=shape) if kind.startswith("complex") else values).astype(kind)


def hermitian(kind, size):
    """A random positive definite matrix."""
    half = matrix(kind, size, size)
    return (half @ half.conj().T + np.eye(size) * size).astype(kind)


def in_types(types):
    """Make a check from a function of a type and its tolerance."""

    def register(function):
        def run():
            for kind, tolerance in types.items():
                function(kind, tolerance)

        run.__name__ = function.__name__
        return check(run)

    return register


@in_types(TYPES)
def lu(kind, tolerance):
    for shape in ((5, 5), (6, 4), (4, 6), (2, 3, 3)):
        a = matrix(kind, *shape)
        factors, _, permutation = jax.jit(jax.lax.linalg.lu)(a)
        factors, permutation, size = np.asarray(factors), np.asarray(permutation), min(shape[-2:])
        lower = np.tril(factors, -1)[..., :, :size] + np.eye(shape[-2], size)
        upper = np.triu(factors)[..., :size, :]
        close(lower @ upper, np.take_along_axis(a, permutation[..., None].astype(int), axis=-2), tolerance)


@in_types(TYPES)
def qr(kind, tolerance):
    a = matrix(kind, 6, 4)
    for mode in ("reduced", "complete"):
        q, r = jnp.linalg.qr(a, mode=mode)
        close(q @ r, a, tolerance)
        close(q.conj().T @ q, np.eye(q.shape[1]), tolerance)


@in_types(TYPES)
def svd(kind, tolerance):
    for shape, is_full in (((5, 4), False), ((2, 3, 5), True)):
        a = matrix(kind, *shape)
        u, s, vh = jnp.linalg.svd(a, full_matrices=is_full)
        size = min(shape[-2:])
        close((u[..., :size] * s[..., None, :]) @ vh[..., :size, :], a, tolerance * 10)
        close(s, np.linalg.svd(a, compute_uv=False), tolerance * 10)
    close(jnp.linalg.svd(a, compute_uv=False), s, tolerance)


@in_types(TYPES)
def cholesky(kind, tolerance):
    a = hermitian(kind, 5)
    close(jnp.linalg.cholesky(a), np.linalg.cholesky(a), tolerance)


@in_types(TYPES)
def eigh(kind, tolerance):
    a = hermitian(kind, 6)
    for is_upper in ("L", "U"):
        w, v = jnp.linalg.eigh(a, UPLO=is_upper)
        close(w, np.linalg.eigvalsh(a), tolerance * 10)
        close(v @ np.diag(np.asarray(w)) @ np.asarray(v).conj().T, a, tolerance * 100)


@check
def eigh_of_a_large_matrix():
    a = hermitian("float32", 260)
    w, v = jnp.linalg.eigh(a)
    close(w, np.linalg.eigvalsh(a), 1e-2)
    close((v * w) @ v.T, a, 1e-2)


@in_types(TYPES)
def solve_inv_det(kind, tolerance):
    a, b = matrix(kind, 5, 5), matrix(kind, 5, 2)
    close(jnp.linalg.solve(a, b), np.linalg.solve(a, b), tolerance * 100)
    close(jnp.linalg.inv(a) @ a, np.eye(5), tolerance * 100)
    close(jnp.linalg.det(a), np.linalg.det(a), tolerance * 10)
    sign, logarithm = jnp.linalg.slogdet(a)
    close(sign * jnp.exp(logarithm), np.linalg.det(a), tolerance * 10)


@in_types(TYPES)
def triangular_solve(kind, tolerance):
    a = np.tril(hermitian(kind, 4))
    b = matrix(kind, 4, 3)
    solve = jax.scipy.linalg.solve_triangular
    close(solve(a, b, lower=True), np.linalg.solve(a, b), tolerance * 10)
    close(solve(a, b, lower=True, trans=1), np.linalg.solve(a.T, b), tolerance * 10)
    close(solve(a, b, lower=True, trans=2), np.linalg.solve(a.conj().T, b), tolerance * 10)
    unit = np.tril(a, -1) / 9 + np.eye(4, dtype=kind)
    close(solve(unit.T, b, unit_diagonal=True), np.linalg.solve(unit.T, b), tolerance * 10)
    right = jax.lax.linalg.triangular_solve(np.stack([a, a]), np.stack([b.T, b.T]), lower=True, left_side=False)
    close(right[1], np.linalg.solve(a.T, b).T, tolerance * 10)


@check
def decompositions_of_sharded_matrices():
    batch = np.stack([hermitian("float32", 4) for _ in range(8)])
    mesh = jax.sharding.Mesh(np.array(jax.devices()), ("x",))
    sharded = jax.device_put(batch, jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("x")))
    decompose = jax.jit(lambda a: (jnp.linalg.eigh(a)[0], jnp.linalg.svd(a)[1], jnp.linalg.qr(a)[1]))
    values, singular, triangle = decompose(sharded)
    close(values, np.linalg.eigvalsh(batch), 1e-3)
    close(singular, np.linalg.eigvalsh(batch)[:, ::-1], 1e-3)
    close(triangle, np.linalg.qr(batch)[1], 1e-3)


@check
def largest_and_smallest_approximately():
    a = np.stack([random.permutation(1000).astype(np.float32) for _ in range(2)])
    values, places = jax.jit(lambda x: jax.lax.approx_max_k(x, 4, recall_target=1.0))(a)
    close(values, np.sort(a)[:, -4:][:, ::-1])
    close(np.take_along_axis(a, np.asarray(places), 1), values)
    close(jax.lax.approx_min_k(a, 3, recall_target=1.0)[0], np.sort(a)[:, :3])


@check
def batched_and_differentiated():
    batch = np.stack([hermitian("float32", 3) for _ in range(4)])
    close(jax.vmap(jnp.linalg.cholesky)(batch), np.linalg.cholesky(batch), 1e-4)
    slope = jax.jit(jax.grad(lambda a: jnp.linalg.slogdet(a)[1]))(batch[0])
    close(slope, np.linalg.inv(batch[0]).T, 1e-4)


@check
def least_squares_and_rank():
    a, b = matrix("float32", 8, 3), matrix("float32", 8)
    close(jnp.linalg.lstsq(a, b)[0], np.linalg.lstsq(a, b, rcond=None)[0], 1e-3)
    assert int(jnp.linalg.matrix_rank(a)) == 3
    close(jnp.linalg.pinv(a), np.linalg.pinv(a), 1e-3)


@check
def matrix_functions():
    a = matrix("float64", 4, 4) / 4
    w, v = np.linalg.eig(a)
    close(jax.scipy.linalg.expm(a), ((v * np.exp(w)) @ np.linalg.inv(v)).real, 1e-6)
    close(jnp.linalg.matrix_power(a, 3), a @ a @ a, 1e-6)


@check
def norms():
    a = matrix("float32", 4, 4)
    for order in (None, "fro", 2, 1, np.inf):
        close(jnp.linalg.norm(a, order), np.linalg.norm(a, order), 1e-4)


@check
def hessenberg_free_eigenvalues_of_a_symmetric_matrix():
    a = hermitian("float32", 20)
    close(jnp.linalg.eigvalsh(a), np.linalg.eigvalsh(a), 1e-2)


@in_types(TYPES)
def fourier(kind, tolerance):
    for shape in ((16,), (3, 15), (2, 4, 6)):
        a = matrix(kind, *shape)
        close(jnp.fft.fft(a), np.fft.fft(a).astype(np.result_type(kind, np.complex64)), tolerance)
        close(jnp.fft.ifft(jnp.fft.fft(a)), a.astype(np.result_type(kind, np.complex64)), tolerance)


@check
def real_fourier():
    a = matrix("float32", 4, 10)
    close(jnp.fft.rfft(a), np.fft.rfft(a).astype(np.complex64), 1e-4)
    close(jnp.fft.irfft(jnp.fft.rfft(a)), a, 1e-4)
    close(jnp.fft.fftn(a), np.fft.fftn(a).astype(np.complex64), 1e-4)
    close(jnp.fft.fftshift(jnp.fft.fftfreq(8)), np.fft.fftshift(np.fft.fftfreq(8)))


@check
def ragged_products_and_their_gradients():
    a, b, sizes = matrix("float32", 12, 5), matrix("float32", 3, 5, 8), np.array([3, 0, 9], np.int32)
    want = np.concatenate([a[:3] @ b[0], a[3:] @ b[2]])
    close(jax.jit(jax.lax.ragged_dot)(a, b, sizes), want, 1e-4)
    batch = jax.jit(jax.vmap(jax.lax.ragged_dot))(np.stack([a, a]), np.stack([b, b]), np.stack([sizes, sizes]))
    close(batch, np.stack([want, want]), 1e-4)
    gradient = jax.jit(jax.grad(lambda x: jax.lax.ragged_dot(a, x, sizes).sum()))(b)
    close(gradient[:, :, 0], np.stack([a[:3].sum(0), np.zeros(5, np.float32), a[3:].sum(0)]), 1e-4)


@check
def decompositions_without_a_tpu_implementation():
    a = matrix("float32", 3, 3)
    for decompose in (jnp.linalg.eig, jax.scipy.linalg.schur, jax.scipy.linalg.sqrtm, jax.scipy.linalg.hessenberg):
        try:
            decompose(a)
        except NotImplementedError as error:
            assert "not found for platform tpu" in str(error), error
        else:
            raise AssertionError(decompose)


finish()
