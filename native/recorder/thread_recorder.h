// The state of a recorded thread: its streams, and the stacks and frames written to them.
#pragma once

#include <memory>
#include <vector>

#include "recorder/arguments.h"
#include "recorder/base/flat_map.h"
#include "recorder/session.h"
#include "recorder/stacks/stack_walker.h"

namespace framedex::recorder {

class ThreadRecorder {
 public:
  // Returns nullptr if the streams cannot be created.
  static std::unique_ptr<ThreadRecorder> create(Session* session);

  Session* session() const { return session_; }
  ArgumentWriter& arguments() { return arguments_; }
  bool has_open_calls() const { return !open_calls_.is_empty(); }
  // Returns whether sampling selects the next call.
  bool samples_next() {
    uint64_t every = session_->settings().sample;
    return every == 1 || ++offered_ % every == 1;
  }

  // Counts a call that is not recorded.
  void count_query() { definitions_.count_query(); }

  static constexpr uint64_t kNotRecorded = 0;
  // Records the stack that begins at `start`. Returns the call's number on this thread, or kNotRecorded in a signal
  // handler.
  uint64_t enter(uint32_t function, const StartRegisters& start);
  // Records that the innermost call, with this number, registered a callback for an object. Returns false on failure.
  bool expect(uint64_t sequence, size_t slot, const void* object);
  uint32_t number() const { return open_calls_.thread(); }
  // The number of the innermost open call's stack; 0 if that call has no slot.
  uint32_t innermost_stack() const {
    const capture::CallRecord* call = open_calls_.innermost();
    return call == nullptr ? 0 : call->stack;
  }
  void note_signal(int number) { open_calls_.note_signal(number); }
  // Records the invocation of a callback that a call of a thread registered.
  void record_invocation(uint32_t thread, uint64_t sequence, int error);
  // `time` is on the session's clock.
  void leave(uint64_t sequence, int error, std::string_view message, uint64_t time);

 private:
  ThreadRecorder(Session* session, Session::ThreadStreams streams);

  template <typename Head>
  void write(Stream& stream, capture::RecordKind kind, const Head& full);
  uint64_t move_record(const capture::CallRecord& call, const char* record);
  uint32_t stack_id(const StartRegisters& start);
  bool agrees_with_libgcc(const StartRegisters& start, uint32_t id);
  void write_stack(const StackWalker::FoundStack& found);
  uint32_t frame_id(const MergedFrame& frame);
  uint32_t code_id(const MergedFrame& frame);
  bool forget_unloaded();
  void anchor_clock();

  Session* session_;
  Session::ThreadStreams streams_;
  Stream& definitions_;
  Stream& calls_;  // the ring if there is one
  OpenCalls& open_calls_;
  StackWalker walker_;
  FlatMap frames_;
  FlatMap codes_;
  uint32_t next_frame_ = 0;
  uint32_t next_code_ = 0;
  uint64_t offered_ = 0;
  uint64_t unloads_;
  ArgumentWriter arguments_;
};

}  // namespace framedex::recorder
