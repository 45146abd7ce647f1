"""Chain splits of a key with draws from it in one program, and print a digest of the drawn bits."""

import hashlib
import json

import jax
import numpy as np


@jax.jit
def mix(k0, k1, x, y):
    """Four words to two, like Threefry's, but not Threefry."""
    for rotation in (13, 15, 26, 6) * 5:
        x = x + y
        y = x ^ ((y << rotation) | (y >> (32 - rotation)))
    return x + k0, y + k1


@jax.jit
def draw(key):
    drawn = [*mix(*(np.arange(4, dtype=np.uint32) + number for number in range(4)))]
    for _ in range(4):
        key, part = jax.random.split(key)
        drawn.append(jax.random.truncated_normal(part, -2.0, 2.0, (64, 64)))
        drawn.append(jax.vmap(lambda each: jax.random.uniform(each, (3,)))(jax.random.split(part, 5)))
        drawn.append(jax.random.bits(part, (7,), "uint8"))
    return drawn


digest = hashlib.sha256()
for array in draw(jax.random.key(7)):
    digest.update(np.asarray(array).view(np.uint8).tobytes())
print(json.dumps(digest.hexdigest()))
