#include "pjrt/traced_call.h"

#include <numeric>
#include <string>
#include <utility>

namespace framedex::pjrt {

namespace {

void shortened_text(recorder::ArgumentWriter& writer, uint16_t field, std::string text) {
  text = recorder::shortened(std::move(text));
  writer.text_or_size(field, text.data(), text.size());
}

}  // namespace

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
  shortened_text(writer, field, std::move(text));
}

void texts(recorder::ArgumentWriter& writer, uint16_t field, const char* const* values, const size_t* sizes,
           size_t count) {
  std::string text;
  bool is_there = values != nullptr && sizes != nullptr;
  for (size_t i = 0; is_there && i < count && text.size() <= recorder::ArgumentWriter::kMaximumText; ++i) {
    text += i == 0 ? "" : ", ";
    text.append(values[i], sizes[i]);
  }
  shortened_text(writer, field, std::move(text));
}

void program_kept(recorder::ArgumentWriter& writer, uint16_t field, const PJRT_Program* program) {
  recorder::keep(writer, field, program->code, program->code_size);
}

size_t total(const size_t* sizes, size_t count) {
  return sizes == nullptr ? 0 : std::accumulate(sizes, sizes + count, size_t{0});
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

void leave(recorder::Call& call, const PLUGIN_Profiler_Api* plugin, PLUGIN_Profiler_Error* error) {
  if (error == nullptr) return call.leave(0, {});
  PLUGIN_Profiler_Error_GetCode_Args code{};
  code.struct_size = PLUGIN_Profiler_Error_GetCode_Args_STRUCT_SIZE;
  code.error = error;
  plugin->error_get_code(&code);
  PLUGIN_Profiler_Error_Message_Args message{};
  message.struct_size = PLUGIN_Profiler_Error_Message_Args_STRUCT_SIZE;
  message.error = error;
  plugin->error_message(&message);
  call.leave(code.code, {message.message, message.message_size});
}

bool discard(PJRT_Error* error, const PJRT_Api* plugin) {
  if (error == nullptr) return false;
  PJRT_Error_Destroy_Args arguments{};
  arguments.struct_size = PJRT_Error_Destroy_Args_STRUCT_SIZE;
  arguments.error = error;
  plugin->PJRT_Error_Destroy(&arguments);
  return true;
}

}  // namespace framedex::pjrt
