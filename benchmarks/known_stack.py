"""JAX programs whose stack is known, and a judge of what a tool shows of it. For benchmarks/other_tools.py.

All of them go through Python, C++, Python and C++ again, as `jax.tree.map(jax.device_put, ...)` does in many programs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

Stack = Sequence[str]  # names of functions, outermost first

USER_FUNCTION = """
import json, sys, time
import jax, numpy as np
assert jax.devices()[0].platform == "tpu", jax.devices()
def user_function(depth):
    if depth:
        return jax.tree_util.tree_map(lambda leaf: user_function(depth - 1), 0)
    return jax.device_put(array)
"""

STANDING = (
    USER_FUNCTION
    + """
array = np.zeros((1 << 14, 1 << 14), np.uint8).T
print("standing", flush=True)
while True:
    user_function(1)
"""
)

LOOPING = (
    USER_FUNCTION
    + """
array = np.arange(6, dtype=np.float32).reshape(2, 3)
def loop(count):
    begin = time.perf_counter_ns()
    for _ in range(count):
        user_function(1)
    return (time.perf_counter_ns() - begin) / count
count = int(sys.argv[1])
loop(200)
batches = [loop(count // 5) for _ in range(5)]
print(json.dumps({"least": min(batches), "mean": sum(batches) / 5}))
"""
)

# Where C++ is entered, as a profiler's hook in Python would stand there.
EXTRACTING = (
    USER_FUNCTION
    + """
import traceback
from jax._src.interpreters import pxla
array = np.arange(6, dtype=np.float32).reshape(2, 3)
put, times, stacks = pxla.xc.batched_device_put, [], []
def hook(*arguments, **options):
    begin = time.perf_counter_ns()
    stack = traceback.extract_stack()
    times.append(time.perf_counter_ns() - begin)
    stacks[:] = [[frame.name for frame in stack[:-1]]]
    return put(*arguments, **options)
pxla.xc.batched_device_put = hook
for _ in range(3000):
    user_function(1)
print(json.dumps({"nanoseconds": sorted(times)[len(times) // 2], "stacks": stacks}))
"""
)

# Known to be on the stack in this order, outermost first. Four changes of language.
LANDMARKS = (
    "user_function",
    "tree_map",
    "jax::PyTreeDef::Unflatten",
    "<lambda>",
    "user_function",
    "device_put",
    "batched_device_put",
    "jax::PyArray::BatchedDevicePut",
    "xla::PjRtCApiClient::BufferFromHostBuffer",
)
NATIVE_LANDMARKS = tuple(name for name in LANDMARKS if "::" in name)
PYTHON_LANDMARKS = tuple(name for name in LANDMARKS if "::" not in name)


def best(stacks: Sequence[Stack]) -> Stack:
    """The stack that shows most of what is known to be there: of several threads, or of several samples."""
    return min(stacks, key=lambda stack: len(lost(stack)), default=())


def lost(stack: Stack, landmarks: Sequence[str] = LANDMARKS) -> list[str]:
    """The landmarks which are not on the stack, or not in their order."""
    missing, position = [], 0
    for landmark in landmarks:
        found = next((at for at in range(position, len(stack)) if is_named(stack[at], landmark)), None)
        if found is None:
            missing.append(landmark)
        else:
            position = found + 1
    return missing


def is_named(name: str, landmark: str) -> bool:
    """Whether a tool's name of a function is this one: with or without parameters, qualified or not."""
    if "::" in landmark:
        return re.match(re.escape(landmark) + r"(?!\w)", name) is not None
    return name.rsplit(".", 1)[-1] == landmark


def naming(stack: Stack) -> str:
    """How many of the C++ landmarks are named, wherever they are."""
    named = sum(any(is_named(name, landmark) for name in stack) for landmark in NATIVE_LANDMARKS)
    return "yes" if named == len(NATIVE_LANDMARKS) else f"{named} of {len(NATIVE_LANDMARKS)}" if named else "none"


def merging(stack: Stack) -> str:
    """Whether Python and C++ are one stack, in the right order."""
    missing = lost(stack)
    if not missing:
        return "yes"
    if not any(is_named(name, landmark) for name in stack for landmark in PYTHON_LANDMARKS):
        return "no: C++ only"
    if not any(is_named(name, landmark) for name in stack for landmark in NATIVE_LANDMARKS):
        return "no: Python only"
    return f"no: {', '.join(f'`{name}`' for name in missing)} lost or out of place"
