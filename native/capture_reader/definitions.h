// The definitions that the calls of a capture refer to, and an index of its streams. They are read before the calls.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "capture_reader/call_records.h"
#include "capture_reader/capture_reader.h"
#include "capture_reader/id_map.h"
#include "capture_reader/stream_reader.h"
#include "capture_reader/timeline.h"

namespace framedex::capture {

// A call with a late return, or none. Calls can be read before such a call returns.
struct LongCall {
  uint64_t sequence;
  bool has_returned;
  uint64_t end;
  int32_t error;
  std::string results;
};

// Calls that have not returned yet, ordered by start.
class OpenCalls {
 public:
  void begin(uint64_t sequence, uint64_t index) { open_.push_back({sequence, index}); }
  // Removes the call with this number; returns false if there is none. Sets `index` to the value given to begin().
  bool end(uint64_t sequence, uint64_t* index);
  template <typename Visit>
  void each(Visit visit) const {
    for (const auto& [sequence, index] : open_) visit(sequence, index);
  }

 private:
  std::vector<std::pair<uint64_t, uint64_t>> open_;
};

// The invocation of a callback on a thread (a number in file names).
struct ThreadInvocation {
  uint32_t thread;
  InvocationRecord record;
};

// One thread's streams, with the capture-wide numbers of their ids.
struct ThreadStreams {
  uint32_t number;                     // in the file names
  uint32_t thread;                     // index in the capture
  std::unique_ptr<StreamReader> ring;  // nullptr if the calls are with the definitions
  std::unique_ptr<StreamReader> definitions;
  bool has_calls = false;      // calls of this capture
  bool is_in_order = true;     // ordered by start
  bool has_python = false;     // on the stack of one of its calls
  uint64_t last_sequence = 0;  // of the calls read so far
  uint64_t calls = 0;
  uint64_t first_start = 0;
  uint64_t last_start = 0;
  OpenCalls open;
  std::vector<LongCall> long_calls;
  std::unordered_map<uint32_t, uint32_t> codes;
  std::unordered_map<uint32_t, uint32_t> frames;
  IdMap stacks;

  StreamReader& stream_of_calls() const { return ring ? *ring : *definitions; }
  // Returns whether a call was already read from a copy of its record. Before a ring overwrites the record of an open
  // call, the recorder copies it to the thread's own stream, which is read first.
  bool is_copy(uint64_t sequence, uint64_t previous) const { return ring && sequence <= previous; }
};

// Joins the streams of a capture. On disk, ids are per stream; here, equal stacks and frames of several threads share
// one number.
class Definitions {
 public:
  // Reads all streams once, up to the end of the data written when this began.
  explicit Definitions(std::string folder);

  // Returns all tables except the calls.
  const Capture& capture() const { return capture_; }
  const std::vector<std::vector<std::string>>& value_names() const { return value_names_; }
  const Timeline& timeline() const { return timeline_; }
  std::vector<std::unique_ptr<ThreadStreams>>& threads() { return threads_; }
  uint64_t damaged() const { return damaged_; }
  uint64_t calls() const { return calls_; }
  uint64_t identity() const { return identity_; }
  const std::string& folder() const { return folder_; }
  // Returns the invocations of callbacks, thread by thread.
  const std::vector<ThreadInvocation>& invocations() const { return invocations_; }

  // Reads data written since the last read. Returns false if the capture must be read again from the start.
  bool extend();

  // Returns the capture's function with this id.
  uint32_t function_of(uint32_t id) const { return function_ids_.at(id); }
  // Adds the function and the stack of a call to the tables.
  void add_call(const ThreadStreams& thread, const CallStart& start);
  // Returns the stack of a call of a function, by its id in the thread's stream. The call was added.
  uint32_t stack_of(const ThreadStreams& thread, uint32_t function, uint32_t id) const;

  // Reads the definitions of the threads with these numbers, without their calls. Open calls need only these. `anchors`
  // are added to the anchors of these threads.
  static Definitions for_threads(std::string folder, const std::vector<uint32_t>& numbers,
                                 const std::vector<ClockRecord>& anchors);
  // Reads only the modules, which are few in a capture of any size.
  static std::vector<Module> read_modules(std::string folder);

 private:
  using Frames = std::vector<uint32_t>;

  void problem(std::string text) { capture_.problems.push_back(std::move(text)); }
  Definitions() = default;
  void open_thread_streams(std::error_code* error);
  void choose_identity();
  bool belongs_to_capture(const StreamReader& stream, StreamKind kind, uint32_t number);
  void read_process();
  void read_process_records();
  void read_thread_record(Body body);
  void read_metadata_record(Body body);
  void read_module(Body body, uint32_t version);
  void read_function(Body body);
  void read_handler(Body body);
  void read_description(Body body);
  void read_thread(ThreadStreams* thread);
  void read_stream(StreamReader& stream, ThreadStreams* thread);
  void add_problems(const StreamReader& stream, size_t reported = 0);
  bool read_record(const Record& record, ThreadStreams* thread);
  bool read_code(Body body, ThreadStreams* thread);
  bool read_frame(Body body, ThreadStreams* thread);
  bool read_stack(Body body, ThreadStreams* thread);
  bool read_frames(Body* body, uint32_t count, const ThreadStreams& thread, Frames* frames);
  bool read_call(const Record& record, ThreadStreams* thread);
  bool read_return(const Record& record, ThreadStreams* thread);
  bool read_invocation(Body body, const ThreadStreams& thread);
  bool read_clock(Body body);
  uint32_t add_function(std::string boundary, std::string name, std::vector<std::string> values);
  uint32_t find_or_add_function(uint32_t id);
  uint32_t add_frame(const Frame& frame);
  uint32_t add_stack(Stack stack);
  void add_handler_stack(uint32_t function, uint32_t stack);
  bool has_python(uint32_t stack);

  std::string folder_;
  std::string metadata_;  // the text of capture.json
  uint64_t identity_ = 0;
  Capture capture_;
  Timeline timeline_;
  std::unique_ptr<StreamReader> process_;
  std::vector<std::unique_ptr<ThreadStreams>> threads_;
  std::vector<ThreadInvocation> invocations_;
  std::vector<std::vector<std::string>> value_names_;  // by function
  std::unordered_map<uint32_t, int64_t> module_ids_;
  IdMap function_ids_;
  std::unordered_map<uint32_t, uint32_t> handlers_;                   // frame by function
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> handler_stacks_;  // by function and stack
  uint32_t missing_stack_ = IdMap::kNone;
  std::vector<std::optional<bool>> has_python_;  // by stack; set on demand
  std::map<std::tuple<std::string, std::string, int32_t, std::string>, uint32_t> code_ids_;
  std::map<std::tuple<FrameLanguage, int64_t, uint64_t, bool>, uint32_t> frame_ids_;
  std::unordered_multimap<uint64_t, uint32_t> stack_ids_;  // by the hash of the content
  uint64_t damaged_ = 0;
  uint64_t calls_ = 0;
};

}  // namespace framedex::capture
