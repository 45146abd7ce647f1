"""Programs with Haiku."""

import haiku as hk
import jax
import jax.numpy as jnp
import optax

KEY = jax.random.PRNGKey(0)


def residual_network():
    """Initialise and differentiate the residual network of an agent, with a recurrent core."""

    def forward(frames):
        x = frames
        for channels in (8, 16, 16):
            x = hk.max_pool(hk.Conv2D(channels, 3)(x), (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
            for _ in range(2):
                block = hk.Sequential([jax.nn.relu, hk.Conv2D(channels, 3), jax.nn.relu, hk.Conv2D(channels, 3)])
                x = x + block(x)
        x = jax.nn.relu(hk.Linear(64)(hk.Flatten()(jax.nn.relu(x))))
        core = hk.LSTM(64)
        out, _ = hk.dynamic_unroll(core, x[:, None], core.initial_state(1))
        return hk.Linear(6)(out[:, 0]), hk.Linear(1)(out[:, 0])

    model = hk.transform(forward)
    frames = jax.random.uniform(KEY, (8, 48, 48, 3))
    weights = jax.jit(model.init)(KEY, frames)

    @jax.jit
    def loss(weights):
        logits, values = model.apply(weights, None, frames)
        return jax.nn.logsumexp(logits, axis=-1).mean() + (values**2).mean()

    value, gradient = jax.value_and_grad(loss)(weights)
    return jnp.stack([value, optax.global_norm(gradient)])


def actor_step():
    """Run an actor: apply, sample an action and step a small environment, in one scan."""

    def policy(observation):
        return hk.nets.MLP((32, 32, 4))(observation)

    model = hk.without_apply_rng(hk.transform(policy))
    weights = model.init(KEY, jnp.zeros(6))

    @jax.jit
    def unroll(weights, key):
        def step(carry, key):
            state = carry
            action_key, noise_key, reset_key = jax.random.split(key, 3)
            action = jax.random.categorical(action_key, model.apply(weights, state))
            state = 0.9 * state + 0.1 * jax.nn.one_hot(action, 6) + 0.01 * jax.random.normal(noise_key, (6,))
            reset = jax.random.bernoulli(reset_key, 0.1)
            return jnp.where(reset, jnp.zeros(6), state), (action, state.sum())

        return jax.lax.scan(step, jnp.zeros(6), jax.random.split(key, 20))

    _, (actions, _) = unroll(weights, KEY)
    return actions.sum()


def batch_norm_training():
    """Train with batch normalisation, a state that Haiku carries, and exponential averages."""

    def forward(x, is_training):
        x = hk.Linear(32)(x)
        x = hk.BatchNorm(True, True, 0.9)(x, is_training)
        return hk.Linear(1)(jnp.tanh(x))

    model = hk.transform_with_state(forward)
    x = jax.random.normal(KEY, (64, 8))
    weights, state = model.init(KEY, x, True)
    optimizer = optax.rmsprop(1e-2)

    @jax.jit
    def step(weights, state, opt_state):
        def loss(weights):
            out, changed = model.apply(weights, state, KEY, x, True)
            return jnp.mean((out[:, 0] - x.sum(1)) ** 2), changed

        (value, state_), gradient = jax.value_and_grad(loss, has_aux=True)(weights)
        updates, opt_state = optimizer.update(gradient, opt_state)
        return optax.apply_updates(weights, updates), state_, opt_state, value

    opt_state = optimizer.init(weights)
    for _ in range(3):
        weights, state, opt_state, value = step(weights, state, opt_state)
    return value
