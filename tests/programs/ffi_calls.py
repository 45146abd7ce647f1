"""Call every example handler once or a few times: ffi_calls.py LIBRARY. Prints the lines of its calls."""

import json
import sys

import ffi_examples
import jax
import jax.numpy as jnp
import numpy as np

LINES = {}


def note(name):
    LINES[name] = sys._getframe(1).f_lineno


ffi_examples.register(sys.argv[1])
x = jnp.linspace(-1, 1, 32, dtype=jnp.float32).reshape(4, 8)
expected = x / np.sqrt(np.mean(np.square(x), axis=-1, keepdims=True) + 1e-5)

note("rms_norm"); y = jax.jit(ffi_examples.rms_norm)(x)  # fmt: skip  # noqa: E702
np.testing.assert_allclose(y, expected, rtol=1e-5)
np.testing.assert_allclose(ffi_examples.rms_norm_anywhere(x), expected, rtol=1e-5)

note("gradient"); slope = jax.grad(lambda z: ffi_examples.rms_norm(z)[0, 0])(x)  # fmt: skip  # noqa: E702
step = np.zeros_like(x)
step[0, 1] = 1e-2
measured = (ffi_examples.rms_norm(x + step) - ffi_examples.rms_norm(x - step))[0, 0] / 2e-2
np.testing.assert_allclose(slope[0, 1], measured, rtol=1e-2)

pivots = jnp.array([[1, 2, 3], [0, 1, 2]], jnp.int32)
permutations = jax.vmap(lambda p: ffi_examples.lu_pivots_to_permutation(p, 4))(pivots)
np.testing.assert_array_equal(permutations, jax.lax.linalg.lu_pivots_to_permutation(pivots, 4))
np.testing.assert_array_equal(ffi_examples.permutation_builder((2,), 4)(pivots), permutations)

counted = jax.jit(ffi_examples.count_runs)
np.testing.assert_array_equal([counted(jnp.int32(0)) for _ in range(3)], [0, 1, 2])

np.testing.assert_array_equal(ffi_examples.scale_later(x, 2.0), 2 * x)
np.testing.assert_array_equal(ffi_examples.add_one_untyped(jnp.float32(1)), 2)
note("lapack"); q = jax.jit(lambda z: jnp.linalg.cholesky(z @ z.T + 9 * jnp.eye(4)))(x)  # fmt: skip  # noqa: E702
for how in ("error", "exception", "number"):
    try:
        ffi_examples.fail(x, how)
    except Exception as error:
        LINES[f"raised {how}"] = f"{type(error).__name__}: {error}"
print(json.dumps(LINES))
