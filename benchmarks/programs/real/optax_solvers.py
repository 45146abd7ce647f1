"""Programs with Optax."""

import jax
import jax.numpy as jnp
import optax

KEY = jax.random.key(0)


def _rosenbrock(x):
    return jnp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def lbfgs():
    """Minimise a function by L-BFGS with a zoom line search, in one loop."""
    solver = optax.lbfgs()
    value_and_grad = optax.value_and_grad_from_state(_rosenbrock)

    @jax.jit
    def solve(x):
        def step(_, carry):
            x, state = carry
            value, gradient = value_and_grad(x, state=state)
            updates, state = solver.update(gradient, state, x, value=value, grad=gradient, value_fn=_rosenbrock)
            return optax.apply_updates(x, updates), state

        return jax.lax.fori_loop(0, 30, step, (x, solver.init(x)))[0]

    return _rosenbrock(solve(jnp.zeros(8)))


def chained_optimizers():
    """Train with clipping, a warm-up, weight decay, accumulated gradients and noise."""
    schedule = optax.warmup_cosine_decay_schedule(0.0, 0.1, 5, 50)
    chain = optax.chain(
        optax.clip_by_global_norm(1.0), optax.add_noise(0.01, 0.5, 7), optax.adamw(schedule, weight_decay=1e-4)
    )
    optimizer = optax.MultiSteps(chain, 2)
    x = jax.random.normal(KEY, (64, 8))

    @jax.jit
    def step(weights, state):
        gradient = jax.grad(lambda w: jnp.mean(optax.huber_loss(jnp.tanh(x @ w["a"]) @ w["b"], x[:, 0])))(weights)
        updates, state = optimizer.update(gradient, state, weights)
        return optax.apply_updates(weights, updates), state

    weights = {"a": jnp.eye(8) * 0.5, "b": jnp.ones(8) * 0.1}
    state = optimizer.init(weights)
    for _ in range(6):
        weights, state = step(weights, state)
    return weights["b"].sum()


def projections_and_losses():
    """Project, assign and compute losses with dynamic programs."""

    @jax.jit
    def run(key):
        scores = jax.random.normal(key, (6, 12, 8))
        projected = optax.projections.projection_simplex(scores[0, 0]).max()
        labels = jax.random.randint(key, (6, 4), 1, 8)
        ctc = optax.ctc_loss(scores, jnp.zeros((6, 12)), labels, jnp.zeros((6, 4))).mean()
        _, columns = optax.assignment.hungarian_algorithm(jnp.abs(scores[0]))
        return jnp.stack([projected, ctc, columns.sum().astype(jnp.float32)])

    return run(KEY)
