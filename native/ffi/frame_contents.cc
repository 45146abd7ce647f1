#include "ffi/frame_contents.h"

#include <cstring>
#include <string_view>

#include "recorder/format/content_name.h"

namespace framedex::ffi {
namespace {

constexpr int kBuffer = 1;  // XLA_FFI_ArgType and XLA_FFI_RetType: the only type of arguments and results

void mix(uint64_t* hash, uint64_t value) {
  uint64_t mixed = (*hash ^ value) * 0x9E3779B97F4A7C15;
  *hash = mixed ^ mixed >> 32;
}

void mix_bytes(uint64_t* hash, const void* bytes, size_t size) {
  mix(hash, size);
  mix(hash, capture::check_of(static_cast<const char*>(bytes), size));
}

template <typename List>
void mix_buffers(uint64_t* hash, const List& list, void* const* values) {
  mix(hash, static_cast<uint64_t>(list.size));
  for (int64_t i = 0; i < list.size; ++i) {
    if (list.types[i] != kBuffer) continue;
    const auto& buffer = *static_cast<const XLA_FFI_Buffer*>(values[i]);
    mix(hash, static_cast<uint64_t>(buffer.dtype) << 32 | static_cast<uint64_t>(buffer.rank));
    for (int64_t d = 0; d < buffer.rank; ++d) mix(hash, static_cast<uint64_t>(buffer.dims[d]));
  }
}

size_t element_size(XLA_FFI_DataType type) {
  switch (type) {
    case XLA_FFI_DataType_PRED:
    case XLA_FFI_DataType_S8:
    case XLA_FFI_DataType_U8:
    case XLA_FFI_DataType_F8E5M2:
    case XLA_FFI_DataType_F8E4M3:
    case XLA_FFI_DataType_F8E4M3FN:
    case XLA_FFI_DataType_F8E4M3B11FNUZ:
    case XLA_FFI_DataType_F8E5M2FNUZ:
    case XLA_FFI_DataType_F8E4M3FNUZ:
    case XLA_FFI_DataType_F8E3M4:
    case XLA_FFI_DataType_F8E8M0FNU:
      return 1;
    case XLA_FFI_DataType_S16:
    case XLA_FFI_DataType_U16:
    case XLA_FFI_DataType_F16:
    case XLA_FFI_DataType_BF16:
      return 2;
    case XLA_FFI_DataType_S32:
    case XLA_FFI_DataType_U32:
    case XLA_FFI_DataType_F32:
      return 4;
    case XLA_FFI_DataType_S64:
    case XLA_FFI_DataType_U64:
    case XLA_FFI_DataType_F64:
    case XLA_FFI_DataType_C64:
      return 8;
    case XLA_FFI_DataType_C128:
      return 16;
    default:
      return 0;
  }
}

void mix_attributes(uint64_t* hash, const XLA_FFI_Attrs& attributes) {
  mix(hash, static_cast<uint64_t>(attributes.size));
  for (int64_t i = 0; i < attributes.size; ++i) {
    mix_bytes(hash, attributes.names[i]->ptr, attributes.names[i]->len);
    const void* value = attributes.attrs[i];
    switch (attributes.types[i]) {
      case XLA_FFI_AttrType_ARRAY: {
        const auto& array = *static_cast<const XLA_FFI_Array*>(value);
        mix(hash, static_cast<uint64_t>(array.dtype));
        mix_bytes(hash, array.data, array.size * element_size(array.dtype));
        break;
      }
      case XLA_FFI_AttrType_DICTIONARY:
        mix_attributes(hash, *static_cast<const XLA_FFI_Attrs*>(value));
        break;
      case XLA_FFI_AttrType_SCALAR: {
        const auto& scalar = *static_cast<const XLA_FFI_Scalar*>(value);
        mix(hash, static_cast<uint64_t>(scalar.dtype));
        mix_bytes(hash, scalar.value, element_size(scalar.dtype));
        break;
      }
      case XLA_FFI_AttrType_STRING: {
        const auto& text = *static_cast<const XLA_FFI_ByteSpan*>(value);
        mix_bytes(hash, text.ptr, text.len);
        break;
      }
    }
  }
}

// Calls `use` with each buffer and its size, tokens excepted. Returns false at a buffer of unknown size.
template <typename List, typename Use>
bool for_each_buffer(const List& list, void* const* values, Use use) {
  for (int64_t i = 0; i < list.size; ++i) {
    if (list.types[i] != kBuffer) return false;
    const auto& buffer = *static_cast<const XLA_FFI_Buffer*>(values[i]);
    if (buffer.dtype == XLA_FFI_DataType_TOKEN) continue;
    std::optional<size_t> size = buffer_size(buffer);
    if (!size) return false;
    use(static_cast<char*>(buffer.data), *size);
  }
  return true;
}

}  // namespace

uint64_t shapes_of(const XLA_FFI_CallFrame& frame) {
  uint64_t hash = 0;
  mix_buffers(&hash, frame.args, frame.args.args);
  mix_buffers(&hash, frame.rets, frame.rets.rets);
  return hash;
}

uint64_t signature_of(const XLA_FFI_CallFrame& frame) {
  uint64_t hash = shapes_of(frame);
  mix_attributes(&hash, frame.attrs);
  return hash;
}

std::optional<size_t> buffer_size(const XLA_FFI_Buffer& buffer) {
  size_t size = element_size(buffer.dtype);
  if (size == 0) return std::nullopt;
  for (int64_t i = 0; i < buffer.rank; ++i) size *= static_cast<size_t>(buffer.dims[i]);
  return size;
}

std::string arguments_name(const XLA_FFI_CallFrame& frame) {
  std::string names;
  bool is_known = for_each_buffer(frame.args, frame.args.args, [&](const char* data, size_t size) {
    names += capture::content_name({data, size}) + ' ';
  });
  return is_known ? capture::content_name(names) : std::string();
}

std::optional<size_t> result_size(const XLA_FFI_CallFrame& frame) {
  size_t total = 0;
  bool is_known = for_each_buffer(frame.rets, frame.rets.rets, [&](const char*, size_t size) { total += size; });
  return is_known ? std::optional(total) : std::nullopt;
}

std::optional<std::string> result_bytes(const XLA_FFI_CallFrame& frame) {
  std::string bytes;
  bool is_known =
      for_each_buffer(frame.rets, frame.rets.rets, [&](const char* data, size_t size) { bytes.append(data, size); });
  return is_known ? std::optional(std::move(bytes)) : std::nullopt;
}

bool fill_results(const XLA_FFI_CallFrame& frame, const std::string& bytes) {
  if (result_size(frame) != bytes.size()) return false;
  const char* next = bytes.data();
  for_each_buffer(frame.rets, frame.rets.rets, [&](char* data, size_t size) {
    std::memcpy(data, next, size);
    next += size;
  });
  return true;
}

}  // namespace framedex::ffi
