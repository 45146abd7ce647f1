"""Training steps."""

import functools

import jax
import jax.numpy as jnp
import numpy as np


def _train(loss, weights, batches, rate=0.1):
    """Train with gradient descent, and print each loss."""

    @jax.jit
    def step(weights, batch):
        value, gradients = jax.value_and_grad(loss)(weights, batch)
        return jax.tree.map(lambda w, g: w - rate * g, weights, gradients), value

    for batch in batches:
        weights, value = step(weights, batch)
        print(float(value))
    return weights


def _normal(seed, *shapes, scale=0.3):
    source = np.random.default_rng(seed)
    return [(scale * source.normal(size=shape)).astype(np.float32) for shape in shapes]


def regression():
    weights = _train(lambda w, b: jnp.mean((b[0] @ w - b[1]) ** 2), np.zeros(4, np.float32),
                     [_normal(seed, (16, 4), (16,)) for seed in range(4)])  # fmt: skip
    print(np.asarray(weights))


def convolutional_network():
    def loss(weights, batch):
        x = jax.lax.conv(batch[0], weights[0], (1, 1), "SAME")
        x = (x - x.mean((0, 2, 3), keepdims=True)) / jnp.sqrt(x.var((0, 2, 3), keepdims=True) + 1e-3)
        x = jax.lax.reduce_window(jax.nn.relu(x), -jnp.inf, jax.lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")
        return -jax.nn.log_softmax(x.reshape(x.shape[0], -1) @ weights[1])[:, 0].mean()

    _train(loss, _normal(0, (4, 1, 3, 3), (64, 5)), [_normal(seed, (3, 1, 8, 8)) for seed in range(1, 4)])


def long_short_term_memory():
    def loss(weights, batch):
        def step(state, x):
            hidden, cell = state
            gates = jnp.concatenate([x, hidden], -1) @ weights[0]
            forget, write, read, new = jnp.split(gates, 4, -1)
            cell = jax.nn.sigmoid(forget) * cell + jax.nn.sigmoid(write) * jnp.tanh(new)
            hidden = jax.nn.sigmoid(read) * jnp.tanh(cell)
            return (hidden, cell), hidden

        _, outputs = jax.lax.scan(step, (jnp.zeros((4, 8)), jnp.zeros((4, 8))), batch[0])
        return jnp.mean((outputs @ weights[1])[..., 0] ** 2)

    _train(loss, _normal(2, (11, 32), (8, 1)), [_normal(seed, (6, 4, 3)) for seed in range(3)])


def state_space_model():
    def loss(weights, batch):
        decay = jax.nn.sigmoid(weights[0])

        def combine(left, right):
            return left[0] * right[0], left[1] * right[0] + right[1]

        inputs = batch[0]
        _, states = jax.lax.associative_scan(combine, (jnp.broadcast_to(decay, inputs.shape), inputs))
        return jnp.mean((states @ weights[1]) ** 2)

    _train(loss, _normal(3, (6,), (6, 2)), [_normal(seed, (10, 6)) for seed in range(3)])


def dropout():
    def loss(weights, batch):
        x, key = batch
        kept = jax.random.bernoulli(key, 0.8, (x.shape[0], 8))
        return jnp.mean((jnp.where(kept, jnp.tanh(x @ weights[0]) / 0.8, 0) @ weights[1]) ** 2)

    batches = [(_normal(seed, (6, 4))[0], jax.random.key(seed)) for seed in range(3)]
    _train(loss, _normal(4, (4, 8), (8, 1)), batches)


def variational_autoencoder():
    def loss(weights, batch):
        x, key = batch
        mean, spread = jnp.split(jnp.tanh(x @ weights[0]) @ weights[1], 2, -1)
        code = mean + jnp.exp(spread) * jax.random.normal(key, mean.shape)
        difference = 0.5 * (mean**2 + jnp.exp(2 * spread) - 1 - 2 * spread).sum(-1)
        return jnp.mean(((code @ weights[2] - x) ** 2).sum(-1) + difference)

    batches = [(_normal(seed, (6, 5))[0], jax.random.key(seed)) for seed in range(3)]
    _train(loss, _normal(5, (5, 8), (8, 4), (2, 5)), batches, rate=0.01)


def adversarial_networks():
    def judge(weights, x):
        return jnp.tanh(x @ weights[0]) @ weights[1]

    @jax.jit
    def step(maker, critic, real, noise):
        def critic_loss(critic):
            return jnp.mean(jax.nn.softplus(judge(critic, noise @ maker)) + jax.nn.softplus(-judge(critic, real)))

        def maker_loss(maker):
            return jnp.mean(jax.nn.softplus(-judge(critic, noise @ maker)))

        critic = jax.tree.map(lambda w, g: w - 0.1 * g, critic, jax.grad(critic_loss)(critic))
        return maker - 0.1 * jax.grad(maker_loss)(maker), critic, maker_loss(maker)

    maker, critic = _normal(6, (3, 4))[0], _normal(7, (4, 6), (6, 1))
    for seed in range(3):
        maker, critic, value = step(maker, critic, *_normal(seed, (8, 4), (8, 3)))
        print(float(value))


def contrastive_learning():
    def loss(weights, batch):
        left, right = (x @ weights / jnp.linalg.norm(x @ weights, axis=-1, keepdims=True) for x in batch)
        scores = left @ right.T / 0.1
        return jnp.mean(jax.nn.logsumexp(scores, axis=1) - jnp.diag(scores))

    _train(loss, _normal(8, (6, 4))[0], [_normal(seed, (5, 6), (5, 6)) for seed in range(3)])


def low_rank_adaptation():
    frozen = jax.device_put(_normal(9, (12, 12))[0])

    def loss(weights, batch):
        return jnp.mean((batch[0] @ (frozen + weights[0] @ weights[1])) ** 2)

    _train(loss, _normal(10, (12, 2), (2, 12)), [_normal(seed, (5, 12)) for seed in range(3)])


def recomputed_layers():
    def loss(weights, batch):
        @functools.partial(jax.checkpoint, policy=jax.checkpoint_policies.dots_saveable)
        def layer(x, w):
            return jnp.sin(x @ w), None

        return jnp.mean(jax.lax.scan(layer, batch[0], weights)[0] ** 2)

    _train(loss, _normal(11, (5, 6, 6))[0], [_normal(seed, (4, 6)) for seed in range(2)])


def donated_optimiser():
    @functools.partial(jax.jit, donate_argnums=(0, 1))
    def step(weights, state, count, gradient):
        state = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * jnp.stack([g, g * g]), state, gradient)
        update = jax.tree.map(lambda m: m[0] / (jnp.sqrt(m[1]) + 1e-8) / (1 - 0.9**count), state)
        return jax.tree.map(lambda w, u: w - 0.01 * u, weights, update), state

    weights = jax.device_put(_normal(12, (4, 4), (4,)))
    state = [jnp.zeros((2, *each.shape)) for each in weights]
    for count in range(1, 5):
        weights, state = step(weights, state, float(count), _normal(count, (4, 4), (4,)))
    print([float(each.sum()) for each in weights])


