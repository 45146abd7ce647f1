"""Compiles 30 programs with temporaries, and prints the size of those as JAX reports it. Run it on 8 devices."""

import json

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

mesh = Mesh(np.array(jax.devices()[:8]).reshape(4, 2), ("data", "model"))


def placed(array, *axes):
    return jax.device_put(array, NamedSharding(mesh, P(*axes)))


SQUARE = jnp.ones((64, 64))
WEIGHTS = dict.fromkeys(("query", "key", "value", "out"), SQUARE)
WEIGHTS |= {"up": jnp.ones((64, 256)), "down": jnp.ones((256, 64))}
BATCH = jnp.ones((4, 32, 64))


def normed(x):
    return (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)


def attention(weights, x, heads=4):
    query, key, value = ((x @ weights[name]).reshape(*x.shape[:2], heads, -1) for name in ("query", "key", "value"))
    scores = jnp.einsum("bqhd,bkhd->bhqk", query, key) / 4.0
    scores = jnp.where(jnp.tril(jnp.ones(scores.shape[-2:], bool)), scores, -1e9)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), value).reshape(x.shape) @ weights["out"]


def layer(weights, x):
    x = x + attention(weights, normed(x))
    return x + jax.nn.gelu(normed(x) @ weights["up"]) @ weights["down"]


def transformer(weights, x, layers=3, wrap=lambda f: f):
    for _ in range(layers):
        x = wrap(layer)(weights, x)
    return (x**2).mean()


def scanned(weights, x, wrap=lambda f: f):
    return (lax.scan(lambda carry, _: (wrap(layer)(weights, carry), carry.sum()), x, None, length=4)[0] ** 2).sum()


def dots(f):
    return jax.checkpoint(f, policy=jax.checkpoint_policies.dots_saveable)


def sgd(weights, x):
    return jax.tree.map(lambda w, g: w - 0.1 * g, weights, jax.grad(transformer)(weights, x))


def adam(state, x):
    weights, first, second = state
    gradient = jax.grad(transformer)(weights, x)
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradient)
    second = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, second, gradient)
    return jax.tree.map(lambda w, m, v: w - 0.1 * m / (jnp.sqrt(v) + 1e-8), weights, first, second), first, second


