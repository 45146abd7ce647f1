"""Make buffers in ways that JAX seldom uses: of errors, of other buffers, of own memory, in parts."""

import ctypes
import json

import jax
import numpy as np
from jaxlib import _jax
from pjrt_table import ABI, Struct, Table

TYPES = {name.removeprefix("PJRT_Buffer_Type_"): number for name, number in ABI["enums"]["PJRT_Buffer_Type"].items()}
CODES = {name.removeprefix("PJRT_Error_Code_"): number for name, number in ABI["enums"]["PJRT_Error_Code"].items()}
NUMPY = {"F32": np.float32, "U8": np.uint8, "S32": np.int32}

jax.devices()
table = Table()
client = table.call("PJRT_Client_Create")["client"]
device = ctypes.c_void_p.from_address(table.call("PJRT_Client_Devices", client=client)["devices"]).value
memory = table.call("PJRT_Device_DefaultMemory", device=device)["memory"]
kept = []  # memory read by the plug-in


def integers(values):
    """The address of a list of int64."""
    array = (ctypes.c_int64 * max(len(values), 1))(*values)
    kept.append(array)
    return ctypes.addressof(array)


def texts(**fields):
    """The fields of a text and its size."""
    encoded = {name: ctypes.create_string_buffer(value.encode()) for name, value in fields.items()}
    kept.extend(encoded.values())
    return {name: ctypes.addressof(value) for name, value in encoded.items()} | {
        f"{name}_size": len(fields[name]) for name in fields
    }


def shape(dims, kind="F32"):
    """The fields of a shape."""
    return {"shape_dims": integers(dims), "shape_num_dims": len(dims), "shape_element_type": TYPES[kind]}


def event_error(event):
    """Wait for an event; return its error, None without one."""
    try:
        table.call("PJRT_Event_Await", event=event)
    except RuntimeError as error:
        return list(error.args)
    return None


def is_ready(event):
    """Whether an event is set."""
    return table.call("PJRT_Event_IsReady", event=event)["is_ready"]


def ready_event(buffer):
    """A buffer's ready event."""
    return table.call("PJRT_Buffer_ReadyEvent", buffer=buffer)["event"]


def read(buffer, kind="F32"):
    """The elements of a buffer, or its error."""
    size = table.call("PJRT_Buffer_ToHostBuffer", src=buffer)["dst_size"]
    target = np.empty(size, np.uint8)
    copied = table.call("PJRT_Buffer_ToHostBuffer", src=buffer, dst=target.ctypes.data, dst_size=size)
    return event_error(copied["event"]) or target.view(NUMPY[kind]).tolist()


def put(values):
    """A buffer of these numbers."""
    data = np.array(values, np.float32)
    kept.append(data)
    fields = {"data": data.ctypes.data, "type": TYPES["F32"], "dims": integers(data.shape), "num_dims": data.ndim}
    return table.call("PJRT_Client_BufferFromHostBuffer", client=client, memory=memory, **fields)["buffer"]


def compiled():
    """A program that adds one to three numbers."""
    lowered = jax.jit(lambda x: x + 1).lower(jax.ShapeDtypeStruct((3,), np.float32))
    code = texts(code=str(lowered.compiler_ir()), format="mlir")
    options = _jax.CompileOptions()
    options.num_replicas = options.num_partitions = 1
    serialized = options.SerializeAsString()
    held = ctypes.create_string_buffer(serialized, len(serialized))
    program = Struct("PJRT_Program", **code)
    kept.extend([held, program])
    fields = {"compile_options": ctypes.addressof(held), "compile_options_size": len(serialized)}
    return table.call("PJRT_Client_Compile", client=client, program=program.address, **fields)["executable"]


def execute(executable, buffer):
    """The result of a program of one argument."""
    options = Struct("PJRT_ExecuteOptions")
    arguments, results = (ctypes.c_void_p * 1)(buffer), (ctypes.c_void_p * 1)()
    argument_lists = (ctypes.c_void_p * 1)(ctypes.addressof(arguments))
    result_lists = (ctypes.c_void_p * 1)(ctypes.addressof(results))
    table.call(
        "PJRT_LoadedExecutable_Execute",
        executable=executable,
        options=options.address,
        argument_lists=ctypes.addressof(argument_lists),
        num_devices=1,
        num_args=1,
        output_lists=ctypes.addressof(result_lists),
    )
    return results[0]


def refused(function, **fields):
    """The code of the error that a call returns."""
    try:
        table.call(function, **fields)
    except RuntimeError as error:
        return error.args[0]
    return None


