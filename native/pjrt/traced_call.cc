#include "pjrt/traced_call.h"

#include <array>
#include <atomic>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>

#include "pjrt/plugin_faults/exceptions.h"

namespace framedex::pjrt {

namespace {

// A callback of the program, until the plug-in invokes it.
struct Registration {
  std::atomic<bool> is_used{false};
  PJRT_Event_OnReadyCallback callback;
  void* user;
  const PJRT_Api* plugin;
  recorder::ExpectedCallback expected;
};
std::array<Registration, recorder::kMaximumCallbacks> registrations;

// The number of slots to try. With many pending callbacks, a search of all slots would take longer than the call.
constexpr size_t kProbes = 16;

// Finds a free slot and marks it as used. Returns kMaximumCallbacks if it finds none. Begins with the thread's latest
// slot, which is probably free again and still in the processor's cache.
size_t take_slot() {
  static std::atomic<size_t> threads{0};
  static thread_local size_t latest = threads.fetch_add(1, std::memory_order_relaxed) * kProbes;
  for (size_t i = 0; i < kProbes; ++i) {
    size_t slot = (latest + i) % registrations.size();
    std::atomic<bool>& is_used = registrations[slot].is_used;
    if (is_used.load(std::memory_order_relaxed) || is_used.exchange(true, std::memory_order_acquire)) continue;
    latest = slot;
    return slot;
  }
  latest += kProbes;
  return recorder::kMaximumCallbacks;
}

void free_slot(Registration* registration) { registration->is_used.store(false, std::memory_order_release); }

int code_of(PJRT_Error* error, const PJRT_Api* plugin) {
  if (error == nullptr) return 0;
  PJRT_Error_GetCode_Args code{};
  code.struct_size = PJRT_Error_GetCode_Args_STRUCT_SIZE;
  code.error = error;
  code.code = PJRT_Error_Code_UNKNOWN;  // if the plug-in does not return a code
  try {
    if (plugin->PJRT_Error_GetCode != nullptr) plugin->PJRT_Error_GetCode(&code);
  } catch (...) {  // the program did not ask
  }
  return code.code;
}

// Returns the message of an error; empty if the plug-in does not return one.
std::string_view message_of(PJRT_Error* error, const PJRT_Api* plugin) {
  PJRT_Error_Message_Args message{};
  message.struct_size = PJRT_Error_Message_Args_STRUCT_SIZE;
  message.error = error;
  try {
    if (plugin->PJRT_Error_Message != nullptr) plugin->PJRT_Error_Message(&message);
  } catch (...) {  // the program did not ask
    return {};
  }
  return message.message == nullptr ? "" : std::string_view(message.message, message.message_size);
}

// The plug-in invokes this function in place of the program's callback.
void invoke(PJRT_Error* error, void* user) {
  auto* registration = static_cast<Registration*>(user);
  recorder::record_invocation(registration->expected, code_of(error, registration->plugin));
  PJRT_Event_OnReadyCallback callback = registration->callback;
  void* of_program = registration->user;
  free_slot(registration);
  callback(error, of_program);
}

void shortened_text(recorder::ArgumentWriter& writer, uint16_t field, std::string text) {
  text = recorder::shorten(std::move(text));
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

void shape_texts(recorder::ArgumentWriter& writer, uint16_t field, const PJRT_ShapeSpec* shapes, size_t count) {
  constexpr size_t kMost = 8192;
  std::string text;
  for (size_t i = 0; shapes != nullptr && i < count && text.size() <= kMost; ++i) {
    const PJRT_ShapeSpec& shape = shapes[i];
    const char* type = enumerator(shape.element_type);
    text += (i == 0 ? "" : " ") + (type != nullptr ? std::string(type) : "?") + "[";
    for (size_t axis = 0; axis < shape.num_dims; ++axis) {
      text += (axis == 0 ? "" : ",") + std::to_string(shape.dims[axis]);
    }
    text += ']';
  }
  if (text.size() <= kMost) writer.text(field, text);
}

void program_kept(recorder::ArgumentWriter& writer, uint16_t field, const PJRT_Program* program) {
  recorder::keep(writer, field, program->code, program->code_size);
}

void note_kept(recorder::ArgumentWriter& writer, uint16_t field, const PJRT_Program* program) {
  bool has_code = program != nullptr && program->code != nullptr;
  recorder::keep_note(writer, field, has_code ? std::string_view(program->code, program->code_size) : "");
}

size_t total(const size_t* sizes, size_t count) {
  return sizes == nullptr ? 0 : std::accumulate(sizes, sizes + count, size_t{0});
}

TracedCallback::TracedCallback(recorder::Call& call, PJRT_Event_OnReady_Args* args, const PJRT_Api* plugin)
    : args_(args), callback_(args->callback), user_(args->user_arg) {
  if (!call.is_recording() || callback_ == nullptr) return;
  slot_ = take_slot();
  if (slot_ == registrations.size()) return;
  Registration& registration = registrations[slot_];
  registration.expected = call.expect(slot_, args->event);
  if (registration.expected.session == nullptr) {
    free_slot(&registration);
    slot_ = registrations.size();
    return;
  }
  registration.callback = callback_;
  registration.user = user_;
  registration.plugin = plugin;
  args->callback = invoke;
  args->user_arg = &registration;
}

TracedCallback::~TracedCallback() {
  if (slot_ == registrations.size()) return;  // nothing was replaced; the callback may have freed the arguments
  args_->callback = callback_;
  args_->user_arg = user_;
  if (!is_refused_) return;
  recorder::forget_callback(registrations[slot_].expected);
  free_slot(&registrations[slot_]);
}

void leave(recorder::Call& call, const PJRT_Api* plugin, PJRT_Error* error, uint16_t object) {
  if (error == nullptr) return call.leave(0, {});
  call.arguments().address(object, error);
  call.leave(code_of(error, plugin), message_of(error, plugin));
}

void leave(recorder::Call& call, const PLUGIN_Profiler_Api* plugin, PLUGIN_Profiler_Error* error, uint16_t object) {
  if (error == nullptr) return call.leave(0, {});
  call.arguments().address(object, error);
  PLUGIN_Profiler_Error_GetCode_Args code{};
  code.struct_size = PLUGIN_Profiler_Error_GetCode_Args_STRUCT_SIZE;
  code.error = error;
  code.code = PJRT_Error_Code_UNKNOWN;
  if (plugin->error_get_code != nullptr) plugin->error_get_code(&code);
  PLUGIN_Profiler_Error_Message_Args message{};
  message.struct_size = PLUGIN_Profiler_Error_Message_Args_STRUCT_SIZE;
  message.error = error;
  if (plugin->error_message != nullptr) plugin->error_message(&message);
  call.leave(code.code, {message.message, message.message_size});
}

void leave_by_exception(recorder::Call& call, uint16_t field) {
  std::string exception = current_exception();
  std::string text = recorder::shorten(exception);
  call.arguments().text(field, text);
  call.leave(kExceptionCode, "C++ exception " + exception);
}

void unfilled_names(recorder::ArgumentWriter& writer, uint16_t field, const char* const* names, uint64_t unfilled) {
  std::string text;
  for (; unfilled != 0; unfilled &= unfilled - 1)
    text += (text.empty() ? "" : ", ") + std::string(names[__builtin_ctzll(unfilled)]);
  writer.text(field, text);
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
