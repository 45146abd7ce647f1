#include "replay/replayer.h"

#include <algorithm>

#include "pjrt/element_size.h"
#include "pjrt_enumerators.h"
#include "recorder/format/capture_format.h"
#include "recorder/format/content_name.h"
#include "replay/kept_files.h"
#include "replay/recorded_handlers.h"
#include "replay/seeded_content.h"

namespace framedex::replay {
namespace {

std::string shape_text(const std::vector<int64_t>& dimensions) {
  std::string text;
  for (int64_t dimension : dimensions) text += (text.empty() ? "" : "x") + std::to_string(dimension);
  return text.empty() ? kUnknown : text;
}

std::string type_text(PJRT_Buffer_Type type) {
  const char* name = pjrt::enumerator(type);
  return name != nullptr ? name : std::to_string(static_cast<int>(type));
}

bool may_crash(Action action) { return action == Action::kCompile || action == Action::kExecute; }

}  // namespace

void Replayer::run(const Operation& operation) {
  std::string id = std::to_string(operation.id);
  if (!has_operands(operation)) return report_.write({"skipped", id});
  if (may_crash(operation.action)) report_.write({"begin", id});
  try {
    perform(operation);
  } catch (const PluginError& error) {
    report_.write({"failed", id, std::to_string(error.code)}, error.what());
  }
}

bool Replayer::has_operands(const Operation& operation) const {
  switch (operation.action) {
    case Action::kCompile:
    case Action::kSend:
      return true;
    case Action::kCopy:
      return buffers_.count(operation.source) != 0;
    case Action::kUnload:
      return executables_.count(operation.executable) != 0;
    case Action::kExecute:
      if (executables_.count(operation.executable) == 0) return false;
      for (size_t i = 0; i < operation.devices * operation.arguments; ++i) {
        if (buffers_.count(operation.buffers[i]) == 0) return false;
      }
      return true;
    default:
      return buffers_.count(operation.buffer) != 0;
  }
}

void Replayer::perform(const Operation& operation) {
  switch (operation.action) {
    case Action::kCompile:
      executables_[operation.executable] =
          plugin_.compile(read_kept(settings_.capture, capture::kPrograms, operation.program), operation.format,
                          read_kept(settings_.capture, capture::kPrograms, operation.options));
      break;
    case Action::kSend:
      buffers_[operation.buffer] = plugin_.send(operation, content_to_send(operation));
      break;
    case Action::kExecute:
      execute(operation);
      break;
    case Action::kCopy:
      buffers_[operation.buffer] = plugin_.copy(buffers_.at(operation.source), operation.device, operation.memory);
      break;
    case Action::kRead:
      report_content("read", operation, 0, 0, buffers_.at(operation.buffer));
      break;
    case Action::kDelete:
      plugin_.remove_content(buffers_.at(operation.buffer));
      break;
    case Action::kDestroy:
      plugin_.destroy(buffers_.at(operation.buffer));
      buffers_.erase(operation.buffer);
      break;
    case Action::kUnload:
      plugin_.destroy(executables_.at(operation.executable));
      executables_.erase(operation.executable);
      break;
  }
}

void Replayer::execute(const Operation& operation) {
  Execution execution;
  auto next = operation.buffers.begin();
  for (size_t device = 0; device < operation.devices; ++device) {
    std::vector<PJRT_Buffer*>& arguments = execution.arguments.emplace_back();
    for (size_t i = 0; i < operation.arguments; ++i) arguments.push_back(buffers_.at(*next++));
  }
  std::vector<std::string> results;
  for (const CallbackResult& result : operation.callback_results) {
    results.push_back(read_kept(settings_.capture, capture::kBuffers, result.content));
  }
  RecordedHandlers::instance().begin_execution(operation.id);
  plugin_.execute(executables_.at(operation.executable), operation, results, execution);
  if (size_t inexact = RecordedHandlers::instance().take_inexact()) {
    report_.write({"inexact", std::to_string(operation.id), std::to_string(inexact)});
  }
  for (size_t device = 0; device < operation.devices; ++device) {
    for (size_t i = 0; i < operation.outputs; ++i) {
      PJRT_Buffer* output = execution.outputs[device][i];
      buffers_[*next++] = output;
      if (settings_.reads_outputs) report_content("output", operation, device, i, output);
    }
  }
}

std::string Replayer::content_to_send(const Operation& operation) const {
  int64_t size = pjrt::dense_bytes(operation.type, operation.dimensions.data(), operation.dimensions.size());
  constexpr int64_t kLargest = int64_t{1} << 40;
  if (size < 0 || size > kLargest)
    throw PluginError(PJRT_Error_Code_INVALID_ARGUMENT, "the recorded shape is malformed");
  int bits = pjrt::element_bits(operation.type);
  if (bits == 0) throw PluginError(PJRT_Error_Code_INVALID_ARGUMENT, "a buffer of this type has no content");
  if (operation.content == kUnknown) {
    auto seed = settings_.seed + static_cast<uint64_t>(operation.id);
    return make_seeded_content(operation.type, static_cast<size_t>(size / (bits / 8)), seed);
  }
  std::string bytes;
  for (size_t begin = 0; begin <= operation.content.size();) {  // a content in parts
    size_t end = std::min(operation.content.find(',', begin), operation.content.size());
    bytes += read_kept(settings_.capture, capture::kBuffers, operation.content.substr(begin, end - begin));
    begin = end + 1;
  }
  if (bytes.size() != static_cast<size_t>(size)) {
    throw PluginError(PJRT_Error_Code_INVALID_ARGUMENT, "the stored content does not fit the recorded shape");
  }
  return bytes;
}

void Replayer::report_content(const char* word, const Operation& operation, size_t device, size_t index,
                              PJRT_Buffer* buffer) {
  Content content = plugin_.read(buffer);
  std::string name = capture::content_name(content.bytes);
  bool is_known = name == operation.content && !settings_.reads_outputs;
  report_.write({word, std::to_string(operation.id), std::to_string(device), std::to_string(index),
                 type_text(content.type), shape_text(content.dimensions), name},
                is_known ? std::string_view() : std::string_view(content.bytes));
}

}  // namespace framedex::replay
