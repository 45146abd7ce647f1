"""Differential equations, random processes and other simulations."""

import jax
import jax.numpy as jnp
import numpy as np


def ode_with_fixed_steps():
    def slope(state):
        x, y, z = state
        return jnp.array([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z])

    @jax.jit
    def solve(state):
        def step(_, state):
            a = slope(state)
            b = slope(state + 0.005 * a)
            c = slope(state + 0.005 * b)
            return state + 0.01 / 6 * (a + 2 * b + 2 * c + slope(state + 0.01 * c))

        return jax.lax.fori_loop(0, 100, step, state)

    print(np.asarray(solve(np.array([1, 1, 1], np.float32))))


def ode_with_adaptive_steps():
    @jax.jit
    def solve(y):
        def slope(time, y):
            return -2 * y + jnp.sin(time)

        def step(state):
            time, size, y, count = state
            first = slope(time, y)
            second = slope(time + size, y + size * first)
            error = jnp.abs(size * (second - first) / 2).max()
            accepted = error < 1e-3
            y = jnp.where(accepted, y + size * (first + second) / 2, y)
            time = jnp.where(accepted, time + size, time)
            return time, size * jnp.clip(0.9 * jnp.sqrt(1e-3 / (error + 1e-9)), 0.2, 2), y, count + 1

        return jax.lax.while_loop(lambda state: state[0] < 1, step, (0.0, 0.1, y, 0))

    time, _, y, count = solve(np.array([1, -1], np.float32))
    print(float(time), np.asarray(y), int(count))


def heat_equation():
    @jax.jit
    def diffuse(field):
        def step(field, _):
            neighbours = sum(jnp.roll(field, shift, axis) for shift in (1, -1) for axis in (0, 1))
            return field + 0.2 * (neighbours - 4 * field), field.max()

        return jax.lax.scan(step, field, length=20)

    field, largest = diffuse(np.pad(np.ones((4, 4), np.float32), 6))
    print(np.asarray(field).sum(), np.asarray(largest)[::5])


def gravity():
    @jax.jit
    def step(places, speeds, masses):
        apart = places[None] - places[:, None]
        forces = (apart * (masses[None, :, None] / ((apart**2).sum(-1) + 0.1)[..., None] ** 1.5)).sum(1)
        speeds = speeds + 0.01 * forces
        return places + 0.01 * speeds, speeds

    source = np.random.default_rng(0)
    places, speeds = source.normal(size=(2, 6, 3)).astype(np.float32)
    masses = np.ones(6, np.float32)
    for _ in range(5):
        places, speeds = step(places, speeds, masses)
    print(np.asarray(places).sum(0))


def molecular_dynamics():
    def energy(places):
        apart = places[None] - places[:, None] + jnp.eye(places.shape[0])[..., None]
        inverse = 1 / (apart**2).sum(-1) ** 3
        return jnp.sum(jnp.triu(inverse**2 - inverse, 1))

    @jax.jit
    def relax(places):
        return jax.lax.fori_loop(0, 10, lambda _, p: p - 1e-3 * jnp.clip(jax.grad(energy)(p), -1, 1), places)

    start = np.stack(np.meshgrid(*[np.arange(2, dtype=np.float32) * 1.2] * 3), -1).reshape(8, 3)
    print(float(energy(relax(start))))


def hamiltonian_sampling():
    def potential(x):
        return 0.5 * (x @ x) + jnp.sin(3 * x).sum()

    @jax.jit
    def chain(x, key):
        def step(x, key):
            first, second = jax.random.split(key)
            momentum = jax.random.normal(first, x.shape)

            def leap(_, state):
                y, p = state
                p = p - 0.05 * jax.grad(potential)(y)
                y = y + 0.1 * p
                return y, p - 0.05 * jax.grad(potential)(y)

            y, p = jax.lax.fori_loop(0, 5, leap, (x, momentum))
            before, after = potential(x) + 0.5 * momentum @ momentum, potential(y) + 0.5 * p @ p
            x = jnp.where(jnp.log(jax.random.uniform(second)) < before - after, y, x)
            return x, x

        return jax.lax.scan(step, x, jax.random.split(key, 12))[1]

    print(np.asarray(chain(jnp.zeros(3), jax.random.key(1))).mean(0))