def convolution(kernel, images):
    numbers = ("NHWC", "HWIO", "NHWC")
    for _ in range(2):
        images = jax.nn.relu(lax.conv_general_dilated(images, kernel, (1, 1), "SAME", dimension_numbers=numbers))
    return lax.reduce_window(images, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID").sum()


def recurrent(weights, xs):
    def step(state, x):
        state = jnp.tanh(state @ weights["query"] + x @ weights["key"])
        return state, state

    return lax.scan(step, xs[0], xs)[1].sum()


def newton(a):
    return lax.while_loop(lambda c: c[0] < 5, lambda c: (c[0] + 1, c[1] @ (2 * jnp.eye(64) - a @ c[1])), (0, a))[1]


def nested(x):
    return lax.fori_loop(0, 3, lambda _, y: lax.fori_loop(0, 2, lambda _, z: jnp.sin(z @ x), y), x)


def switch(index, x):
    return lax.switch(index, [lambda x: x @ x, lambda x: jnp.sort(x), lambda x: jnp.cumsum(x, 0) @ x.T], x).sum()


def embedding(table, tokens):
    return jax.nn.logsumexp(table[tokens] @ table.T, -1).sum()


def shard_mapped(x):
    return jax.shard_map(lambda x: lax.psum(jnp.sin(x @ x.T), "data"), mesh=mesh, in_specs=P("data"), out_specs=P())(x)


def halved(tree):
    return jax.tree.map(lambda array: array.astype(jnp.bfloat16), tree)


KERNEL = jnp.ones((3, 3, 8, 8))
IMAGES = jnp.ones((2, 16, 16, 8))
SHARDED = {
    name: placed(w, "model", None) if name in ("down", "out") else placed(w, None, "model")
    for name, w in WEIGHTS.items()
}
FULLY_SHARDED = {name: placed(w, "data", None) for name, w in WEIGHTS.items()}
SHARDED_BATCH = placed(np.ones((8, 32, 64), np.float32), "data", None, None)
MOMENTS = jax.tree.map(jnp.zeros_like, WEIGHTS)
STATE = (WEIGHTS, MOMENTS, MOMENTS)

PROGRAMS = {
    "layer": (layer, (WEIGHTS, BATCH), {}),
    "layer_gradient": (jax.grad(lambda w, x: layer(w, x).sum()), (WEIGHTS, BATCH), {}),
    "transformer": (jax.grad(transformer), (WEIGHTS, BATCH), {}),
    "transformer_remat": (jax.grad(lambda w, x: transformer(w, x, wrap=jax.checkpoint)), (WEIGHTS, BATCH), {}),
    "transformer_dots": (jax.grad(lambda w, x: transformer(w, x, wrap=dots)), (WEIGHTS, BATCH), {}),
    "transformer_half": (
        jax.grad(lambda w, x: transformer(w, x).astype(jnp.float32)),
        (halved(WEIGHTS), halved(BATCH)),
        {},
    ),
    "scan": (scanned, (WEIGHTS, BATCH), {}),
    "scan_gradient": (jax.grad(scanned), (WEIGHTS, BATCH), {}),
    "scan_remat": (jax.grad(lambda w, x: scanned(w, x, wrap=jax.checkpoint)), (WEIGHTS, BATCH), {}),
    "attention": (attention, (WEIGHTS, BATCH), {}),
    "attention_gradient": (jax.grad(lambda w, x: attention(w, x).sum()), (WEIGHTS, BATCH), {}),
    "attention_vmap": (jax.vmap(attention, in_axes=(None, 0)), (WEIGHTS, jnp.stack([BATCH, BATCH])), {}),
    "sgd_donated": (sgd, (WEIGHTS, BATCH), {"donate_argnums": 0}),
    "adam_donated": (adam, (STATE, BATCH), {"donate_argnums": 0}),
    "adam": (adam, (STATE, BATCH), {}),
    "convolution": (convolution, (KERNEL, IMAGES), {}),
    "convolution_gradient": (jax.grad(convolution), (KERNEL, IMAGES), {}),
    "recurrent_gradient": (jax.grad(recurrent), (WEIGHTS, jnp.ones((12, 8, 64))), {}),
    "sort": (lambda x: jnp.sort(x[:, None] * x).cumsum(0).max(), (jnp.ones(128),), {}),
    "argsort": (lambda x: x[jnp.argsort(x[:, 0])] @ x.T, (SQUARE,), {}),
    "top_k": (lambda x: lax.top_k(x @ x.T, 8), (SQUARE,), {}),
    "newton": (newton, (SQUARE,), {}),
    "nested": (nested, (SQUARE,), {}),
    "switch": (switch, (1, SQUARE), {}),
    "embedding_gradient": (jax.grad(embedding), (jnp.ones((128, 32)), jnp.arange(16)), {}),
    "random": (
        lambda key: jax.random.normal(key, (64, 64)) @ jax.random.uniform(key, (64, 64)),
        (jax.random.key(0),),
        {},
    ),
    "svd": (lambda x: jnp.linalg.svd(x)[1], (jnp.ones((32, 16)),), {}),
    "sharded": (jax.grad(transformer), (SHARDED, SHARDED_BATCH), {}),
    "fsdp_donated": (sgd, (FULLY_SHARDED, SHARDED_BATCH), {"donate_argnums": 0}),
    "shard_map": (shard_mapped, (placed(np.ones((64, 32), np.float32), "data", None),), {}),
}
totals = {}
for name, (function, arguments, options) in PROGRAMS.items():

    def program(*arguments, function=function):
        return function(*arguments)

    program.__name__ = name
    compiled = jax.jit(program, **options).lower(*arguments).compile()
    totals[name] = compiled.memory_analysis().temp_size_in_bytes
print(json.dumps(totals))
