// The recorder's public interface: boundary functions, their calls, and starting and stopping a recording.
#pragma once

#include <signal.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "recorder/arguments.h"
#include "recorder/base/export.h"
#include "recorder/format/capture_format.h"
#include "recorder/function.h"
#include "recorder/walks/start_registers.h"

namespace framedex::recorder {

class Session;
class ThreadRecorder;

// Registers functions, once. Returns the number of the first; the others follow it.
FRAMEDEX_EXPORT uint32_t register_functions(const Function* functions, size_t count);

// Adds a description, a JSON object of some `kind`, to every capture of this process. Recorded calls refer to it by an
// id. Returns false and adds nothing if it is larger than kMaximumDescription bytes.
constexpr size_t kMaximumDescription = 128 * 1024;
FRAMEDEX_EXPORT bool describe(std::string_view kind, std::string_view json);
// Like describe(), for one capture only: the current one, or else the next one.
FRAMEDEX_EXPORT bool describe_once(std::string_view kind, std::string_view json);

// Keeps a program or its compile options in the current capture and writes the file name, or the reason why it was not
// kept.
FRAMEDEX_EXPORT void keep(ArgumentWriter& writer, uint16_t field, const char* bytes, size_t size) noexcept;
// Sets the JSON note for the next program compiled on this thread; an empty string clears it.
FRAMEDEX_EXPORT void note(std::string_view note) noexcept;
// Writes the file name of the note about the program with this code; nothing if there is no note.
FRAMEDEX_EXPORT void keep_note(ArgumentWriter& writer, uint16_t field, std::string_view code) noexcept;

// Starts recording into a new folder below `captures`. Throws std::runtime_error with a message for the user.
FRAMEDEX_EXPORT std::string start(const std::string& captures);
// Stops recording; open calls are still completed. Returns the capture's folder, empty if no recording was active.
FRAMEDEX_EXPORT std::string stop();
// Returns the folder of the current capture, empty if there is none.
FRAMEDEX_EXPORT std::string current_capture();
// Starts recording if FRAMEDEX_OUT and FRAMEDEX_RECORD request it (settings.h). A failure prints one line on stderr and
// is never fatal.
FRAMEDEX_EXPORT void start_from_environment() noexcept;

// Whether calls have to be examined. Every call reads this flag, so an unrecorded call costs next to nothing.
FRAMEDEX_EXPORT extern std::atomic<bool> is_active;

// Records that a signal which usually ends the process was raised on this thread, with the stacks at the fault
// (crash_file.h). Call it first in the signal's handler, with the handler's arguments. Async-signal-safe.
FRAMEDEX_EXPORT void record_fatal_signal(int number, const siginfo_t& info, const void* context) noexcept;

// A callback that a recorded call registered. `session` is nullptr if it is not recorded. The owner of a slot, below
// kMaximumCallbacks, uses it for one callback at a time.
constexpr size_t kMaximumCallbacks = capture::kPendingSlots;
struct ExpectedCallback {
  Session* session = nullptr;
  size_t slot = 0;
  uint64_t sequence = 0;
  uint32_t thread = 0;
  uint32_t forks = 0;
};
// Records that a callback is invoked, on this thread, with an error code (0: none).
FRAMEDEX_EXPORT void record_invocation(const ExpectedCallback& callback, int error) noexcept;
// Forgets a callback that will not be invoked.
FRAMEDEX_EXPORT void forget_callback(const ExpectedCallback& callback) noexcept;

// A call of a boundary function. Does nothing unless recording is on, and never throws or changes the caller's errno.
//
//   Call call(function);
//   if (call.is_recording()) { ...write inputs to call.arguments()...; call.enter(); }
//   ...the call itself...
//   if (call.is_recording()) { ...write outputs...; call.leave(error, message); }
class FRAMEDEX_EXPORT Call {
 public:
  explicit Call(uint32_t function) noexcept : thread_(nullptr), function_(function) {
    if (is_active.load(std::memory_order_acquire)) begin();
  }
  // Without leave(), records the end without an error, with the outputs written so far.
  ~Call() {
    if (thread_ != nullptr) end();
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  bool is_recording() const { return thread_ != nullptr; }
  ArgumentWriter& arguments();
  // Records the stack of the caller and the arguments written so far.
  void enter() noexcept;
  // Like enter(), for the stack that begins at `start`, the registers of an outer frame.
  void enter_from(const StartRegisters& start) noexcept;
  // Records that this entered call registers a callback for an object, such as an event.
  ExpectedCallback expect(size_t slot, const void* object) noexcept;
  // Identifies the stack of this entered call: by recording, thread, and the stack's number on that thread.
  uint64_t stack() const noexcept;
  // Records the end. `error`: 0 for success, else the boundary's own code, with a message.
  void leave(int error, std::string_view message) noexcept;

 private:
  void enter_at(const StartRegisters& start) noexcept;
  void begin() noexcept;
  void end() noexcept;

  ThreadRecorder* thread_;
  uint32_t function_;
  uint32_t forks_ = 0;  // how often this process had been forked when the call was entered
  uint64_t sequence_ = 0;
};

}  // namespace framedex::recorder
