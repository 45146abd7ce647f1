"""Programs with BlackJAX."""

import blackjax
import jax
import jax.numpy as jnp

KEY = jax.random.key(0)


def _log_density(position):
    return -0.5 * jnp.sum((position["x"] - 1.0) ** 2) - jnp.sum(jnp.cosh(position["y"]))


START = {"x": jnp.zeros(3), "y": jnp.ones(2)}


def _sample(kernel, state, key, count):
    def step(state, key):
        state, _ = kernel(key, state)
        return state, state.position

    return jax.lax.scan(step, state, jax.random.split(key, count))[1]


def no_u_turn_sampler():
    """Adapt and run a no-U-turn sampler."""
    warmup = blackjax.window_adaptation(blackjax.nuts, _log_density)
    (state, parameters), _ = warmup.run(KEY, START, num_steps=50)
    kernel = blackjax.nuts(_log_density, **parameters).step
    return jax.jit(lambda state, key: _sample(kernel, state, key, 20))(state, KEY)["x"].shape[0]


def hamiltonian():
    """Run Hamiltonian chains in parallel."""
    sampler = blackjax.hmc(_log_density, step_size=0.1, inverse_mass_matrix=jnp.ones(5), num_integration_steps=10)

    @jax.jit
    def run(key):
        keys = jax.random.split(key, 4)
        return jax.vmap(lambda k: _sample(sampler.step, sampler.init(START), k, 20))(keys)["x"].mean()

    return run(KEY)


def sequential_monte_carlo():
    """Temper particles from a prior to a posterior, with resampling."""
    import blackjax.smc.resampling as resampling

    def log_likelihood(x):
        return -jnp.sum((x**2 - 1.0) ** 2) * 4.0

    sampler = blackjax.tempered_smc(
        lambda x: -0.5 * jnp.sum(x**2), log_likelihood, blackjax.hmc.build_kernel(), blackjax.hmc.init,
        {"step_size": jnp.full(1, 0.1), "inverse_mass_matrix": jnp.ones((1, 2)),
         "num_integration_steps": jnp.full(1, 5)},
        resampling.systematic, num_mcmc_steps=3,
    )  # fmt: skip
    state = sampler.init(jax.random.normal(KEY, (100, 2)))
    step = jax.jit(sampler.step)
    for number in range(4):
        state, _ = step(jax.random.fold_in(KEY, number), state, (number + 1) / 4)
    return state.particles.shape[0]
