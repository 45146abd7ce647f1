"""Compile for a topology on another thread, while this one waits for it with the GIL released or held.

jaxlib 0.10 holds it. Prints the results of both: facts of the program, or the error's code and text. The arguments name
the programs, or the interpreter's special state. The last one is `no_client` if no client is created before.
"""

import ctypes
import json
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jaxlib import xla_client
from pjrt_table import Struct, Table, text

SHAPE = jax.ShapeDtypeStruct((8,), np.float32)
FUNCTIONS = {
    "callback": lambda x: jax.pure_callback(np.sin, x, x) + 1,
    "handler": lambda x: jax.ffi.ffi_call("framedex_no_such_handler", SHAPE)(x) + 1,
    "kernel": lambda x: jax.ffi.ffi_call("tpu_custom_call", SHAPE)(x) + 1,
    "too_large": lambda x: jnp.zeros((1 << 20, 1 << 20)) + x[0],
}
EXECUTABLES = {"failing_interpreter": "/bin/false", "no_interpreter": "/no/such/python"}


class OtherThread(Table):
    """Compiles on a thread created with functions of `library`, with the GIL held or released."""

    def __init__(self, library):
        super().__init__()
        self.library = library

    def _enter(self, function, arguments):
        if function != "PJRT_Compile":
            return super()._enter(function, arguments)
        # A table function has the signature of a thread's: one pointer in, one pointer out.
        thread, error = ctypes.c_ulong(), ctypes.c_void_p()
        compile_ = ctypes.c_void_p(self.slots()[function])
        self.library.pthread_create(ctypes.byref(thread), None, compile_, ctypes.c_void_p(arguments.address))
        self.library.pthread_join(thread, ctypes.byref(error))
        return error.value


def program_of(kind):
    """The program in PJRT's form."""
    function = FUNCTIONS.get(kind, lambda x: jnp.sin(x).sum() + x)
    return jax.jit(function).trace(SHAPE).lower(lowering_platforms=("tpu",)).as_text().encode()


def options_of(kind):
    """The compile options."""
    options = xla_client.CompileOptions()
    if kind == "unknown_device":
        options.device_assignment = xla_client.DeviceAssignment.create(np.array([[99]]))
    return options.SerializeAsString()


def facts_of(table, kind):
    """The data of the compiled program, or the error."""
    code, options = b"no program" if kind == "damaged" else program_of(kind), options_of(kind)
    kept = [ctypes.create_string_buffer(content, len(content)) for content in (code, b"mlir", options, b"v5e:2x4")]
    code_at, format_at, options_at, name_at = map(ctypes.addressof, kept)
    topology = table.call("PJRT_TopologyDescription_Create", topology_name=name_at, topology_name_size=7)["topology"]
    given = Struct("PJRT_Program", code=code_at, code_size=len(code), format=format_at, format_size=4)
    try:
        executable = table.call(
            "PJRT_Compile",
            topology=topology,
            program=given.address,
            compile_options=options_at,
            compile_options_size=len(options),
        )["executable"]
    except RuntimeError as error:
        return list(error.args)
    statistics = table.call("PJRT_Executable_GetCompiledMemoryStats", executable=executable)
    optimized = Struct("PJRT_Program")
    table.call("PJRT_Executable_OptimizedProgram", executable=executable, program=optimized.address)
    return {
        "name": text(table.call("PJRT_Executable_Name", executable=executable), "executable_name"),
        "fingerprint": text(table.call("PJRT_Executable_Fingerprint", executable=executable), "executable_fingerprint"),
        "outputs": table.call("PJRT_Executable_NumOutputs", executable=executable)["num_outputs"],
        "argument_bytes": statistics["argument_size_in_bytes"],
        "output_bytes": statistics["output_size_in_bytes"],
        "is_described": optimized["code_size"] > 0,
        "serialized_bytes": table.call("PJRT_Executable_Serialize", executable=executable)["serialized_bytes_size"],
    }


free, locked = OtherThread(ctypes.CDLL(None)), OtherThread(ctypes.PyDLL(None))
free.call("PJRT_Plugin_Initialize")
*kinds, last = sys.argv[1:]
sys.executable = EXECUTABLES.get(last, sys.executable)
if last != "no_client":
    free.call("PJRT_Client_Create")
print(json.dumps({kind: [facts_of(table, kind) for table in (free, locked)] for kind in (*kinds, last)}))
