"""Common user workflows: training, checkpoints, profiles, Pallas kernels in interpret mode."""

import tempfile
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from checks import check, close, finish, same
from jax.sharding import Mesh, NamedSharding, PartitionSpec

random = np.random.default_rng(0)
INPUTS = random.normal(size=(64, 4)).astype(np.float32)
TARGETS = np.tanh(INPUTS @ np.array([1, -2, 0.5, 0], np.float32))[:, None]
SIZES = (4, 16, 1)


def start():
    """The parameters of a small network and Adam's state."""
    keys = jax.random.split(jax.random.key(0), len(SIZES) - 1)
    layers = [
        {"w": jax.random.normal(key, (rows, columns)) * rows**-0.5, "b": jnp.zeros(columns)}
        for key, rows, columns in zip(keys, SIZES, SIZES[1:], strict=False)
    ]
    zeros = jax.tree.map(jnp.zeros_like, layers)
    return {"layers": layers, "mean": zeros, "square": jax.tree.map(jnp.copy, zeros), "step": jnp.int32(0)}


def loss(layers, x, y):
    """The mean squared error of the network."""
    for layer in layers[:-1]:
        x = jnp.tanh(x @ layer["w"] + layer["b"])
    return jnp.mean((x @ layers[-1]["w"] + layers[-1]["b"] - y) ** 2)


def adam(state, x, y):
    """One step of Adam."""
    value, slopes = jax.value_and_grad(loss)(state["layers"], x, y)
    step = state["step"] + 1
    mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["mean"], slopes)
    square = jax.tree.map(lambda s, g: 0.999 * s + 0.001 * g * g, state["square"], slopes)
    layers = jax.tree.map(
        lambda p, m, s: p - 0.02 * (m / (1 - 0.9**step)) / (jnp.sqrt(s / (1 - 0.999**step)) + 1e-8),
        state["layers"], mean, square,
    )  # fmt: skip
    return {"layers": layers, "mean": mean, "square": square, "step": step}, value


def train(state, count, x=INPUTS, y=TARGETS):
    """The state after this many steps, and every loss."""
    step = jax.jit(adam, donate_argnums=0)
    losses = []
    for _ in range(count):
        state, value = step(state, x, y)
        losses.append(value)
    return state, [float(value) for value in losses]


@check
def a_network_is_trained():
    _, losses = train(start(), 150)
    assert losses[-1] < losses[0] / 20, (losses[0], losses[-1])


@check
def training_equals_the_cpu():
    _, losses = train(start(), 30)
    with jax.default_device(jax.devices("cpu")[0]):
        _, on_cpu = train(start(), 30)
    close(losses, on_cpu, 1e-4)


@check
def training_on_eight_devices():
    mesh = Mesh(np.array(jax.devices()), ("batch",))
    place = lambda x: jax.device_put(x, NamedSharding(mesh, PartitionSpec("batch")))  # noqa: E731
    state = jax.device_put(start(), NamedSharding(mesh, PartitionSpec()))
    _, losses = train(state, 30, place(INPUTS), place(TARGETS))
    close(losses, train(start(), 30)[1], 1e-4)


@check
def training_in_a_scan():
    state, losses = jax.jit(
        lambda s: jax.lax.scan(lambda s, _: adam(s, INPUTS, TARGETS), s, None, length=30)
    )(start())  # fmt: skip
    close(losses, train(start(), 30)[1], 1e-4)
    assert int(state["step"]) == 30


@check
def training_resumes_from_a_checkpoint():
    state, _ = train(start(), 10)
    with tempfile.TemporaryDirectory() as folder:
        leaves, tree = jax.tree.flatten(state)
        np.savez(Path(folder) / "checkpoint.npz", *leaves)
        with np.load(Path(folder) / "checkpoint.npz") as read:
            again = jax.tree.unflatten(tree, [jax.device_put(read[name]) for name in read.files])
    for leaf, other in zip(jax.tree.leaves(state), jax.tree.leaves(again), strict=True):
        same(leaf, np.asarray(other))
    assert train(again, 5)[1] == train(jax.tree.map(jnp.copy, state), 5)[1]


@check
def gradients_are_clipped_and_accumulated():
    def accumulate(layers):
        add = lambda total, batch: (jax.tree.map(jnp.add, total, jax.grad(loss)(layers, *batch)), None)  # noqa: E731
        batches = (INPUTS.reshape(4, 16, 4), TARGETS.reshape(4, 16, 1))
        return jax.lax.scan(add, jax.tree.map(jnp.zeros_like, layers), batches)[0]

    layers = start()["layers"]
    summed, whole = jax.jit(accumulate)(layers), jax.grad(loss)(layers, INPUTS, TARGETS)
    for part, want in zip(jax.tree.leaves(summed), jax.tree.leaves(whole), strict=True):
        close(part / 4, want, 1e-5)


@check
def attention_in_bfloat16():
    q, k, v = (random.normal(size=(2, 8, 2, 16)).astype(np.float32) for _ in range(3))
    result = jax.jit(jax.nn.dot_product_attention)(*(jnp.asarray(x, jnp.bfloat16) for x in (q, k, v)))
    scores = np.einsum("bqhd,bkhd->bhqk", q, k) / 4
    weights = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    close(result, np.einsum("bhqk,bkhd->bqhd", weights, v), 5e-2)


@check
def a_profile_is_written():
    with tempfile.TemporaryDirectory() as folder:
        with jax.profiler.trace(folder):
            jax.jit(lambda x: x @ x)(np.ones((50, 50), np.float32)).block_until_ready()
        assert list(Path(folder).rglob("*.xplane.pb"))


@check
def a_memory_profile_is_taken():
    held = jnp.ones(1000)
    assert len(jax.profiler.device_memory_profile()) > 100
    del held


@check
def a_pallas_kernel_in_interpret_mode():
    from jax.experimental import pallas as pl

    def kernel(x, y, out):
        out[...] = x[...] * 2 + y[...]

    x = np.arange(32, dtype=np.float32).reshape(4, 8)
    call = pl.pallas_call(
        kernel, grid=(2,), interpret=True, out_shape=jax.ShapeDtypeStruct((4, 8), np.float32),
        in_specs=[pl.BlockSpec((2, 8), lambda i: (i, 0))] * 2, out_specs=pl.BlockSpec((2, 8), lambda i: (i, 0)),
    )  # fmt: skip
    same(jax.jit(call)(x, x), x * 3)


@check
def an_array_is_printed_pickled_and_iterated():
    import pickle

    x = jax.jit(lambda: jnp.arange(3.0))()
    assert str(x) == "[0. 1. 2.]"
    same(pickle.loads(pickle.dumps(x)), np.arange(3, dtype=np.float32))
    assert [float(value) for value in x] == [0, 1, 2]


@check
def optimisation_with_bfgs():
    from jax.scipy.optimize import minimize

    found = minimize(lambda x: jnp.sum((x - jnp.array([1.0, 2.0])) ** 2), jnp.zeros(2), method="BFGS")
    close(found.x, [1, 2], 1e-3)


finish()
