// Generated from native/abi; do not edit.
#pragma once
#include "pjrt_c_api.h"
namespace framedex::pjrt {
inline const char* enumerator(PJRT_Extension_Type value) {
  switch (static_cast<int>(value)) {
    case 24: return "XlaTransform";
    case 23: return "HostMemoryAllocator";
    case 22: return "MultiSlice";
    case 21: return "Collectives";
    case 20: return "AbiVersion";
    case 19: return "Shardings";
    case 18: return "Megascale";
    case 17: return "TpuExecutable";
    case 16: return "TpuTopology";
    case 15: return "HostAllocator";
    case 14: return "Callback";
    case 13: return "ExecutableMetadata";
    case 12: return "CrossHostTransfers";
    case 11: return "Unknown";
    case 10: return "Example";
    case 9: return "PhaseCompile";
    case 8: return "RawBuffer";
    case 7: return "Triton";
    case 6: return "MemoryDescriptions";
    case 5: return "FFI";
    case 4: return "Layouts";
    case 3: return "Stream";
    case 2: return "Custom_Partitioner";
    case 1: return "Profiler";
    case 0: return "Gpu_Custom_Call";
    default: return nullptr;
  }
}
inline const char* enumerator(PJRT_Error_Code value) {
  switch (static_cast<int>(value)) {
    case 16: return "UNAUTHENTICATED";
    case 15: return "DATA_LOSS";
    case 14: return "UNAVAILABLE";
    case 13: return "INTERNAL";
    case 12: return "UNIMPLEMENTED";
    case 11: return "OUT_OF_RANGE";
    case 10: return "ABORTED";
    case 9: return "FAILED_PRECONDITION";
    case 8: return "RESOURCE_EXHAUSTED";
    case 7: return "PERMISSION_DENIED";
    case 6: return "ALREADY_EXISTS";
    case 5: return "NOT_FOUND";
    case 4: return "DEADLINE_EXCEEDED";
    case 3: return "INVALID_ARGUMENT";
    case 2: return "UNKNOWN";
    case 1: return "CANCELLED";
    case 0: return "OK";
    default: return nullptr;
  }
}
inline const char* enumerator(PJRT_NamedValue_Type value) {
  switch (static_cast<int>(value)) {
    case 4: return "Bool";
    case 3: return "Float";
    case 2: return "Int64List";
    case 1: return "Int64";
    case 0: return "String";
    default: return nullptr;
  }
}
inline const char* enumerator(PJRT_ProcessState value) {
  switch (static_cast<int>(value)) {
    case 4: return "Error";
    case 3: return "Connected";
    case 2: return "Disconnected";
    case 1: return "Uninitialized";
    case 0: return "Unspecified";
    default: return nullptr;
  }
}
inline const char* enumerator(PJRT_Buffer_Type value) {
  switch (static_cast<int>(value)) {
    case 31: return "U1";
    case 30: return "S1";
    case 29: return "F4E2M1FN";
    case 28: return "F8E8M0FNU";
    case 27: return "F8E3M4";
    case 26: return "F8E4M3";
    case 25: return "U2";
    case 24: return "S2";
    case 23: return "TOKEN";
    case 22: return "U4";
    case 21: return "S4";
    case 20: return "F8E4M3FNUZ";
    case 19: return "F8E5M2FNUZ";
    case 18: return "F8E4M3B11FNUZ";
    case 17: return "F8E4M3FN";
    case 16: return "F8E5M2";
    case 15: return "C128";
    case 14: return "C64";
    case 13: return "BF16";
    case 12: return "F64";
    case 11: return "F32";
    case 10: return "F16";
    case 9: return "U64";
    case 8: return "U32";
    case 7: return "U16";
    case 6: return "U8";
    case 5: return "S64";
    case 4: return "S32";
    case 3: return "S16";
    case 2: return "S8";
    case 1: return "PRED";
    case 0: return "INVALID";
    default: return nullptr;
  }
}
inline const char* enumerator(PJRT_HostBufferSemantics value) {
  switch (static_cast<int>(value)) {
    case 3: return "MutableZeroCopy";
    case 2: return "ImmutableZeroCopy";
    case 1: return "ImmutableUntilTransferCompletes";
    case 0: return "ImmutableOnlyDuringCall";
    default: return nullptr;
  }
}
inline const char* enumerator(PJRT_Buffer_MemoryLayout_Type value) {
  switch (static_cast<int>(value)) {
    case 1: return "Strides";
    case 0: return "Tiled";
    default: return nullptr;
  }
}
inline const char* enumerator(PJRT_FFI_Handler_TraitsBits value) {
  switch (static_cast<int>(value)) {
    case 1: return "PJRT_FFI_HANDLER_TRAITS_COMMAND_BUFFER_COMPATIBLE";
    default: return nullptr;
  }
}
inline const char* enumerator(PJRT_DeviceEvent_State value) {
  switch (static_cast<int>(value)) {
    case 2: return "Error";
    case 1: return "Ready";
    case 0: return "Unavailable";
    default: return nullptr;
  }
}
inline const char* enumerator(PJRT_Callback_Type value) {
  switch (static_cast<int>(value)) {
    case 2: return "Prefatal";
    case 1: return "Tpu_SliceBuilder";
    case 0: return "Unknown";
    default: return nullptr;
  }
}
inline const char* enumerator(PJRT_Callback_Tpu_SliceFailureType value) {
  switch (static_cast<int>(value)) {
    case 5: return "SLICE_FAILURE_CHIP_DRIVER_ERROR";
    case 4: return "SLICE_FAILURE_SW_INJECT_ERROR";
    case 3: return "SLICE_FAILURE_FLAPPING_TASK_ERROR";
    case 2: return "SLICE_FAILURE_WORKER_UNAVAILABLE";
    case 1: return "SLICE_FAILURE_INIT_ERROR";
    case 0: return "SLICE_FAILURE_UNKNOWN";
    default: return nullptr;
  }
}
inline const char* enumerator(PJRT_Collectives_ReductionKind value) {
  switch (static_cast<int>(value)) {
    case 3: return "PJRT_COLLECTIVES_REDUCTION_MAX";
    case 2: return "PJRT_COLLECTIVES_REDUCTION_MIN";
    case 1: return "PJRT_COLLECTIVES_REDUCTION_PRODUCT";
    case 0: return "PJRT_COLLECTIVES_REDUCTION_SUM";
    default: return nullptr;
  }
}
inline const char* enumerator(PJRT_Collectives_CollectiveOpKind value) {
  switch (static_cast<int>(value)) {
    case 1: return "PJRT_COLLECTIVES_COLLECTIVE_OP_KIND_CROSS_REPLICA";
    case 0: return "PJRT_COLLECTIVES_COLLECTIVE_OP_KIND_CROSS_MODULE";
    default: return nullptr;
  }
}
inline const char* enumerator(PJRT_XlaTransform_PipelineStage value) {
  switch (static_cast<int>(value)) {
    case 1: return "PostScheduler";
    case 0: return "PreScheduler";
    default: return nullptr;
  }
}
inline const char* enumerator(XLA_FFI_Extension_Type value) {
  switch (static_cast<int>(value)) {
    case 1: return "Metadata";
    default: return nullptr;
  }
}
inline const char* enumerator(XLA_FFI_Error_Code value) {
  switch (static_cast<int>(value)) {
    case 16: return "UNAUTHENTICATED";
    case 15: return "DATA_LOSS";
    case 14: return "UNAVAILABLE";
    case 13: return "INTERNAL";
    case 12: return "UNIMPLEMENTED";
    case 11: return "OUT_OF_RANGE";
    case 10: return "ABORTED";
    case 9: return "FAILED_PRECONDITION";
    case 8: return "RESOURCE_EXHAUSTED";
    case 7: return "PERMISSION_DENIED";
    case 6: return "ALREADY_EXISTS";
    case 5: return "NOT_FOUND";
    case 4: return "DEADLINE_EXCEEDED";
    case 3: return "INVALID_ARGUMENT";
    case 2: return "UNKNOWN";
    case 1: return "CANCELLED";
    case 0: return "OK";
    default: return nullptr;
  }
}
inline const char* enumerator(XLA_FFI_DataType value) {
  switch (static_cast<int>(value)) {
    case 33: return "F8E8M0FNU";
    case 32: return "F4E2M1FN";
    case 25: return "F8E4M3FNUZ";
    case 24: return "F8E5M2FNUZ";
    case 23: return "F8E4M3B11FNUZ";
    case 20: return "F8E4M3FN";
    case 28: return "F8E4M3";
    case 29: return "F8E3M4";
    case 19: return "F8E5M2";
    case 17: return "TOKEN";
    case 18: return "C128";
    case 15: return "C64";
    case 16: return "BF16";
    case 12: return "F64";
    case 11: return "F32";
    case 10: return "F16";
    case 9: return "U64";
    case 8: return "U32";
    case 7: return "U16";
    case 6: return "U8";
    case 22: return "U4";
    case 27: return "U2";
    case 31: return "U1";
    case 5: return "S64";
    case 4: return "S32";
    case 3: return "S16";
    case 2: return "S8";
    case 21: return "S4";
    case 26: return "S2";
    case 30: return "S1";
    case 1: return "PRED";
    case 0: return "INVALID";
    default: return nullptr;
  }
}
inline const char* enumerator(XLA_FFI_ArgType value) {
  switch (static_cast<int>(value)) {
    case 1: return "BUFFER";
    default: return nullptr;
  }
}
inline const char* enumerator(XLA_FFI_RetType value) {
  switch (static_cast<int>(value)) {
    case 1: return "BUFFER";
    default: return nullptr;
  }
}
inline const char* enumerator(XLA_FFI_AttrType value) {
  switch (static_cast<int>(value)) {
    case 4: return "STRING";
    case 3: return "SCALAR";
    case 2: return "DICTIONARY";
    case 1: return "ARRAY";
    default: return nullptr;
  }
}
inline const char* enumerator(XLA_FFI_ExecutionStage value) {
  switch (static_cast<int>(value)) {
    case 3: return "EXECUTE";
    case 2: return "INITIALIZE";
    case 1: return "PREPARE";
    case 0: return "INSTANTIATE";
    default: return nullptr;
  }
}
inline const char* enumerator(XLA_FFI_Handler_TraitsBits value) {
  switch (static_cast<int>(value)) {
    case 1: return "XLA_FFI_HANDLER_TRAITS_COMMAND_BUFFER_COMPATIBLE";
    default: return nullptr;
  }
}
}  // namespace framedex::pjrt
