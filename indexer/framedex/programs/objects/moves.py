"""The functions of the runtime that move data between host and devices."""

from __future__ import annotations

from dataclasses import dataclass

from framedex.model import TransferDirection


@dataclass(frozen=True, slots=True)
class FunctionTransfer:
    """The direction of a function's transfer.

    `size` names the argument with its size; empty: the size of the new buffer.
    """

    direction: TransferDirection
    size: str = ""


MOVES = {
    "PJRT_Client_BufferFromHostBuffer": FunctionTransfer(TransferDirection.HOST_TO_DEVICE, "bytes"),
    "PJRT_AsyncHostToDeviceTransferManager_TransferData": FunctionTransfer(
        TransferDirection.HOST_TO_DEVICE, "transfer_size"
    ),
    "PJRT_AsyncHostToDeviceTransferManager_TransferLiteral": FunctionTransfer(TransferDirection.HOST_TO_DEVICE),
    "PJRT_RawBuffer_CopyRawHostToDevice": FunctionTransfer(TransferDirection.HOST_TO_DEVICE, "transfer_size"),
    "PJRT_Buffer_ToHostBuffer": FunctionTransfer(TransferDirection.DEVICE_TO_HOST, "dst_size"),
    "PJRT_Buffer_CopyRawToHost": FunctionTransfer(TransferDirection.DEVICE_TO_HOST, "transfer_size"),
    "PJRT_Buffer_CopyRawToHostFuture": FunctionTransfer(TransferDirection.DEVICE_TO_HOST, "transfer_size"),
    "PJRT_RawBuffer_CopyRawDeviceToHost": FunctionTransfer(TransferDirection.DEVICE_TO_HOST, "transfer_size"),
    "PJRT_Buffer_CopyToDevice": FunctionTransfer(TransferDirection.DEVICE_TO_DEVICE),
    "PJRT_Buffer_CopyToMemory": FunctionTransfer(TransferDirection.DEVICE_TO_DEVICE),
    "PJRT_Buffer_CopyToRemoteDevice": FunctionTransfer(TransferDirection.DEVICE_TO_DEVICE),
    "PJRT_Transfers_PJRT_Buffer_CopyToRemoteDevice": FunctionTransfer(TransferDirection.DEVICE_TO_DEVICE),
    "PJRT_Transfers_PJRT_Client_CrossHostSendBuffers": FunctionTransfer(TransferDirection.DEVICE_TO_DEVICE),
    # The TPU C API of 2023
    "TpuTransferManager_TransferLiteralToDeviceAsync": FunctionTransfer(
        TransferDirection.HOST_TO_DEVICE, "literal.bytes"
    ),
    "TpuTransferManager_TransferLiteralFromDevice": FunctionTransfer(TransferDirection.DEVICE_TO_HOST, "literal.bytes"),
    "TpuExecutor_SynchronousMemcpyFromHost": FunctionTransfer(TransferDirection.HOST_TO_DEVICE, "size"),
    "TpuExecutor_SynchronousMemcpyToHost": FunctionTransfer(TransferDirection.DEVICE_TO_HOST, "size"),
    "TpuExecutor_MemcpyFromHost": FunctionTransfer(TransferDirection.HOST_TO_DEVICE, "size"),
    "TpuExecutor_MemcpyToHost": FunctionTransfer(TransferDirection.DEVICE_TO_HOST, "size"),
    "TpuStream_EnqueueTransferHostToDevice": FunctionTransfer(TransferDirection.HOST_TO_DEVICE, "size"),
    "TpuStream_EnqueueTransferDeviceToHost": FunctionTransfer(TransferDirection.DEVICE_TO_HOST, "size"),
}
"""Receives from another host are omitted, because the sending host has the same copy."""

HOST_CALLBACKS = frozenset(
    {"jax.pure_callback", "jax.experimental.io_callback", "jax.debug.callback", "jax.debug.print"}
)
"""Runs of host callbacks, as the mock records them: their operands are copied to the host."""

CALLBACK_RESULT = "PJRT_CopyToDeviceStream_AddChunk"
"""Sends a result of a host callback to its device. The sending thread ran the callback just before this call."""
