"""Programs with JAX alone: small models, solvers, random sampling, linear algebra."""

import functools

import jax
import jax.numpy as jnp
from jax.experimental.ode import odeint

KEY = jax.random.key(0)


def mlp_classifier():
    """Train a classifier of random images with momentum."""

    def init(key, sizes):
        keys = jax.random.split(key, len(sizes) - 1)
        return [
            (jax.random.normal(k, (m, n)) / m**0.5, jnp.zeros(n))
            for k, m, n in zip(keys, sizes[:-1], sizes[1:], strict=True)
        ]

    def loss(layers, images, labels):
        x = images
        for weights, bias in layers[:-1]:
            x = jax.nn.relu(x @ weights + bias)
        weights, bias = layers[-1]
        return -jnp.mean(jnp.sum(jax.nn.log_softmax(x @ weights + bias) * labels, axis=1))

    @jax.jit
    def step(layers, velocity, images, labels):
        value, gradient = jax.value_and_grad(loss)(layers, images, labels)
        velocity = jax.tree.map(lambda v, g: 0.9 * v + g, velocity, gradient)
        return value, jax.tree.map(lambda p, v: p - 0.05 * v, layers, velocity), velocity

    layers = jax.jit(functools.partial(init, sizes=(784, 256, 128, 10)))(KEY)
    images = jax.random.normal(KEY, (64, 784))
    labels = jax.nn.one_hot(jax.random.randint(KEY, (64,), 0, 10), 10)
    velocity = jax.tree.map(jnp.zeros_like, layers)
    for _ in range(5):
        value, layers, velocity = step(layers, velocity, images, labels)
    return value


def variational_autoencoder():
    """Train a variational autoencoder with samples drawn in each step."""

    def dense(key, m, n):
        return jax.random.normal(key, (m, n)) / m**0.5, jnp.zeros(n)

    def apply(layer, x):
        return x @ layer[0] + layer[1]

    def loss(weights, key, images):
        hidden = jax.nn.softplus(apply(weights["encoder"], images))
        mean, scale = apply(weights["mean"], hidden), jax.nn.softplus(apply(weights["scale"], hidden))
        code = mean + scale * jax.random.normal(key, mean.shape)
        logits = apply(weights["out"], jax.nn.softplus(apply(weights["decoder"], code)))
        likelihood = -jnp.sum(jnp.logaddexp(0.0, jnp.where(images > 0.5, -1.0, 1.0) * logits))
        divergence = -0.5 * jnp.sum(1.0 + jnp.log(scale**2) - mean**2 - scale**2)
        return (divergence - likelihood) / images.shape[0]

    @jax.jit
    def epoch(key, weights, images):
        def body(step, weights):
            gradient = jax.grad(loss)(weights, jax.random.fold_in(key, step), images)
            return jax.tree.map(lambda p, g: p - 1e-3 * g, weights, gradient)

        weights = jax.lax.fori_loop(0, 10, body, weights)
        return weights, loss(weights, key, images)

    sizes = {"encoder": (196, 64), "mean": (64, 8), "scale": (64, 8), "decoder": (8, 64), "out": (64, 196)}
    keys = jax.random.split(KEY, len(sizes))
    weights = {name: dense(key, *shape) for key, (name, shape) in zip(keys, sizes.items(), strict=True)}
    images = jax.random.bernoulli(KEY, 0.3, (32, 196)).astype(jnp.float32)
    return epoch(KEY, weights, images)[1]


def variational_inference():
    """Fit a Gaussian to a banana-shaped density: automatic differentiation variational inference."""

    def log_density(x):
        return -0.5 * (x[0] ** 2 + (x[1] - x[0] ** 2) ** 2 / 0.1)

    def bound(parameters, key):
        mean, log_scale = parameters
        samples = jax.random.normal(key, (100, 2)) * jnp.exp(log_scale) + mean
        entropy = jnp.sum(log_scale)
        return entropy + jnp.mean(jax.vmap(log_density)(samples))

    @jax.jit
    def step(parameters, key):
        first, second, third = jax.random.split(key, 3)
        keys = jnp.stack([first, second, third])
        gradient = jax.grad(lambda p: jnp.mean(jax.vmap(bound, (None, 0))(p, keys)))(parameters)
        return jax.tree.map(lambda p, g: p + 0.01 * g, parameters, gradient)

    parameters = (jnp.zeros(2), jnp.zeros(2))
    for number in range(10):
        parameters = step(parameters, jax.random.fold_in(KEY, number))
    return jnp.concatenate(parameters)


