#include "replay/recorded_handlers.h"

#include <array>
#include <stdexcept>
#include <utility>

#include "ffi/frame_contents.h"
#include "recorder/format/capture_format.h"
#include "replay/kept_files.h"
#include "replay/plugin.h"

namespace framedex::replay {
namespace {

constexpr size_t kTargets = 256;

template <size_t kIndex>
XLA_FFI_Error* answer_target(XLA_FFI_CallFrame* frame) {
  return RecordedHandlers::instance().answer(kIndex, frame);
}

template <size_t... kIndex>
constexpr auto make_functions(std::index_sequence<kIndex...>) {
  return std::array<XLA_FFI_Handler*, sizeof...(kIndex)>{{answer_target<kIndex>...}};
}

constexpr auto kFunctions = make_functions(std::make_index_sequence<kTargets>{});

XLA_FFI_Error* failure(const XLA_FFI_CallFrame& frame, const std::string& message) {
  XLA_FFI_Error_Create_Args args{};
  args.struct_size = XLA_FFI_Error_Create_Args_STRUCT_SIZE;
  args.message = message.c_str();
  args.errc = XLA_FFI_Error_Code_FAILED_PRECONDITION;
  return frame.api->XLA_FFI_Error_Create(&args);
}

bool answer_metadata(const XLA_FFI_CallFrame& frame) {
  XLA_FFI_Extension_Base* extension = frame.extension_start;
  if (extension == nullptr || extension->type != XLA_FFI_Extension_Metadata) return false;
  XLA_FFI_Metadata* metadata = reinterpret_cast<XLA_FFI_Metadata_Extension*>(extension)->metadata;
  metadata->api_version.major_version = 0;
  metadata->api_version.minor_version = frame.api != nullptr ? frame.api->api_version.minor_version : 1;
  metadata->traits = 0;
  return true;
}

}  // namespace

RecordedHandlers& RecordedHandlers::instance() {
  static auto* handlers = new RecordedHandlers;  // leaked on purpose: handlers run after static destructors
  return *handlers;
}

void RecordedHandlers::add(const std::string& capture, const std::vector<HandlerResult>& answers) {
  capture_ = capture;
  std::map<std::string, size_t> places;
  for (const HandlerResult& each : answers) {
    auto [found, is_new] = places.emplace(each.target, targets_.size());
    if (is_new) {
      if (targets_.size() == kTargets) throw std::runtime_error("the recording has too many FFI handlers");
      targets_.push_back({each.target, {}, {}, {}});
    }
    Target& target = targets_[found->second];
    target.by_signature[each.signature].all.push_back(target.answers.size());
    target.by_arguments[{each.signature, each.arguments}].all.push_back(target.answers.size());
    target.answers.push_back({each});
  }
}

std::map<std::string, XLA_FFI_Handler*> RecordedHandlers::functions() const {
  std::map<std::string, XLA_FFI_Handler*> found;
  for (size_t i = 0; i < targets_.size(); ++i) found[targets_[i].name] = kFunctions[i];
  return found;
}

void RecordedHandlers::begin_execution(int64_t id) {
  std::lock_guard lock(mutex_);
  inexact_ = 0;
  if (id == execution_) {
    for (Target& target : targets_) {
      for (Recorded& each : target.answers) each.is_given = false;
      for (auto& [signature, positions] : target.by_signature) positions.next = 0;
      for (auto& [arguments, positions] : target.by_arguments) positions.next = 0;
    }
  }
  execution_ = id;
}

size_t RecordedHandlers::take_inexact() {
  std::lock_guard lock(mutex_);
  return std::exchange(inexact_, 0);
}

XLA_FFI_Error* RecordedHandlers::answer(size_t target, XLA_FFI_CallFrame* frame) {
  if (answer_metadata(*frame)) return nullptr;
  const std::string& name = targets_[target].name;
  try {
    if (ffi::fill_results(*frame, take(targets_[target], *frame))) return nullptr;
    return failure(*frame, "the recorded answer of the FFI handler " + name + " has another size");
  } catch (const std::exception& error) {
    return failure(*frame, error.what());
  }
}

RecordedHandlers::Recorded* RecordedHandlers::first_not_given(Target& target, Positions& positions) {
  while (positions.next < positions.all.size()) {
    Recorded& answer = target.answers[positions.all[positions.next]];
    if (!answer.is_given) return &answer;
    ++positions.next;
  }
  return nullptr;
}

std::string RecordedHandlers::take(Target& target, const XLA_FFI_CallFrame& frame) {
  auto signature = static_cast<int64_t>(ffi::signature_of(frame));
  std::string arguments = ffi::arguments_name(frame);
  std::lock_guard lock(mutex_);
  Recorded* same = nullptr;  // to the same arguments, not yet given if there is one
  if (auto found = target.by_arguments.find({signature, arguments}); found != target.by_arguments.end()) {
    same = first_not_given(target, found->second);
    if (same == nullptr) same = &target.answers[found->second.all.front()];
  }
  Recorded* next = nullptr;
  if (auto found = target.by_signature.find(signature); same == nullptr && found != target.by_signature.end()) {
    next = first_not_given(target, found->second);
  }
  if (same == nullptr && next == nullptr) {
    throw PluginError(PJRT_Error_Code_FAILED_PRECONDITION,
                      "the recording has no answer of the FFI handler " + target.name + " for this call");
  }
  Recorded& found = same != nullptr ? *same : *next;
  if (same == nullptr) ++inexact_;
  found.is_given = true;
  if (found.result.content == kUnknown) {
    throw PluginError(PJRT_Error_Code_FAILED_PRECONDITION,
                      "the recording did not keep the answer of the FFI handler " + target.name +
                          ": it is asynchronous, over --contents-limit, or of a type with several elements in a byte");
  }
  return read_kept(capture_, capture::kBuffers, found.result.content);
}

}  // namespace framedex::replay
