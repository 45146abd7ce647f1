// Helpers of the generated functions of the legacy TPU C API: decoding, and ending a call. They never allocate.
#pragma once

#include <cstring>
#include <iterator>

#include "recorder/recorder.h"
#include "tpu_legacy/shape.h"

namespace framedex::tpu_legacy {

using recorder::ArgumentWriter;

inline size_t text_length(const char* text) { return text == nullptr ? 0 : std::strlen(text); }

// Writes an enumerator's name, or its number if the API has no name for it.
template <typename Enum>
void write_enumeration(ArgumentWriter& writer, uint16_t field, Enum value) {
  const char* name = enumerator(value);
  name != nullptr ? writer.text(field, name) : writer.integer(field, static_cast<int64_t>(value));
}

template <typename List>
void write_list(ArgumentWriter& writer, uint16_t field, const List& list) {
  writer.integers(field, elements(list), static_cast<size_t>(list.size));
}

// Writes texts as one, separated by commas.
void write_texts(ArgumentWriter& writer, uint16_t field, const char* const* values, size_t count);

inline void write_memory(ArgumentWriter& writer, uint16_t field, const SE_DeviceMemoryBase& memory) {
  writer.address(field, memory.opaque);
}
inline void write_memory_size(ArgumentWriter& writer, uint16_t field, const SE_DeviceMemoryBase& memory) {
  writer.integer(field, static_cast<int64_t>(memory.size));
}
void write_memories(ArgumentWriter& writer, uint16_t field, const SE_DeviceMemoryBase* memories, size_t count);

void write_shape(ArgumentWriter& writer, uint16_t field, const XLA_Shape& shape);
void write_shapes(ArgumentWriter& writer, uint16_t field, const XLA_Shape* shapes, int count);
inline void write_literal_shape(ArgumentWriter& writer, uint16_t field, const XLA_Literal& literal) {
  write_shape(writer, field, literal.shape);
}
void write_literal_bytes(ArgumentWriter& writer, uint16_t field, const XLA_Literal& literal);
inline void write_buffer_shape(ArgumentWriter& writer, uint16_t field, const XLA_ShapedBuffer& buffer) {
  write_shape(writer, field, buffer.on_device_shape);
}
inline void write_buffer_bases(ArgumentWriter& writer, uint16_t field, const XLA_ShapedBuffer& buffer) {
  write_memories(writer, field, buffer.bases, buffer.count);
}
inline void write_buffer_ordinal(ArgumentWriter& writer, uint16_t field, const XLA_ShapedBuffer& buffer) {
  writer.integer(field, buffer.device_ordinal);
}
// Writes the shapes of a program's arguments.
void write_inputs(ArgumentWriter& writer, uint16_t field, const SE_ExecutionInput* const* inputs, int count);

// Returns whether the call succeeded: it has no status, or its status is OK.
inline bool succeeded(const TpuApi& api, TF_Status* status) { return status == nullptr || api.TpuStatus_Ok(status); }
// Ends a call with the code and message of its status.
void leave(recorder::Call& call, const TpuApi& api, TF_Status* status);

}  // namespace framedex::tpu_legacy
