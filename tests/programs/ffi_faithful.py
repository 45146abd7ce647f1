"""Print results that must not depend on recording handlers: ffi_faithful.py LIBRARY [SERIALISED].

With SERIALISED, an executable is written there, or run if it exists.
"""

import hashlib
import pickle
import sys
import traceback
from pathlib import Path

import ffi_examples
import jax
import jax.numpy as jnp
import numpy as np
from jax import export
from jax.experimental import serialize_executable

ffi_examples.register(sys.argv[1])
x = jnp.linspace(-1, 1, 32, dtype=jnp.float32).reshape(4, 8)
runs = jnp.int32(0)


def program(x):
    """Equal calls, which XLA merges into one; the counter has its number of runs."""
    first, second = ffi_examples.rms_norm(x), ffi_examples.rms_norm(x)
    third = jax.ffi.ffi_call("rms_norm", ffi_examples.like(x))(first, eps=np.float32(1e-5))
    return first + second + third, ffi_examples.count_runs(runs)


def show(what, value):
    print(f"{what}: {value}")


show("path", [folder for folder in sys.path if "framedex" in folder and "programs" not in folder])
show("sitecustomize", [name for name in sys.modules if "sitecustomize" in name])
show("finders", [type(finder).__module__ for finder in sys.meta_path])
jaxpr = jax.make_jaxpr(program)(x)
show("jaxpr", jaxpr)
show("jaxpr of the gradient", jax.make_jaxpr(jax.grad(lambda y: ffi_examples.rms_norm(y).sum()))(x))
attributes = [equation.params.get("attributes") for equation in jaxpr.eqns]
show("attributes", [a == tuple(a) for a in attributes if a is not None])
show("pickled", pickle.loads(pickle.dumps(attributes)))
allowed = [export.DisabledSafetyCheck.custom_call(name) for name in ("rms_norm", "counter")]
exported = export.export(jax.jit(program), disabled_checks=allowed)(x)
show("exported", hashlib.sha256(exported.mlir_module_serialized).hexdigest())
show("of the exported", np.asarray(exported.call(x)[0]).tobytes().hex())
compiled = jax.jit(program).lower(x).compile()
show("custom calls", compiled.as_text().count("custom-call("))
show("results", [np.asarray(result).tobytes().hex() for result in compiled(x)])
show("runs", [int(compiled(x)[1]) for _ in range(3)])
show("eager", np.asarray(ffi_examples.rms_norm(x)).tobytes().hex())

for how in ("error", "exception", "number", "error while compiling"):
    for call in (ffi_examples.fail, jax.jit(ffi_examples.fail, static_argnums=1)):
        try:
            call(x, how)
        except Exception:
            print(traceback.format_exc())
for call in (
    lambda: jax.ffi.ffi_call("nowhere", ffi_examples.like(x))(x),
    lambda: jax.ffi.ffi_call("rms_norm", ffi_examples.like(x))(x, x, eps=np.float32(1)),
    lambda: jax.ffi.ffi_call("rms_norm", ffi_examples.like(x))(x, epsilon=np.float32(1)),
    lambda: jax.ffi.ffi_call("rms_norm", ffi_examples.like(x))(x.astype(jnp.int32), eps=np.float32(1)),
):
    try:
        call()
    except Exception:
        print(traceback.format_exc())

if len(sys.argv) > 2:
    serialised = Path(sys.argv[2])
    if not serialised.exists():
        serialised.write_bytes(pickle.dumps(serialize_executable.serialize(compiled)))
    devices = compiled.runtime_executable().local_devices()
    loaded = serialize_executable.deserialize_and_load(
        *pickle.loads(serialised.read_bytes()), execution_devices=devices
    )
    show("of the loaded", np.asarray(loaded(x)[0]).tobytes().hex())
