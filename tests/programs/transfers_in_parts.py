"""Send buffers in parts, before and after they are retrieved, and read them."""

import ctypes

import numpy as np
from pjrt_table import ABI, Struct, Table

MANAGER = "PJRT_AsyncHostToDeviceTransferManager"
F32 = ABI["enums"]["PJRT_Buffer_Type"]["PJRT_Buffer_Type_F32"]
SHAPES = ([4], [2, 2], [3], [2])
table = Table()
client = table.call("PJRT_Client_Create")["client"]
device = ctypes.c_void_p.from_address(
    table.call("PJRT_Client_AddressableDevices", client=client)["addressable_devices"]
).value
memory = table.call("PJRT_Device_DefaultMemory", device=device)["memory"]
dimensions = [(ctypes.c_int64 * len(each))(*each) for each in SHAPES]
size = 40
specs = ctypes.create_string_buffer(size * len(SHAPES))
for i, dims in enumerate(dimensions):
    spec = Struct("PJRT_ShapeSpec", dims=ctypes.addressof(dims), num_dims=len(dims), element_type=F32)
    specs[size * i : size * (i + 1)] = spec.memory.raw[:size]
manager = table.call(
    "PJRT_Client_CreateBuffersForAsyncHostToDevice",
    client=client,
    memory=memory,
    shape_specs=ctypes.addressof(specs),
    num_shape_specs=len(SHAPES),
)["transfer_manager"]


def manage(function, **fields):
    return table.call(f"{MANAGER}_{function}", transfer_manager=manager, **fields)


def read(buffer):
    target = np.empty(table.call("PJRT_Buffer_ToHostBuffer", src=buffer)["dst_size"] // 4, np.float32)
    copied = table.call("PJRT_Buffer_ToHostBuffer", src=buffer, dst=target.ctypes.data, dst_size=target.nbytes)
    table.call("PJRT_Event_Await", event=copied["event"])
    return target.tolist()


data = np.array([1, 2, 3, 4], np.float32)
early = manage("RetrieveBuffer", buffer_index=0)["buffer_out"]
half = {"buffer_index": 0, "transfer_size": 8}
manage("TransferData", data=data.ctypes.data + 8, offset=8, is_last_transfer=False, **half)
manage("TransferData", data=data.ctypes.data, offset=0, is_last_transfer=True, **half)
shape = {"shape_dims": ctypes.addressof(dimensions[1]), "shape_num_dims": 2, "shape_element_type": F32}
manage("TransferLiteral", buffer_index=1, data=data.ctypes.data, **shape)
message = ctypes.create_string_buffer(b"no data", 7)
failure = {"error_message": ctypes.addressof(message), "error_message_size": 7, "error_code": 13}
manage("SetBufferError", buffer_index=2, **failure)
broken = manage("RetrieveBuffer", buffer_index=2)["buffer_out"]
manage("RetrieveBuffer", buffer_index=3)
print(read(early), read(manage("RetrieveBuffer", buffer_index=1)["buffer_out"]))
table.call(f"{MANAGER}_Destroy", transfer_manager=manager)
