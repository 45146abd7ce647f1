#include "pjrt/traced_call.h"

#include <algorithm>
#include <string>

namespace framedex::pjrt {

int element_bits(PJRT_Buffer_Type type) {
  switch (type) {
    case PJRT_Buffer_Type_INVALID:
    case PJRT_Buffer_Type_TOKEN:
      return 0;
    case PJRT_Buffer_Type_S16:
    case PJRT_Buffer_Type_U16:
    case PJRT_Buffer_Type_F16:
    case PJRT_Buffer_Type_BF16:
      return 16;
    case PJRT_Buffer_Type_S32:
    case PJRT_Buffer_Type_U32:
    case PJRT_Buffer_Type_F32:
      return 32;
    case PJRT_Buffer_Type_S64:
    case PJRT_Buffer_Type_U64:
    case PJRT_Buffer_Type_F64:
    case PJRT_Buffer_Type_C64:
      return 64;
    case PJRT_Buffer_Type_C128:
      return 128;
    default:
      return 8;
  }
}

int64_t dense_bytes(PJRT_Buffer_Type type, const int64_t* dims, size_t rank) {
  int64_t bytes = element_bits(type) / 8;
  for (size_t i = 0; i < rank; ++i) bytes *= dims[i];
  return bytes;
}

void named_values(recorder::ArgumentWriter& writer, uint16_t field, const PJRT_NamedValue* values, size_t count) {
  std::string text;
  for (size_t i = 0; values != nullptr && i < count && text.size() <= recorder::ArgumentWriter::kMaximumText; ++i) {
    const PJRT_NamedValue& value = values[i];
    text += (i == 0 ? "" : ", ") + std::string(value.name, value.name_size) + "=";
    switch (value.type) {
      case PJRT_NamedValue_kString:
        text.append(value.string_value, value.value_size);
        break;
      case PJRT_NamedValue_kInt64:
        text += std::to_string(value.int64_value);
        break;
      case PJRT_NamedValue_kInt64List:
        for (size_t k = 0; k < value.value_size; ++k) {
          text += (k == 0 ? "[" : ",") + std::to_string(value.int64_array_value[k]);
        }
        text += value.value_size == 0 ? "[]" : "]";
        break;
      case PJRT_NamedValue_kFloat:
        text += std::to_string(value.float_value);
        break;
      case PJRT_NamedValue_kBool:
        text += value.bool_value ? "true" : "false";
        break;
    }
  }
  if (text.size() > recorder::ArgumentWriter::kMaximumText) {
    text.resize(recorder::ArgumentWriter::kMaximumText - 3);
    text += "...";
  }
  writer.text_or_size(field, text.data(), text.size());
}

void leave(recorder::Call& call, const PJRT_Api* plugin, PJRT_Error* error) {
  if (error == nullptr) return call.leave(0, {});
  PJRT_Error_GetCode_Args code{};
  code.struct_size = PJRT_Error_GetCode_Args_STRUCT_SIZE;
  code.error = error;
  plugin->PJRT_Error_GetCode(&code);
  PJRT_Error_Message_Args message{};
  message.struct_size = PJRT_Error_Message_Args_STRUCT_SIZE;
  message.error = error;
  plugin->PJRT_Error_Message(&message);
  call.leave(code.code, {message.message, message.message_size});
}

void copy_header(const PJRT_Api& plugin, PJRT_Api& table) {
  table.struct_size = std::min<size_t>(plugin.struct_size, sizeof(table));
  table.extension_start = plugin.extension_start;
  table.pjrt_api_version = plugin.pjrt_api_version;
}

}  // namespace framedex::pjrt