def gaussian_process():
    """Fit the kernel of a Gaussian process by gradients through a Cholesky factorisation."""

    def covariance(parameters, a, b):
        distances = (a[:, None] - b[None, :]) / jax.nn.softplus(parameters["length"])
        return jax.nn.softplus(parameters["amplitude"]) * jnp.exp(-0.5 * distances**2)

    def negative_likelihood(parameters, x, y):
        matrix = covariance(parameters, x, x) + (jax.nn.softplus(parameters["noise"]) + 1e-3) * jnp.eye(x.size)
        factor = jnp.linalg.cholesky(matrix)
        solved = jax.scipy.linalg.solve_triangular(factor, y, lower=True)
        return 0.5 * solved @ solved + jnp.sum(jnp.log(jnp.diag(factor)))

    @jax.jit
    def step(parameters, x, y):
        gradient = jax.grad(negative_likelihood)(parameters, x, y)
        return jax.tree.map(lambda p, g: p - 0.01 * g, parameters, gradient)

    x = jnp.linspace(0.0, 4.0, 40)
    y = jnp.sin(3 * x) + 0.1 * jax.random.normal(KEY, x.shape)
    parameters = {"length": jnp.float32(0.0), "amplitude": jnp.float32(0.0), "noise": jnp.float32(-2.0)}
    for _ in range(10):
        parameters = step(parameters, x, y)
    return jnp.stack(list(parameters.values()))


def private_gradients():
    """Clip and perturb the gradient of each example: differentially private descent."""

    def loss(weights, x, y):
        return (jnp.tanh(x @ weights["hidden"]) @ weights["out"] - y) ** 2

    @jax.jit
    def step(weights, key, xs, ys):
        gradients = jax.vmap(jax.grad(loss), (None, 0, 0))(weights, xs, ys)
        norms = jnp.sqrt(sum(jnp.sum(g.reshape(len(xs), -1) ** 2, 1) for g in jax.tree.leaves(gradients)))
        scale = jnp.minimum(1.0, 1.0 / norms)
        leaves, structure = jax.tree.flatten(jax.tree.map(lambda g: jnp.einsum("b,b...->...", scale, g), gradients))
        keys = jax.random.split(key, len(leaves))
        noisy = [(leaf + jax.random.normal(k, leaf.shape)) / len(xs) for leaf, k in zip(leaves, keys, strict=True)]
        return jax.tree.map(lambda w, g: w - 0.1 * g, weights, jax.tree.unflatten(structure, noisy))

    weights = {"hidden": jax.random.normal(KEY, (8, 32)) * 0.3, "out": jax.random.normal(KEY, (32,)) * 0.3}
    xs = jax.random.normal(KEY, (128, 8))
    for number in range(5):
        weights = step(weights, jax.random.fold_in(KEY, number), xs, xs.sum(1))
    return weights["out"].sum()


def differential_equation():
    """Differentiate the solution of a pendulum's equation."""

    def pendulum(state, _time, length):
        angle, speed = state
        return jnp.stack([speed, -9.81 / length * jnp.sin(angle)])

    def final_angle(length):
        return odeint(pendulum, jnp.array([1.0, 0.0]), jnp.linspace(0.0, 2.0, 20), length)[-1, 0]

    return jnp.stack(jax.jit(jax.value_and_grad(final_angle))(jnp.float32(1.5)))


def transformer_step():
    """Train one block of a decoder, applied four times by a scan, with dropout."""
    width, heads, length = 64, 4, 32

    def attend(weights, x, key):
        query, keys, values = jnp.split(x @ weights["qkv"], 3, axis=-1)
        query, keys, values = (v.reshape(*v.shape[:-1], heads, -1) for v in (query, keys, values))
        scores = jnp.einsum("bqhd,bkhd->bhqk", query, keys) / (width // heads) ** 0.5
        scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e9)
        mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), values).reshape(x.shape)
        return jnp.where(jax.random.bernoulli(key, 0.9, x.shape), mixed @ weights["out"], 0.0)

    def block(x, per_layer):
        weights, key = per_layer
        x = x + attend(weights, jax.nn.standardize(x), key)
        return x + jax.nn.gelu(jax.nn.standardize(x) @ weights["up"]) @ weights["down"], None

    def loss(weights, tokens, key):
        x = weights["embedding"][tokens]
        x, _ = jax.lax.scan(jax.checkpoint(block), x, (weights["layers"], jax.random.split(key, 4)))
        logits = jax.nn.log_softmax(x @ weights["embedding"].T)
        return -jnp.mean(jnp.take_along_axis(logits[:, :-1], tokens[:, 1:, None], axis=-1))

    @jax.jit
    def init(key):
        shapes = {"qkv": (width, 3 * width), "out": (width, width), "up": (width, 128), "down": (128, width)}
        keys = dict(zip(shapes, jax.random.split(key, 4), strict=True))
        layers = {name: jax.random.truncated_normal(keys[name], -2, 2, (4, *shape)) * 0.05
                  for name, shape in shapes.items()}  # fmt: skip
        return {"layers": layers, "embedding": jax.random.normal(key, (100, width)) * 0.05}

    step = jax.jit(jax.value_and_grad(loss))
    value, _ = step(init(KEY), jax.random.randint(KEY, (2, length), 0, 100), KEY)
    return value


