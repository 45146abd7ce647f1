// The contents of a handler's call, for recordings that keep them and for replays that answer from them. The handler
// runs on the host, so its buffers are in host memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "pjrt_c_api.h"

namespace framedex::ffi {

// Returns a hash of the dtypes and shapes of arguments and results.
uint64_t shapes_of(const XLA_FFI_CallFrame& frame);
// Returns a hash of shapes and attributes. Calls with equal signatures have answers of the same size.
uint64_t signature_of(const XLA_FFI_CallFrame& frame);
// Returns the size of a buffer; nothing for types that share bytes or have none.
std::optional<size_t> buffer_size(const XLA_FFI_Buffer& buffer);
// Returns a content name (recorder/format/content_name.h) of all arguments; empty if the size of one is unknown.
std::string arguments_name(const XLA_FFI_CallFrame& frame);
// Returns the size of all results in bytes; nothing if the size of one is unknown.
std::optional<size_t> result_size(const XLA_FFI_CallFrame& frame);
// Returns the bytes of all results, in order; nothing if the size of one is unknown.
std::optional<std::string> result_bytes(const XLA_FFI_CallFrame& frame);
// Copies such bytes into the results. Returns false if their size differs.
bool fill_results(const XLA_FFI_CallFrame& frame, const std::string& bytes);

}  // namespace framedex::ffi