def go_on(function, arguments, callback, **fields):
    """Invoke a callback that a function returned, with its data."""
    told = Struct(f"{function}_Callback_Args", callback_data=arguments["callback_data"], **fields)
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(arguments[callback])(told.address)


add_one = compiled()
failed = {"error_code": CODES["DATA_LOSS"], **texts(error_message="the disk is gone")}
result = {"program": read(execute(add_one, put([1, 2, 3])))}

# ---- Buffers of errors.

payload = Struct(
    "PJRT_NamedValue",
    type=0,
    value_size=6,
    **{
        name: value for name, value in texts(name="where", string_value="rack 7").items() if name != "string_value_size"
    },
)
error_buffer = table.call(
    "PJRT_Client_CreateErrorBuffer",
    client=client,
    memory=memory,
    payload=payload.address,
    num_payload=1,
    **failed,
    **shape([3]),
)["buffer"]
error = table._enter("PJRT_Event_Error", Struct("PJRT_Event_Error_Args", event=ready_event(error_buffer)))
payloads = {}


@ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)
def visit(name, name_size, value, value_size, _argument):
    """Record a payload."""
    payloads[ctypes.string_at(name, name_size).decode()] = ctypes.string_at(value, value_size).decode()


visitor = ctypes.cast(visit, ctypes.c_void_p).value
table.call("PJRT_Error_ForEachPayload", error=error, visitor=visitor)
result["error"] = {
    "reading": read(error_buffer),
    "payloads": payloads,
    "computing": read(execute(add_one, error_buffer)),
    "copying": read(table.call("PJRT_Buffer_CopyToMemory", buffer=error_buffer, dst_memory=memory)["dst_buffer"]),
    "without one": refused("PJRT_Client_CreateErrorBuffer", client=client, memory=memory, **shape([3])),
}

# ---- Aliases.


def alias():
    """A buffer of three numbers that will become another one, and the function that makes it so."""
    made = table.call("PJRT_Client_CreateAliasBuffer", client=client, memory=memory, **shape([3]))
    return made["alias_buffer"], made["fulfill_alias_buffer_cb"]


waiting, fulfil = alias()
computed = execute(add_one, waiting)
result["alias"] = {"before": [is_ready(ready_event(waiting)), is_ready(ready_event(computed))]}
source = put([4, 5, 6])
table.call("PJRT_Client_FulfillAliasBuffer", client=client, buffer=source, fulfill_alias_buffer_cb=fulfil)
table.call("PJRT_Buffer_Destroy", buffer=source)
result["alias"] |= {"after": [read(waiting), read(computed)]}
waiting, fulfil = alias()
made = execute(add_one, put([7, 8, 9]))
table.call("PJRT_Client_FulfillAliasBuffer", client=client, buffer=made, fulfill_alias_buffer_cb=fulfil)
result["alias"] |= {"of a result": read(waiting)}
waiting, fulfil = alias()
table.call(
    "PJRT_Client_FulfillAliasBuffer",
    client=client,
    fulfill_alias_buffer_cb=fulfil,
    status_code=failed["error_code"],
    error_message=failed["error_message"],
    error_message_size=failed["error_message_size"],
)
result["alias"] |= {"of an error": read(waiting)}
waiting, fulfil = alias()
wrong = {"client": client, "buffer": put([1]), "fulfill_alias_buffer_cb": fulfil}
result["alias"] |= {"of another shape": refused("PJRT_Client_FulfillAliasBuffer", **wrong)}

# ---- Memory of others.

own = np.arange(3, dtype=np.float32)
given_back = []


@ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
def give_back(address, argument):
    """Record that the plug-in no longer reads the memory."""
    given_back.append((address == own.ctypes.data, argument))


view = table.call(
    "PJRT_Client_CreateViewOfDeviceBuffer",
    client=client,
    memory=memory,
    device_buffer_ptr=own.ctypes.data,
    dims=integers([3]),
    num_dims=1,
    element_type=TYPES["F32"],
    on_delete_callback=ctypes.cast(give_back, ctypes.c_void_p).value,
    on_delete_callback_arg=42,
)["buffer"]
own[0] = 10
result["view"] = {"read": read(view), "held": list(given_back)}
table.call("PJRT_Buffer_Destroy", buffer=view)
result["view"] |= {"given back": given_back}


def cast(buffer, kind, dims):
    """The arguments that make a buffer another type and shape."""
    return {"buffer": buffer, "element_type": TYPES[kind], "dims": integers(dims), "num_dims": len(dims)}