def ising_model():
    @jax.jit
    def sweep(spins, key):
        def half(parity, state):
            spins, key = state
            key, used = jax.random.split(key)
            fields = sum(jnp.roll(spins, shift, axis) for shift in (1, -1) for axis in (0, 1))
            flips = jax.random.uniform(used, spins.shape) < jnp.exp(-0.8 * (spins * fields))
            chosen = (jnp.indices(spins.shape).sum(0) % 2) == parity % 2
            return jnp.where(flips & chosen, -spins, spins).astype(spins.dtype), key

        return jax.lax.fori_loop(0, 10, half, (spins, key))[0]

    print(np.asarray(sweep(jnp.ones((8, 8), jnp.int8), jax.random.key(2))).sum())


def option_prices():
    @jax.jit
    def price(spot, strike, key):
        noise = jax.random.normal(key, (64, 12))
        paths = spot * jnp.exp(jnp.cumsum(0.02 * noise - 0.0002, axis=1))
        return jnp.mean(jnp.maximum(paths.mean(1) - strike, 0)), jnp.percentile(paths[:, -1], 5)

    strikes = np.array([90, 100, 110], np.float32)
    print([np.asarray(each) for each in jax.vmap(price, (None, 0, None))(100.0, strikes, jax.random.key(4))])


def particle_filter():
    @jax.jit
    def run(observations, key):
        def step(particles, observed):
            observation, key = observed
            moved, chosen = jax.random.split(key)
            particles = particles + 0.3 * jax.random.normal(moved, particles.shape)
            weights = jax.nn.softmax(-((particles - observation) ** 2))
            places = (jax.random.uniform(chosen) + jnp.arange(particles.size)) / particles.size
            particles = particles[jnp.searchsorted(jnp.cumsum(weights), places)]
            return particles, particles.mean()

        return jax.lax.scan(step, jnp.zeros(32), (observations, jax.random.split(key, observations.size)))[1]

    print(np.asarray(run(np.sin(np.arange(8, dtype=np.float32)), jax.random.key(6))))


def quantum_circuit():
    @jax.jit
    def run(angles):
        state = jnp.zeros(8, jnp.complex64).at[0].set(1)
        for qubit in range(3):
            c, s = jnp.cos(angles[qubit]), -1j * jnp.sin(angles[qubit])
            gate = jnp.array([[c, s], [s, c]])
            state = jnp.moveaxis(jnp.tensordot(gate, state.reshape(2, 2, 2), (1, qubit)), 0, qubit).ravel()
        return state, jnp.abs(state) ** 2

    for result in run(np.array([0.3, 0.7, 1.1], np.float32)):
        print(np.asarray(result))


def game_of_life():
    @jax.jit
    def run(cells):
        def step(_, cells):
            count = sum(jnp.roll(cells, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)) - cells
            return ((count == 3) | ((count == 2) & (cells == 1))).astype(jnp.uint8)

        return jax.lax.fori_loop(0, 8, step, cells)

    print(np.asarray(run(np.random.default_rng(5).integers(0, 2, (12, 12), dtype=np.uint8))).sum())


def ray_marching():
    def distance(point):
        return jnp.minimum(jnp.linalg.norm(point - jnp.array([0, 0, 3.0])) - 1, point[1] + 1.2)

    @jax.jit
    def render(directions):
        def march(direction):
            def step(state):
                length, _, count = state
                near = distance(length * direction)
                return length + near, near, count + 1

            length, _, count = jax.lax.while_loop(
                lambda state: (state[1] > 1e-2) & (state[2] < 30), step, (0.0, 1.0, 0)
            )
            return length, count

        return jax.vmap(march)(directions)

    grid = np.stack(np.meshgrid(np.linspace(-1, 1, 8), np.linspace(-1, 1, 6)), -1).reshape(-1, 2)
    directions = np.concatenate([grid, np.ones((48, 1))], 1).astype(np.float32)
    lengths, counts = render(directions / np.linalg.norm(directions, axis=1, keepdims=True))
    print(np.asarray(lengths).sum(), np.asarray(counts).max())
