#include "ffi/call_text.h"

#include <array>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "ffi/frame_contents.h"
#include "pjrt_enumerators.h"
#include "recorder/arguments.h"
#include "recorder/base/json.h"

namespace framedex::ffi {
namespace {

// Returns XLA's spelling: lower case.
std::string dtype_name(XLA_FFI_DataType dtype) {
  const char* name = pjrt::enumerator(dtype);
  if (name == nullptr) return "dtype" + std::to_string(static_cast<int>(dtype));
  std::string text = name;
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::string buffer_text(const XLA_FFI_Buffer& buffer) {
  std::string text = dtype_name(buffer.dtype) + "[";
  for (int64_t i = 0; i < buffer.rank; ++i) text += (i == 0 ? "" : ",") + std::to_string(buffer.dims[i]);
  return text + "]";
}

template <typename List, typename Type>
std::string buffers_text(const List& list, void* const* values, Type buffer_type) {
  std::string text;
  for (int64_t i = 0; i < list.size; ++i) {
    text += i == 0 ? "" : ", ";
    bool is_buffer = list.types[i] == buffer_type;
    text += is_buffer ? buffer_text(*static_cast<const XLA_FFI_Buffer*>(values[i])) : "?";
  }
  return text;
}

template <typename Value>
Value read(const void* value, size_t index) {
  Value result;
  std::memcpy(&result, static_cast<const char*>(value) + index * sizeof(Value), sizeof(Value));
  return result;
}

// Formats a number with the fewest digits that round-trip.
template <typename Real>
std::string real_text(Real value) {
  std::array<char, 32> text;
  for (int digits = 6; digits <= std::numeric_limits<Real>::max_digits10; ++digits) {
    std::snprintf(text.data(), text.size(), "%.*g", digits, static_cast<double>(value));
    if (static_cast<Real>(std::strtod(text.data(), nullptr)) == value) break;
  }
  return text.data();
}

std::string number_text(XLA_FFI_DataType dtype, const void* value, size_t index) {
  switch (dtype) {
    case XLA_FFI_DataType_PRED:
      return read<uint8_t>(value, index) != 0 ? "true" : "false";
    case XLA_FFI_DataType_S8:
      return std::to_string(read<int8_t>(value, index));
    case XLA_FFI_DataType_S16:
      return std::to_string(read<int16_t>(value, index));
    case XLA_FFI_DataType_S32:
      return std::to_string(read<int32_t>(value, index));
    case XLA_FFI_DataType_S64:
      return std::to_string(read<int64_t>(value, index));
    case XLA_FFI_DataType_U8:
      return std::to_string(read<uint8_t>(value, index));
    case XLA_FFI_DataType_U16:
      return std::to_string(read<uint16_t>(value, index));
    case XLA_FFI_DataType_U32:
      return std::to_string(read<uint32_t>(value, index));
    case XLA_FFI_DataType_U64:
      return std::to_string(read<uint64_t>(value, index));
    case XLA_FFI_DataType_F32:
      return real_text(read<float>(value, index));
    case XLA_FFI_DataType_F64:
      return real_text(read<double>(value, index));
    default:
      return dtype_name(dtype);
  }
}

// Formats a scalar with its type, like an HLO constant, since `s32(3)` differs from `s64(3)`. `true` and `false` get no
// type.
std::string scalar_text(const XLA_FFI_Scalar& scalar) {
  std::string number = number_text(scalar.dtype, scalar.value, 0);
  std::string type = dtype_name(scalar.dtype);
  return scalar.dtype == XLA_FFI_DataType_PRED || number == type ? number : type + "(" + number + ")";
}

std::string array_text(const XLA_FFI_Array& array) {
  constexpr size_t kMaximumElements = 64;
  std::string text = dtype_name(array.dtype) + "[";
  for (size_t i = 0; i < array.size && i < kMaximumElements; ++i) {
    text += (i == 0 ? "" : ",") + number_text(array.dtype, array.data, i);
  }
  return text + (array.size > kMaximumElements ? ",...]" : "]");
}

std::string attributes_text(const XLA_FFI_Attrs& attributes);

std::string attribute_text(XLA_FFI_AttrType type, const void* attribute) {
  switch (type) {
    case XLA_FFI_AttrType_ARRAY:
      return array_text(*static_cast<const XLA_FFI_Array*>(attribute));
    case XLA_FFI_AttrType_DICTIONARY:
      return "{" + attributes_text(*static_cast<const XLA_FFI_Attrs*>(attribute)) + "}";
    case XLA_FFI_AttrType_SCALAR:
      return scalar_text(*static_cast<const XLA_FFI_Scalar*>(attribute));
    case XLA_FFI_AttrType_STRING: {
      const auto& text = *static_cast<const XLA_FFI_ByteSpan*>(attribute);
      return json_text({text.ptr, text.len});
    }
  }
  return "?";
}

std::string attributes_text(const XLA_FFI_Attrs& attributes) {
  std::string text;
  for (int64_t i = 0; i < attributes.size; ++i) {
    const XLA_FFI_ByteSpan& name = *attributes.names[i];
    text += (i == 0 ? "" : ", ") + std::string(name.ptr, name.len) + "=";
    text += attribute_text(attributes.types[i], attributes.attrs[i]);
  }
  return text;
}

}  // namespace

CallText describe_call(const XLA_FFI_CallFrame& frame) {
  return {shapes_of(frame), recorder::shorten(buffers_text(frame.args, frame.args.args, XLA_FFI_ArgType_BUFFER)),
          recorder::shorten(buffers_text(frame.rets, frame.rets.rets, XLA_FFI_RetType_BUFFER)),
          recorder::shorten(attributes_text(frame.attrs))};
}

}  // namespace framedex::ffi