def graph_network():
    def loss(weights, batch):
        nodes, edges = batch
        messages = jnp.tanh(nodes[edges[:, 0]] @ weights[0])
        sums = jax.ops.segment_sum(messages, edges[:, 1], num_segments=nodes.shape[0])
        return jnp.mean((jnp.maximum(nodes, sums) @ weights[1]) ** 2)

    source = np.random.default_rng(13)
    batches = [(_normal(seed, (7, 5))[0], source.integers(0, 7, (20, 2), dtype=np.int32)) for seed in range(3)]
    _train(loss, _normal(14, (5, 5), (5, 1)), batches)


def reinforcement_learning():
    @jax.jit
    def play(table, key):
        def step(state, key):
            table, place = state
            explores, chosen = jax.random.split(key)
            random = jax.random.bernoulli(explores, 0.2)
            action = jnp.where(random, jax.random.randint(chosen, (), 0, 2), jnp.argmax(table[place]))
            after = jnp.clip(place + 2 * action - 1, 0, 5)
            reward = jax.lax.cond(after == 5, lambda: 1.0, lambda: -0.1)
            target = reward + 0.9 * table[after].max()
            return (table.at[place, action].add(0.5 * (target - table[place, action])), after % 5), reward

        return jax.lax.scan(step, (table, 0), jax.random.split(key, 40))

    (table, _), rewards = play(jnp.zeros((6, 2)), jax.random.key(3))
    print(np.asarray(table), float(rewards.sum()))
