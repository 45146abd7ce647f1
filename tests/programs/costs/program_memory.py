"""Programs with temporaries of many kinds, each on its own device; prints the compiler's figures for each."""

import json

import jax
import jax.numpy as jnp
from jax import lax

weights = [jnp.ones((64, 64)) for _ in range(4)]
blocks = {"up": jnp.ones((32, 128)), "down": jnp.ones((128, 32))}
batch = jnp.ones((16, 8, 32))


def multilayer(weights, x):
    for weight in weights:
        x = jnp.tanh(x @ weight)
    return (x**2).sum()


def attention(query, key, value):
    scores = jnp.einsum("bhqd,bhkd->bhqk", query, key)
    return jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores), value).sum()  # attention


def block(weights, x):
    inner = jax.nn.gelu(x @ weights["up"])  # case: up
    x = x + inner @ weights["down"]  # case: down
    return (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5)


def tower(weights, x):
    for _ in range(4):
        x = block(weights, x)
    return x.sum()


def remat_tower(weights, x):
    for _ in range(4):
        x = jax.checkpoint(block)(weights, x)
    return x.sum()


def scanned(weights, x):
    last, sums = lax.scan(lambda carry, _: (block(weights, carry), carry.sum()), x, None, length=8)  # case: scan
    return last.sum() + sums.sum()


def convolution(kernel, images):
    numbers = ("NHWC", "HWIO", "NHWC")
    return jnp.maximum(lax.conv_general_dilated(images, kernel, (1, 1), "SAME", dimension_numbers=numbers), 0).sum()


def sort(x):
    products = x[:, None] * x[None, :]
    return jnp.cumsum(jnp.sort(products)).max()  # sort


def loop(x):
    return lax.while_loop(lambda c: c[0] < 10, lambda c: (c[0] + 1, jnp.sin(c[1]) @ c[1]), (0, x))


def carried(x, y):
    """The first value carried by the loop is the largest."""
    sorted_rows = jnp.sort(x @ x.T)  # carried
    large, _, small = lax.while_loop(
        lambda c: c[1] < 3, lambda c: (c[0] + 1, c[1] + 1, jnp.sort(c[2] @ c[2])), (sorted_rows, 0, y)
    )
    return large.sum() + small.sum()


def branches(is_short, x):
    return lax.cond(is_short, lambda x: jnp.sin(x) @ x, lambda x: (x @ x) @ (x.T @ x), x).sum()


heads = jnp.ones((2, 2, 64, 16))
square = jnp.ones((64, 64))
programs = {
    "multilayer": (jax.grad(multilayer), (weights, jnp.ones((128, 64)))),
    "attention": (attention, (heads, heads, heads)),
    "attention_gradient": (jax.grad(attention), (heads, heads, heads)),
    "tower": (jax.grad(tower), (blocks, batch)),
    "remat_tower": (jax.grad(remat_tower), (blocks, batch)),
    "scan": (scanned, (blocks, batch)),
    "scan_gradient": (jax.grad(scanned), (blocks, batch)),
    "convolution": (jax.grad(convolution), (jnp.ones((3, 3, 4, 8)), jnp.ones((2, 16, 16, 4)))),
    "sort": (sort, (jnp.ones(256),)),
    "loop": (loop, (square,)),
    "carried": (carried, (jnp.ones((128, 16)), jnp.ones((32, 32)))),
    "branches": (branches, (True, square)),
    "top_k": (lambda x: lax.top_k(x @ x.T, 8), (jnp.ones((128, 16)),)),
    "fft": (lambda x: jnp.abs(jnp.fft.fft2(x)).sum(), (square,)),
    "svd": (lambda x: jnp.linalg.svd(x)[1], (jnp.ones((32, 16)),)),
    "map": (lambda x: lax.map(lambda row: (row[:, None] * row[None, :]).sum(0), x), (jnp.ones((8, 64)),)),
    "random": (lambda key: jax.random.normal(key, (64, 64)).sum(), (jax.random.key(0),)),
    "vmap": (jax.vmap(jax.grad(multilayer), in_axes=(None, 0)), (weights[:2], jnp.ones((4, 32, 64)))),
}

said = {}
for (name, (function, arguments)), device in zip(programs.items(), jax.devices()[1:], strict=False):
    function.__name__ = name  # of its module
    there = jax.device_put(arguments, device)
    compiled = jax.jit(function).lower(*there).compile()
    sizes = compiled.memory_analysis()
    jax.block_until_ready(compiled(*there))
    statistics = device.memory_stats()
    said[name] = [device.id, sizes.temp_size_in_bytes, statistics["peak_bytes_in_use"]]
print(json.dumps(said))
