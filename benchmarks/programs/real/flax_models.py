"""Programs with Flax: linen and nnx."""

import jax
import jax.numpy as jnp
import optax
from flax import linen, nnx
from flax.training import train_state

KEY = jax.random.key(0)


def linen_convolutions():
    """Train a convolutional network with batch normalisation and dropout."""

    class Network(linen.Module):
        @linen.compact
        def __call__(self, x, train):
            for features in (8, 16):
                x = linen.Conv(features, (3, 3))(x)
                x = linen.relu(linen.BatchNorm(use_running_average=not train)(x))
                x = linen.max_pool(x, (2, 2), strides=(2, 2))
            x = linen.Dropout(0.2, deterministic=not train)(x.reshape(x.shape[0], -1))
            return linen.Dense(10)(x)

    network = Network()
    images, labels = jax.random.normal(KEY, (8, 28, 28, 1)), jnp.arange(8)
    variables = jax.jit(lambda key: network.init(key, images, train=False))(KEY)
    optimizer = optax.adam(1e-3)

    @jax.jit
    def step(weights, statistics, state, key):
        def loss(weights):
            logits, changed = network.apply(
                {"params": weights, "batch_stats": statistics}, images, train=True, rngs={"dropout": key},
                mutable=["batch_stats"],
            )  # fmt: skip
            return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean(), changed["batch_stats"]

        (value, statistics), gradient = jax.value_and_grad(loss, has_aux=True)(weights)
        updates, state = optimizer.update(gradient, state)
        return optax.apply_updates(weights, updates), statistics, state, value

    weights, statistics = variables["params"], variables["batch_stats"]
    state = optimizer.init(weights)
    for number in range(3):
        weights, statistics, state, value = step(weights, statistics, state, jax.random.fold_in(KEY, number))
    return value


def linen_lstm():
    """Train a recurrent network on sequences."""

    class Network(linen.Module):
        @linen.compact
        def __call__(self, x):
            return linen.Dense(1)(linen.RNN(linen.OptimizedLSTMCell(32))(x))

    network = Network()
    x = jax.random.normal(KEY, (4, 20, 8))
    state = train_state.TrainState.create(
        apply_fn=network.apply, params=network.init(KEY, x)["params"], tx=optax.sgd(0.1)
    )

    @jax.jit
    def step(state):
        def loss(weights):
            return jnp.mean((state.apply_fn({"params": weights}, x) - x.sum(-1, keepdims=True)) ** 2)

        value, gradient = jax.value_and_grad(loss)(state.params)
        return state.apply_gradients(grads=gradient), value

    for _ in range(3):
        state, value = step(state)
    return value


def linen_attention():
    """Apply self-attention with relative masks, jitted with its initialisation."""

    class Block(linen.Module):
        @linen.compact
        def __call__(self, x):
            mask = linen.make_causal_mask(x[..., 0])
            x = x + linen.SelfAttention(num_heads=4)(linen.LayerNorm()(x), mask=mask)
            return x + linen.Dense(x.shape[-1])(linen.gelu(linen.Dense(64)(linen.LayerNorm()(x))))

    model = linen.Sequential([Block(), Block()])
    x = jax.random.normal(KEY, (2, 16, 32))
    variables = jax.jit(model.init)(KEY, x)
    return jax.jit(jax.grad(lambda v: model.apply(v, x).var()))(variables)["params"]["layers_0"]["Dense_0"][
        "bias"
    ].sum()


def nnx_mlp():
    """Train a perceptron of nnx with its optimizer."""

    class Network(nnx.Module):
        def __init__(self, rngs):
            self.first = nnx.Linear(16, 64, rngs=rngs)
            self.norm = nnx.BatchNorm(64, rngs=rngs)
            self.dropout = nnx.Dropout(0.1, rngs=rngs)
            self.second = nnx.Linear(64, 1, rngs=rngs)

        def __call__(self, x):
            return self.second(nnx.relu(self.dropout(self.norm(self.first(x)))))

    model = Network(nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adamw(1e-3), wrt=nnx.Param)

    @nnx.jit
    def step(model, optimizer, x):
        value, gradient = nnx.value_and_grad(lambda m: jnp.mean((m(x) - x.sum(1, keepdims=True)) ** 2))(model)
        optimizer.update(model, gradient)
        return value

    x = jax.random.normal(KEY, (32, 16))
    for _ in range(3):
        value = step(model, optimizer, x)
    return value


def nnx_transformer():
    """Train an encoder of nnx whose layers are stacked by vmap and run by a scan."""

    class Layer(nnx.Module):
        def __init__(self, rngs):
            self.norm = nnx.LayerNorm(32, rngs=rngs)
            self.attention = nnx.MultiHeadAttention(4, 32, decode=False, rngs=rngs)
            self.dense = nnx.Linear(32, 32, rngs=rngs)

        def __call__(self, x):
            x = x + self.attention(self.norm(x))
            return x + nnx.gelu(self.dense(x))

    @nnx.split_rngs(splits=3)
    @nnx.vmap(in_axes=0, out_axes=0)
    def create(rngs):
        return Layer(rngs)

    @nnx.scan(in_axes=(0, nnx.Carry), out_axes=nnx.Carry)
    def forward(layer, x):
        return layer(x)

    layers = create(nnx.Rngs(0))
    x = jax.random.normal(KEY, (2, 12, 32))
    return nnx.jit(nnx.value_and_grad(lambda layers, x: forward(layers, x).var()))(layers, x)[0]
