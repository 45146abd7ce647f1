"""Call the extensions of the mock's table directly, and through JAX's profiler."""

import ctypes
import json
import tempfile
from pathlib import Path

import jax
import jax.numpy as jnp
from pjrt_table import ABI, STRUCTS, Table


def register_type(name):
    """Register an FFI type for the TPU; return the address of its id."""
    type_id = ctypes.c_int64()
    capsule = new_capsule(ctypes.addressof(type_id), None, None)
    if hasattr(jax.ffi, "register_ffi_type"):
        jax.ffi.register_ffi_type(name, {"type_id": capsule}, platform="tpu")
    else:
        jax.ffi.register_ffi_type_id(name, capsule, platform="tpu")
    return type_id


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
types = [register_type("framedex.before")]
(jnp.ones(1) + 1).block_until_ready()
types.append(register_type("framedex.after"))

table = Table()
extensions = table.extensions()
client = table.call("PJRT_Client_Create")["client"]
result = {
    "sizes": {kind: ctypes.c_size_t.from_address(address).value for kind, address in extensions.items()},
    "described": {kind: STRUCTS[f"PJRT_{kind}_Extension"]["struct_size"] for kind in extensions},
}

# ---- Layouts.


def default_layout(kind, dims, **owner):
    """The text of an array's default layout, as the client or a topology has it."""
    array = (ctypes.c_int64 * len(dims))(*dims)
    owner_name = "Client" if "client" in owner else "Topology"
    fields = {"type": kind, "dims": ctypes.addressof(array), "num_dims": len(dims)}
    made = table.call_extension("Layouts", f"PJRT_Layouts_PJRT_{owner_name}_GetDefaultLayout", **owner, **fields)
    text = table.call_extension("Layouts", "PJRT_Layouts_MemoryLayout_Serialize", layout=made["layout"])
    read = ctypes.string_at(text["serialized_bytes"], text["serialized_bytes_size"]).decode()
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(text["serialized_layout_deleter"])(text["serialized_layout"])
    table.call_extension("Layouts", "PJRT_Layouts_MemoryLayout_Destroy", layout=made["layout"])
    return read


S4, F32 = (ABI["enums"]["PJRT_Buffer_Type"][f"PJRT_Buffer_Type_{name}"] for name in ("S4", "F32"))
topology = table.call("PJRT_Client_TopologyDescription", client=client)["topology"]
result["layouts"] = [
    default_layout(F32, [2, 3, 4], client=client),
    default_layout(F32, [], client=client),
    default_layout(S4, [8], client=client),
    default_layout(F32, [2, 3], topology_description=topology),
]

# ---- MemoryDescriptions.

devices = table.call("PJRT_TopologyDescription_GetDeviceDescriptions", topology=topology)
device = ctypes.c_void_p.from_address(devices["descriptions"]).value
described = table.call_extension(
    "MemoryDescriptions", "PJRT_DeviceDescription_MemoryDescriptions", device_description=device
)
memories = []
for address in (ctypes.c_void_p * described["num_memory_descriptions"]).from_address(described["memory_descriptions"]):
    kind = table.call_extension("MemoryDescriptions", "PJRT_MemoryDescription_Kind", memory_description=address)
    memories.append(ctypes.string_at(kind["kind"], kind["kind_size"]).decode())
result["memories"] = {"all": memories, "default": memories[described["default_memory_index"]]}

# ---- Profiler.


def profiled(**options):
    """The devices in a profile: for each plane, the programs on its lines."""
    chosen = jax.profiler.ProfileOptions()
    for name, value in options.items():
        setattr(chosen, name, value)
    with tempfile.TemporaryDirectory() as folder:
        with jax.profiler.trace(folder, profiler_options=chosen):
            jax.jit(lambda x: x * 2)(jnp.ones(8)).block_until_ready()
        (path,) = Path(folder).rglob("*.xplane.pb")
        planes = jax.profiler.ProfileData.from_file(str(path)).planes
        return {
            plane.name: [
                [line.name, event.name, event.start_ns > 0 and event.duration_ns > 0]
                for line in plane.lines
                for event in line.events
            ]
            for plane in planes
            if plane.name.startswith("/device:TPU")
        }


result["types"] = [type_id.value for type_id in types]
result["profile"] = profiled()
result["host_only"] = profiled(advanced_configuration={"tpu_trace_mode": "TRACE_ONLY_HOST"})
print(json.dumps(result))
