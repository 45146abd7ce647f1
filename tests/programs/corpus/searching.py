"""Sorting, dynamic programs and clusters."""

import jax
import jax.numpy as jnp
import numpy as np


def clusters():
    @jax.jit
    def step(centres, points):
        nearest = jnp.argmin(((points[:, None] - centres[None]) ** 2).sum(-1), axis=1)
        counts = jnp.bincount(nearest, length=centres.shape[0])
        sums = jax.ops.segment_sum(points, nearest, num_segments=centres.shape[0])
        return jnp.where(counts[:, None] > 0, sums / jnp.maximum(counts, 1)[:, None], centres), nearest

    points = np.random.default_rng(0).normal(size=(30, 2)).astype(np.float32)
    centres = points[:3]
    for _ in range(4):
        centres, nearest = step(centres, points)
    print(np.asarray(centres), np.asarray(nearest))


def most_likely_path():
    @jax.jit
    def decode(transitions, emissions):
        def step(scores, emission):
            candidates = scores[:, None] + transitions
            return candidates.max(0) + emission, candidates.argmax(0)

        last, parents = jax.lax.scan(step, emissions[0], emissions[1:])

        def back(state, parents):
            return parents[state], state

        first, path = jax.lax.scan(back, last.argmax(), parents, reverse=True)
        return first, path, last.max()

    source = np.random.default_rng(1)
    for result in decode(source.normal(size=(4, 4)).astype(np.float32), source.normal(size=(9, 4)).astype(np.float32)):
        print(np.asarray(result))


def sequence_alignment():
    @jax.jit
    def align(a, b):
        def row(above, letter):
            def cell(left, column):
                diagonal, up, other = column
                best = jnp.maximum(jnp.maximum(diagonal + jnp.where(letter == other, 2, -1), up - 1), left - 1)
                best = jnp.maximum(best, 0)
                return best, best

            _, cells = jax.lax.scan(cell, 0, (above[:-1], above[1:], b))
            cells = jnp.concatenate([jnp.zeros(1, cells.dtype), cells])
            return cells, cells.max()

        return jax.lax.scan(row, jnp.zeros(b.size + 1, jnp.int32), a)[1].max()

    source = np.random.default_rng(2)
    print(int(align(source.integers(0, 4, 12, dtype=np.int32), source.integers(0, 4, 10, dtype=np.int32))))


def shortest_paths():
    @jax.jit
    def relax(lengths):
        return jax.lax.fori_loop(
            0, lengths.shape[0], lambda k, d: jnp.minimum(d, d[:, k][:, None] + d[k][None]), lengths
        )

    print(np.asarray(relax(np.random.default_rng(3).uniform(1, 9, (6, 6)).astype(np.float32))).round(3))


def sorted_records():
    @jax.jit
    def order(keys, values):
        keys, values = jax.lax.sort((keys, values), num_keys=1)
        return keys, values, jnp.searchsorted(keys, jnp.array([3, 7])), jnp.unique(keys, size=6, fill_value=-1)

    source = np.random.default_rng(4)
    for result in order(source.integers(0, 9, 14, dtype=np.int32), source.normal(size=14).astype(np.float32)):
        print(np.asarray(result))


def histograms():
    f = jax.jit(lambda x: (jnp.histogram(x, 5, (-2, 2))[0], jnp.digitize(x, jnp.array([-1.0, 0, 1])), jnp.median(x)))
    for result in f(np.random.default_rng(5).normal(size=21).astype(np.float32)):
        print(np.asarray(result))


def scattered_updates():
    @jax.jit
    def f(x, places, values):
        return x.at[places].add(values), x.at[places].max(values), x.at[places % 3, 0].mul(2), jnp.take(x, places, 0)

    source = np.random.default_rng(6)
    x, values = source.normal(size=(5, 3)).astype(np.float32), source.normal(size=(4, 3)).astype(np.float32)
    for result in f(x, np.array([0, 2, 2, 4], np.int32), values):
        print(np.asarray(result).sum(0))


def branches():
    @jax.jit
    def f(x, number):
        return jax.lax.switch(number, [jnp.sin, lambda x: x * x, lambda x: jnp.cumsum(x), lambda x: -x], x)

    for number in range(4):
        print(np.asarray(f(np.arange(4, dtype=np.float32), number)))


def long_sequences():
    f = jax.jit(lambda x: (jnp.cumsum(x, 0), jax.lax.cummax(x), jnp.convolve(x, x[:5], "same"), jnp.diff(x)))
    for result in f(np.random.default_rng(7).normal(size=300).astype(np.float32)):
        print(np.asarray(result).sum())