made = execute(add_one, put([0, 1, 2]))
result["bitcast"] = {
    "bytes": read(table.call("PJRT_Buffer_Bitcast", **cast(put([1]), "U8", [2, 2]))["out_buffer"], "U8"),
    "of a result": read(table.call("PJRT_Buffer_Bitcast", **cast(made, "S32", [3, 1]))["out_buffer"], "S32"),
    "source stays": read(made),
    "another size": refused("PJRT_Buffer_Bitcast", **cast(made, "U8", [3])),
    "small elements": refused("PJRT_Buffer_Bitcast", **cast(made, "S4", [12])),
}

DONATE = "PJRT_Buffer_DonateWithControlDependency"
donor = put([1, 2, 3])
donated = table.call(DONATE, buffer=donor)
result["donated"] = {
    "donor is deleted": table.call("PJRT_Buffer_IsDeleted", buffer=donor)["is_deleted"],
    "before": is_ready(ready_event(donated["out_buffer"])),
}
go_on(DONATE, donated, "dependency_ready_callback")
result["donated"] |= {"after": read(execute(add_one, donated["out_buffer"])), "twice": refused(DONATE, buffer=donor)}
donated = table.call(DONATE, buffer=put([1, 2, 3]))
go_on(DONATE, donated, "dependency_ready_callback", **failed)
result["donated"] |= {"failed": read(donated["out_buffer"])}

# ---- A raw copy to a place that is named later.

RAW = "PJRT_Buffer_CopyRawToHostFuture"
target = np.zeros(2, np.float32)
copy = table.call(RAW, buffer=put([1, 2, 3]), offset=4, transfer_size=8)
result["raw"] = {"before": is_ready(copy["event"])}
go_on(RAW, copy, "future_ready_callback", dst=target.ctypes.data)
result["raw"] |= {"error": event_error(copy["event"]), "after": target.tolist()}
copy = table.call(RAW, buffer=put([1, 2, 3]), offset=0, transfer_size=12)
go_on(RAW, copy, "future_ready_callback", **failed)
result["raw"] |= {"failed": event_error(copy["event"]), "beyond": refused(RAW, buffer=made, offset=8, transfer_size=8)}

# ---- Transfers in parts.

MANAGER = "PJRT_AsyncHostToDeviceTransferManager"
specs = (ctypes.c_char * (40 * 3))()
for i, dims in enumerate(([4], [2, 2], [3])):
    spec = Struct("PJRT_ShapeSpec", dims=integers(dims), num_dims=len(dims), element_type=TYPES["F32"])
    specs[40 * i : 40 * (i + 1)] = spec.memory.raw[:40]
manager = table.call(
    "PJRT_Client_CreateBuffersForAsyncHostToDevice",
    client=client,
    memory=memory,
    shape_specs=ctypes.addressof(specs),
    num_shape_specs=3,
)["transfer_manager"]


def manage(function, **fields):
    """Call a function of the transfer manager."""
    return table.call(f"{MANAGER}_{function}", transfer_manager=manager, **fields)


buffers = [manage("RetrieveBuffer", buffer_index=i)["buffer_out"] for i in range(3)]
computed = execute(add_one, buffers[2])
data = np.array([1, 2, 3, 4], np.float32)
half = {"buffer_index": 0, "transfer_size": 8}
manage("TransferData", data=data.ctypes.data + 8, offset=8, is_last_transfer=False, **half)
result["transfer"] = {
    "count": manage("BufferCount")["buffer_count"],
    "size": manage("BufferSize", buffer_index=1)["buffer_size"],
    "device": manage("Device")["device_out"] == device,
    "before": [is_ready(ready_event(buffer)) for buffer in (*buffers, computed)],
    "beyond": refused(f"{MANAGER}_TransferData", transfer_manager=manager, offset=12, data=data.ctypes.data, **half),
    "no such buffer": refused(f"{MANAGER}_BufferSize", transfer_manager=manager, buffer_index=3),
    "retrieved twice": refused(f"{MANAGER}_RetrieveBuffer", transfer_manager=manager, buffer_index=0),
}
manage("AddMetadata")
manage("TransferData", data=data.ctypes.data, offset=0, is_last_transfer=True, **half)
manage("TransferLiteral", buffer_index=1, data=data.ctypes.data, **shape([2, 2]))
manage("SetBufferError", buffer_index=2, **failed)
result["transfer"] |= {
    "data": read(buffers[0]),
    "literal": read(buffers[1]),
    "error": read(buffers[2]),
    "computed with it": read(computed),
    "more after the last": refused(
        f"{MANAGER}_TransferData", transfer_manager=manager, offset=0, data=data.ctypes.data, **half
    ),
}
table.call(f"{MANAGER}_Destroy", transfer_manager=manager)

print(json.dumps(result))
