#include "ffi/handler_run.h"

#include <exception>
#include <new>
#include <string_view>

#include "abi/struct_size.h"
#include "ffi/call_text.h"
#include "ffi/crash_report.h"
#include "ffi/error_code.h"
#include "ffi/frame_contents.h"
#include "ffi/instances.h"
#include "ffi/run_functions.h"
#include "recorder/kept_contents.h"
#include "recorder/recorder.h"

namespace framedex::ffi {
namespace {

using recorder::Call;

constexpr int kUnknown = XLA_FFI_Error_Code_UNKNOWN;

// Starts the recording that the environment requests, unless libtpu.so has already started it in this process. Only the
// first run does this, so a program without handlers creates no capture. Concurrent runs wait until it has started.
void start_recording_once() {
  static const bool is_started = (recorder::start_from_environment(), true);
  static_cast<void>(is_started);
}

// Leaves out the attributes of a callback: framedex added them, to describe how the mock TPU moves its data.
void write_text(recorder::ArgumentWriter& writer, const CallText& text, bool is_of_callback) {
  writer.text(kArguments, text.arguments);
  writer.text(kResults, text.results);
  if (!text.attributes.empty() && !is_of_callback) writer.text(kAttributes, text.attributes);
}

// Writes the text of a call. The text is cached per instance, because its shapes hardly ever change.
void write_text(recorder::ArgumentWriter& writer, Instance* instance, const XLA_FFI_CallFrame& frame) {
  bool is_of_callback = instance != nullptr && instance->is_of_callback;
  const CallText* known = instance != nullptr ? instance->text.load(std::memory_order_acquire) : nullptr;
  if (known != nullptr && known->shapes == shapes_of(frame)) {
    return write_text(writer, *known, is_of_callback);
  }
  CallText text = describe_call(frame);
  write_text(writer, text, is_of_callback);
  if (instance == nullptr || known != nullptr) return;
  const CallText* expected = nullptr;
  const auto* made = new CallText(std::move(text));
  if (!instance->text.compare_exchange_strong(expected, made, std::memory_order_acq_rel)) delete made;
}

void write_context(recorder::ArgumentWriter& writer, const XLA_FFI_CallFrame& frame) {
  const XLA_FFI_Api* api = frame.api;
  if (frame.ctx == nullptr) return;
  if (pjrt::has(api, &XLA_FFI_Api::XLA_FFI_DeviceOrdinal_Get)) {
    XLA_FFI_DeviceOrdinal_Get_Args args{XLA_FFI_DeviceOrdinal_Get_Args_STRUCT_SIZE, nullptr, frame.ctx, 0};
    if (api->XLA_FFI_DeviceOrdinal_Get(&args) == nullptr) writer.integer(kDevice, args.device_ordinal);
  }
  if (pjrt::has(api, &XLA_FFI_Api::XLA_FFI_RunId_Get)) {
    XLA_FFI_RunId_Get_Args args{XLA_FFI_RunId_Get_Args_STRUCT_SIZE, nullptr, frame.ctx, 0};
    if (api->XLA_FFI_RunId_Get(&args) == nullptr) writer.integer(kRunId, args.run_id);
  }
}

void write_inputs(recorder::ArgumentWriter& writer, const Slot& slot, Instance* instance,
                  const XLA_FFI_CallFrame& frame) {
  write_text(writer, instance, frame);
  if (instance != nullptr) {
    writer.integer(kInstance, static_cast<int64_t>(instance->id));
    uint64_t site = instance->site.load(std::memory_order_relaxed);
    if (site != 0) writer.address(kSite, reinterpret_cast<const void*>(site));
  }
  if (slot.stage != XLA_FFI_ExecutionStage_INSTANTIATE) write_context(writer, frame);
}

bool keeps_contents(const Slot& slot) {
  return slot.registration->keeps_results && slot.stage == XLA_FFI_ExecutionStage_EXECUTE &&
         recorder::kept_contents() != recorder::Contents::kNone;
}

// Before the run, because a handler may write its results over its arguments.
void write_arguments_name(recorder::ArgumentWriter& writer, const XLA_FFI_CallFrame& frame) {
  try {
    writer.integer(kSignature, static_cast<int64_t>(signature_of(frame)));
    writer.text(kArgumentsName, arguments_name(frame));
  } catch (const std::bad_alloc&) {  // the run is recorded without it
  }
}

void keep_results(recorder::ArgumentWriter& writer, const XLA_FFI_CallFrame& frame) {
  try {
    std::optional<size_t> size = result_size(frame);
    // The recorder refuses it before it reads a byte, so it needs no copy.
    if (size && *size > recorder::largest_content()) return recorder::keep_sent(writer, kKeptResults, "", *size);
    if (auto bytes = result_bytes(frame)) recorder::keep_sent(writer, kKeptResults, bytes->data(), bytes->size());
  } catch (const std::bad_alloc&) {  // as above
  }
}

void leave(Call& call, const ErrorCodeScope& codes, XLA_FFI_Error* error) {
  if (error == nullptr) return call.leave(0, {});
  std::string_view message;
  XLA_FFI_Error_Code code = codes.code_of(error, &message);
  call.leave(code, message);
}

// Completes the record of a handler left by an exception that is not a std::exception. The exception is not caught: if
// nobody catches it, the process dies at the throw, with all frames intact.
class ExceptionExitRecord {
 public:
  explicit ExceptionExitRecord(Call& call) : call_(call) {}
  ~ExceptionExitRecord() {
    if (call_.is_recording()) call_.leave(kUnknown, "the handler was left by an exception");
  }

