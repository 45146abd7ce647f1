"""Compiles decompositions with listeners, and under settings that a framework's own code must not break. Prints counts.

The mock lowers a decomposition with JAX's functions for the CPU.
"""

from __future__ import annotations

import json
import logging
from collections import Counter

import jax
import jax.numpy as jnp
import numpy as np

heard: Counter[str] = Counter()
logged: list[str] = []


class Log(logging.Handler):
    """Collects JAX's messages about compilations."""

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the message."""
        logged.append(record.getMessage())


def main() -> None:
    """Compile and run."""
    matrix = jax.device_put(np.eye(4, dtype=np.float32) * 2 + 0.1)
    jax.monitoring.register_event_duration_secs_listener(lambda name, *_, **__: heard.update([name.rsplit("/")[-1]]))
    logging.getLogger("jax").addHandler(Log())
    logging.getLogger("jax").propagate = False
    for name in ("jax_log_compiles", "jax_enable_checks", "jax_check_tracer_leaks", "jax_debug_nans"):
        jax.config.update(name, True)
    jax.config.update("jax_numpy_dtype_promotion", "strict")
    for function in (jax.lax.linalg.cholesky, jax.lax.linalg.qr, jnp.linalg.inv):
        jax.block_until_ready(jax.jit(function)(matrix))
    traced = sum(message.startswith("Finished tracing") for message in logged)
    print(json.dumps({**heard, "logged": traced}))


if __name__ == "__main__":
    main()
