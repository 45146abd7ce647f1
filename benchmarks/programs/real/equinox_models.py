"""Programs with Equinox."""

import equinox as eqx
import jax
import jax.numpy as jnp
import optax

KEY = jax.random.key(0)


def recurrent_classifier():
    """Train a GRU to classify spirals."""

    class Network(eqx.Module):
        cell: eqx.nn.GRUCell
        linear: eqx.nn.Linear

        def __init__(self, key):
            first, second = jax.random.split(key)
            self.cell, self.linear = eqx.nn.GRUCell(2, 16, key=first), eqx.nn.Linear(16, 1, key=second)

        def __call__(self, points):
            hidden, _ = jax.lax.scan(lambda h, x: (self.cell(x, h), None), jnp.zeros(16), points)
            return self.linear(hidden)[0]

    model, optimizer = Network(KEY), optax.adam(3e-3)
    points = jax.random.normal(KEY, (32, 16, 2))
    labels = (points[:, :, 0].sum(1) > 0).astype(jnp.float32)
    state = optimizer.init(eqx.filter(model, eqx.is_inexact_array))

    @eqx.filter_jit
    def step(model, state):
        @eqx.filter_value_and_grad
        def loss(model):
            return optax.sigmoid_binary_cross_entropy(jax.vmap(model)(points), labels).mean()

        value, gradient = loss(model)
        updates, state = optimizer.update(gradient, state)
        return eqx.apply_updates(model, updates), state, value

    for _ in range(3):
        model, state, value = step(model, state)
    return value


def convolutions():
    """Initialise a convolutional network in a jit and evaluate its loss."""

    @eqx.filter_jit
    def run(key):
        keys = jax.random.split(key, 5)
        model = eqx.nn.Sequential([
            eqx.nn.Conv2d(1, 4, 3, key=keys[0]), eqx.nn.Lambda(jax.nn.relu), eqx.nn.MaxPool2d(2),
            eqx.nn.Conv2d(4, 8, 3, key=keys[1]), eqx.nn.Lambda(jax.nn.relu), eqx.nn.AdaptiveAvgPool2d(4),
            eqx.nn.Lambda(jnp.ravel), eqx.nn.Linear(128, 10, key=keys[2]),
        ])  # fmt: skip
        images = jax.random.normal(keys[3], (4, 1, 28, 28))
        return eqx.filter_grad(lambda m: jax.nn.logsumexp(jax.vmap(m)(images), axis=1).mean())(model)

    return run(KEY).layers[-1].bias


def vision_transformer():
    """Apply attention with dropout to patches of images."""

    class Block(eqx.Module):
        attention: eqx.nn.MultiheadAttention
        norm: eqx.nn.LayerNorm
        mlp: eqx.nn.MLP
        dropout: eqx.nn.Dropout

        def __init__(self, key):
            first, second = jax.random.split(key)
            self.attention = eqx.nn.MultiheadAttention(4, 32, key=first)
            self.norm, self.dropout = eqx.nn.LayerNorm(32), eqx.nn.Dropout(0.1)
            self.mlp = eqx.nn.MLP(32, 32, 64, 2, activation=jax.nn.gelu, key=second)

        def __call__(self, x, key):
            first, second = jax.random.split(key)
            normed = jax.vmap(self.norm)(x)
            x = x + self.dropout(self.attention(normed, normed, normed), key=first)
            return x + self.dropout(jax.vmap(self.mlp)(x), key=second)

    blocks = [Block(key) for key in jax.random.split(KEY, 3)]
    patches = jax.random.normal(KEY, (4, 16, 32))

    @eqx.filter_jit
    @eqx.filter_value_and_grad
    def loss(blocks, key):
        def apply(x, key):
            for block, own in zip(blocks, jax.random.split(key, len(blocks)), strict=True):
                x = block(x, own)
            return x.mean(0)

        return jax.vmap(apply)(patches, jax.random.split(key, 4)).var()

    return loss(blocks, KEY)[0]
