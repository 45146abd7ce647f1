"""`jax.ffi.ffi_call`

A program calls a C++ function, which is first registered for a platform. The plug-in looks up its name during the
compilation, and calls it when the program runs.
"""

import ctypes
import subprocess
import tempfile
from pathlib import Path

import jax
import numpy as np

source = Path(__file__).parents[2] / "native" / "examples" / "rms_norm.cc"
with tempfile.TemporaryDirectory() as folder:
    library = str(Path(folder) / "rms_norm.so")
    headers = ["-isystem", jax.ffi.include_dir()]
    subprocess.run(["c++", "-std=c++17", "-g", "-shared", "-fPIC", *headers, str(source), "-o", library], check=True)
    functions = ctypes.CDLL(library)

# step: Register a handler
for platform in ("cpu", "tpu"):
    jax.ffi.register_ffi_target("rms_norm", jax.ffi.pycapsule(functions.RmsNorm), platform=platform)

x = jax.device_put(np.arange(8, dtype=np.float32).reshape(2, 4))
normed = jax.jit(lambda x: jax.ffi.ffi_call("rms_norm", jax.ShapeDtypeStruct(x.shape, x.dtype))(x, eps=np.float32(0)))

# step: The first call
normed(x).block_until_ready()

# step: The second call
y = normed(x)
assert np.allclose(np.square(y).mean(axis=1), 1)
