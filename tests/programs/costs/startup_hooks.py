"""Print what a program can see of listeners, failed imports and failed listeners while its start is recorded."""

import importlib
import sys
import traceback
from pathlib import Path

import jax
import jax.numpy as jnp
from jax._src import monitoring

compiled = iter(range(2, 10))


def compile_another():
    number = next(compiled)
    jax.jit(lambda x: x * number)(jnp.ones(3))


Path("broken.py").write_text("def f(: pass\n")
Path("raising.py").write_text("import json\nraise KeyError('mine')\n")
sys.path.insert(0, "")
for name in ("no_such_module", "broken", "raising"):
    for load, argument in ((importlib.import_module, name), (exec, f"import {name}")):
        try:
            load(argument)
        except Exception:
            traceback.print_exc(file=sys.stdout)
print(monitoring.get_event_duration_listeners(), monitoring.get_event_listeners())
seen = []
jax.monitoring.register_event_duration_secs_listener(lambda event, duration, **_: seen.append(event))
jax.monitoring.register_event_listener(lambda event, **_: seen.append(event))
compile_another()
count = len(seen)
print(sorted(set(seen)))
jax.monitoring.clear_event_listeners()
compile_another()
print(len(seen) == count)


def fail(event, duration, **_):
    raise ValueError("mine")


jax.monitoring.register_event_duration_secs_listener(fail)
try:
    compile_another()
except ValueError:
    traceback.print_exc(file=sys.stdout)
jax.monitoring.clear_event_listeners()
print(importlib._bootstrap._ModuleLockManager, jax._src.xla_bridge._backend_lock.locked())
