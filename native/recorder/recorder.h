// The recorder's public face: boundary functions, the calls into them, and switching recording on and off.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "recorder/arguments.h"
#include "recorder/base/export.h"
#include "recorder/function.h"
#include "recorder/walks/start_registers.h"

namespace framedex::recorder {

class ThreadRecorder;

// Makes functions known, once, and returns the number of the first; the others follow it.
FRAMEDEX_EXPORT uint32_t register_functions(const Function* functions, size_t count);

// Adds a description that recorded calls refer to by an id, a JSON object of some `kind`, to every capture of this
// process. False, and nothing is added, if it is larger than kMaximumDescription bytes.
constexpr size_t kMaximumDescription = 128 * 1024;
FRAMEDEX_EXPORT bool describe(std::string_view kind, std::string_view json);

// Writes the name under which the capture that is being written keeps a program, or the options that it is compiled
// with, or why it does not.
FRAMEDEX_EXPORT void keep(ArgumentWriter& writer, uint16_t field, const char* bytes, size_t size) noexcept;
// Sets what is to be said of the program that this thread has made next; empty: nothing.
FRAMEDEX_EXPORT void note(std::string_view note) noexcept;
// Writes the name under which that is kept, for one program; nothing where nothing is to be said.
FRAMEDEX_EXPORT void keep_note(ArgumentWriter& writer, uint16_t field) noexcept;

// Starts recording into a new folder below `captures`. Throws std::runtime_error with a message for the user.
FRAMEDEX_EXPORT std::string start(const std::string& captures);
// Stops recording; calls under way are still completed. Returns the capture's folder, empty if nothing was recording.
FRAMEDEX_EXPORT std::string stop();
// The folder of the capture being written, empty if none is.
FRAMEDEX_EXPORT std::string current_capture();
// Starts if FRAMEDEX_OUT and FRAMEDEX_RECORD ask for it (settings.h). A failure is one line on stderr, never fatal.
FRAMEDEX_EXPORT void start_from_environment() noexcept;

// Whether any call is to be looked at; read by every call, so that one that is not recorded costs next to nothing.
FRAMEDEX_EXPORT extern std::atomic<bool> is_active;

// One entry into a boundary. Does nothing unless recording is on, and never throws or changes the caller's errno.
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
  // Leaves without an error, with the outputs written so far, if leave() was not reached.
  ~Call() {
    if (thread_ != nullptr) end();
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  bool is_recording() const { return thread_ != nullptr; }
  ArgumentWriter& arguments();
  // Records the stack of the caller and the arguments written so far.
  void enter() noexcept;
  // The same for the stack that begins at `start`, further out than this function.
  void enter_from(const StartRegisters& start) noexcept;
  // Records the end: `error` 0 for success, else the boundary's own code with a message.
  void leave(int error, std::string_view message) noexcept;

 private:
  void enter_at(const StartRegisters& start) noexcept;
  void begin() noexcept;
  void end() noexcept;

  ThreadRecorder* thread_;
  uint32_t function_;
  uint32_t forks_ = 0;  // how often this process had been forked off when the call was entered
  uint64_t sequence_ = 0;
};

}  // namespace framedex::recorder