def spectral_filter():
    """Filter signals in the frequency domain and by a convolution."""

    @jax.jit
    def filtered(signal):
        spectrum = jnp.fft.rfft(signal)
        low = jnp.fft.irfft(jnp.where(jnp.arange(spectrum.size) < 40, spectrum, 0), n=signal.size)
        smooth = jnp.convolve(signal, jnp.hanning(15), mode="same")
        image = jnp.fft.fft2(jnp.outer(low[:64], smooth[:64]))
        return jnp.stack([low.std(), smooth.std(), jnp.abs(image).mean()])

    time = jnp.linspace(0, 1, 1024)
    return filtered(jnp.sin(60 * time) + jax.random.normal(KEY, time.shape))


def decompositions():
    """Decompose matrices: Cholesky, QR, LU, eigenvalues, singular values."""

    @jax.jit
    def decompose(a):
        symmetric = a @ a.T + jnp.eye(a.shape[0])
        values, _ = jnp.linalg.eigh(symmetric)
        _, triangle = jnp.linalg.qr(a)
        solved = jnp.linalg.solve(symmetric, a[:, 0])
        return jnp.stack([
            values.sum(), jnp.abs(jnp.diag(triangle)).sum(), jnp.linalg.svd(a, compute_uv=False).sum(),
            jnp.linalg.slogdet(symmetric)[1], solved.sum(), jnp.linalg.inv(symmetric).trace(),
            jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(symmetric), a[:, 1]).sum(),
        ])  # fmt: skip

    return decompose(jax.random.normal(KEY, (24, 24)))


def sorting_and_scans():
    """Sort, search, accumulate and select."""

    @jax.jit
    def run(x):
        ordered = jnp.sort(x, axis=1)
        order = jnp.argsort(-x, axis=1, stable=True)
        best, places = jax.lax.top_k(x, 5)
        nearest, _ = jax.lax.approx_max_k(x, 5)
        sums = jnp.cumsum(x, axis=1) + jnp.cumprod(jnp.tanh(x), axis=1) + jax.lax.cummax(x, axis=1)
        found = jax.vmap(jnp.searchsorted)(ordered, x[:, :7])
        scanned = jax.lax.associative_scan(jnp.logaddexp, x, axis=1)
        groups = jax.ops.segment_sum(x[:, 0], order[:, 0] % 7, num_segments=7)
        median = jnp.median(x) + jnp.percentile(x, 30.0) + jnp.unique(jnp.round(x[0]), size=9).sum()
        return jnp.stack([ordered[:, 3].sum(), best.sum(), places.sum(), nearest.sum(), sums.mean(), found.sum(),
                          scanned.mean(), groups.sum(), median])  # fmt: skip

    return run(jax.random.normal(KEY, (16, 257)))


def random_distributions():
    """Draw from many distributions in one program."""

    @jax.jit
    def draw(key):
        keys = iter(jax.random.split(key, 24))
        shape = (50,)
        normal = jax.random.multivariate_normal(next(keys), jnp.zeros(3), jnp.eye(3), shape)
        draws = [
            jax.random.normal(next(keys), shape),
            jax.random.truncated_normal(next(keys), -1, 1, shape),
            jax.random.gamma(next(keys), 2.0, shape),
            jax.random.beta(next(keys), 2.0, 3.0, shape),
            jax.random.dirichlet(next(keys), jnp.ones(4), shape),
            jax.random.poisson(next(keys), 4.0, shape).astype(jnp.float32),
            jax.random.binomial(next(keys), 10, 0.4, shape),
            jax.random.categorical(next(keys), jnp.arange(5.0), shape=shape).astype(jnp.float32),
            jax.random.permutation(next(keys), 50).astype(jnp.float32),
            jax.random.choice(next(keys), 50, shape, replace=False).astype(jnp.float32),
            jax.random.t(next(keys), 4.0, shape),
            jax.random.laplace(next(keys), shape),
            jax.random.cauchy(next(keys), shape),
            jax.random.orthogonal(next(keys), 4),
        ]
        return jnp.stack([normal.mean(), *(jnp.median(each) for each in draws)])

    return draw(KEY)


def ising_model():
    """Sample an Ising model by Metropolis steps on a checkerboard."""
    size = 32
    board = (jnp.indices((size, size)).sum(0) % 2).astype(bool)

    @jax.jit
    def simulate(key):
        def sweep(spins, key):
            for half, own in zip((board, ~board), jax.random.split(key), strict=True):
                neighbours = sum(jnp.roll(spins, shift, axis) for shift in (-1, 1) for axis in (0, 1))
                accepted = jax.random.uniform(own, spins.shape) < jnp.exp(-0.8 * spins * neighbours)
                spins = jnp.where(half & accepted, -spins, spins)
            return spins, spins.mean()

        spins = jnp.where(jax.random.bernoulli(key, 0.5, (size, size)), 1.0, -1.0)
        return jax.lax.scan(sweep, spins, jax.random.split(key, 50))[1]

    return simulate(KEY)[:3]
