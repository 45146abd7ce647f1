"""Move arrays and print which step fails with which error, under rules of FRAMEDEX_FAIL."""

import json

import jax
import numpy as np

devices = jax.devices()
values = np.arange(4.0, dtype=np.float32)
steps = []


def step(function):
    """Record how a step ends; return the function's result."""
    try:
        found = function()
        steps.append("ok")
        return found
    except jax.errors.JaxRuntimeError as error:
        steps.append(str(error))
        return None


held = [step(lambda: jax.device_put(values, devices[0])) for _ in range(3)]
other = step(lambda: jax.device_put(values, devices[1]))
for array in [*held, other]:
    if array is not None:
        step(array.block_until_ready)
        step(lambda array=array: np.asarray(array))
step(lambda: jax.device_put(held[0], devices[1]).block_until_ready())
usable = bool((np.asarray(jax.device_put(values, devices[2])) == values).all())
print(json.dumps({"steps": steps, "usable": usable}))