 private:
  Call& call_;
};

XLA_FFI_Error* run_recorded(Call& call, Slot& slot, XLA_FFI_CallFrame* frame) {
  ExceptionExitRecord guard(call);
  ErrorCodeScope codes(frame);
  XLA_FFI_Error* error;
  try {
    error = slot.handler(frame);
  } catch (const std::exception& exception) {  // XLA also catches it and turns it into an error
    call.leave(kUnknown, exception.what());
    throw;
  }
  if (slot.stage == XLA_FFI_ExecutionStage_INSTANTIATE && error == nullptr) {
    const Instance* instance = note_instantiation(slot, *frame);
    if (instance != nullptr) call.arguments().integer(kInstance, static_cast<int64_t>(instance->id));
  }
  if (frame->future != nullptr) call.arguments().boolean(kIsAsynchronous, true);
  if (error == nullptr && frame->future == nullptr && keeps_contents(slot)) keep_results(call.arguments(), *frame);
  leave(call, codes, error);
  return error;
}

}  // namespace

// Not inlined, so that it has its own frame with a frame pointer. The trampoline jumps here and adds no frame, so XLA
// is the caller of this function.
__attribute__((noinline)) XLA_FFI_Error* run(Slot& slot, XLA_FFI_CallFrame* frame) {
  if (__builtin_expect(is_metadata_query(*frame), 0)) return slot.handler(frame);
  start_recording_once();
  bool is_instantiation = slot.stage == XLA_FFI_ExecutionStage_INSTANTIATE;
  Instance* instance = is_instantiation ? nullptr : find_running_instance(slot, *frame);
  RunningHandlerScope running(*slot.registration, slot.stage, instance);
  bool is_of_callback = instance != nullptr && instance->is_of_callback;
  if (is_of_callback && !instance->callback) return slot.handler(frame);
  Call call(is_of_callback ? *instance->callback : slot.function);
  if (call.is_recording()) {
    write_inputs(call.arguments(), slot, instance, *frame);
    if (keeps_contents(slot)) write_arguments_name(call.arguments(), *frame);
    call.enter_from(recorder::registers_of_caller());
    return run_recorded(call, slot, frame);
  }
  XLA_FFI_Error* error = slot.handler(frame);
  if (is_instantiation && error == nullptr) note_instantiation(slot, *frame);
  return error;
}

__attribute__((noinline)) void run_untyped(UntypedSlot& slot, void* a, void* b, void* c, void* d, void* e) {
  start_recording_once();
  RunningHandlerScope running(*slot.registration, XLA_FFI_ExecutionStage_EXECUTE, nullptr);
  Call call(slot.function);
  if (call.is_recording()) {
    call.arguments();
    call.enter_from(recorder::registers_of_caller());
  }
  ExceptionExitRecord guard(call);
  slot.handler(a, b, c, d, e);
  if (call.is_recording()) call.leave(0, {});
}

}  // namespace framedex::ffi
