// One recording of this process: its folder, its modules, and the registered functions.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "recorder/function.h"
#include "recorder/kept_contents.h"
#include "recorder/kept_files.h"
#include "recorder/kept_sources.h"
#include "recorder/process/modules.h"
#include "recorder/settings.h"
#include "recorder/streams/clock.h"
#include "recorder/streams/open_calls.h"
#include "recorder/streams/stream.h"
#include "recorder/walks/python_runtime.h"
#include "recorder/walks/unwinder.h"

namespace framedex::recorder {

// Sessions are never destroyed: after a stop, a thread may still be completing a call.
class Session {
 public:
  static constexpr size_t kMaximumFunctions = 4096;

  // Creates the capture's folder below `captures`. Throws std::runtime_error with a message for the user.
  static Session* create(const std::string& captures);

  const std::string& folder() const { return folder_; }
  uint64_t identity() const { return identity_; }
  const PythonRuntime& python() const { return python_; }
  Unwinder& unwinder() { return unwinder_; }
  Clock clock() const { return clock_; }
  const Settings& settings() const { return settings_; }
  // Returns whether the calls of the function with this number are recorded, counted or ignored.
  Treatment treatment_of(uint32_t function) const { return treatments_[function].load(std::memory_order_relaxed); }
  // Marks in the capture that recording was stopped before the process ended.
  void note_stopped();

  // Writes the functions registered since the previous call.
  void write_functions(const std::vector<Function>& functions);
  // Writes a description; see recorder::describe().
  void describe(const std::string& kind, const std::string& json);
  // Returns the number of the module that contains an address (capture::kNoModule: none), and its load address.
  uint32_t module_of(uintptr_t address, uint64_t* base);
  // Keeps a compiled program and the source files that it names; see FileStore.
  std::string keep_program(std::string_view program);
  ContentStore& contents() { return contents_; }
  // Keeps the source file of Python code; `filename` is from the code object. See SourceStore.
  void keep_source(std::string_view filename);
  // The streams of a thread. With a ring, `ring` holds the calls and `definitions` the rest; without one, `definitions`
  // holds all.
  struct ThreadStreams {
    std::unique_ptr<Stream> definitions;
    std::unique_ptr<Stream> ring;
    std::unique_ptr<OpenCalls> open_calls;
  };
  OpenCallsFile& open_calls() { return open_calls_; }
  // Creates the calling thread's streams; `definitions` is nullptr if that fails.
  ThreadStreams create_thread_streams();

 private:
  static Session* create_in(const std::string& folder, Settings settings);
  struct KnownModule {
    uint64_t base;
    std::string path;
    std::string build_id;  // another build may be loaded at the same address later
  };

  Session(std::string folder, Settings settings)
      : folder_(std::move(folder)),
        identity_(random_number()),
        settings_(std::move(settings)),
        budget_(settings_.limit),
        programs_(folder_, capture::kPrograms, settings_.program_limits()),
        sources_(folder_, working_folder(), settings_.source_limits()),
        contents_(folder_, settings_.contents, settings_.content_limits()),
        open_calls_(folder_ + "/" + capture::kOpenCallsFile, identity_),
        python_(PythonRuntime::find()),
        unwinder_(python_.evaluator()),
        clock_(Clock::find()) {}
  StreamIdentity stream_identity(capture::StreamKind kind, uint32_t number, uint64_t thread,
                                 std::string_view name) const {
    return {kind, identity_, number, clock_, thread, name};
  }
  static uint64_t random_number();
  static std::string working_folder();
  template <typename Record>
  void write_record(capture::RecordKind kind, const Record& record) {
    if (char* body = process_->begin(sizeof(record))) {
      std::memcpy(body, &record, sizeof(record));
      process_->commit(kind);
    }
  }
  void anchor_clock();
  void write_metadata();
  void write_function(uint32_t id, const Function& function);
  void write_handler(uint32_t function, const void* handler);
  void write_module(uint32_t id, const ModuleInfo& module);

  std::string folder_;
  uint64_t identity_;
  Settings settings_;
  SegmentBudget budget_;
  FileStore programs_;
  SourceStore sources_;
  ContentStore contents_;
  OpenCallsFile open_calls_;
  std::unique_ptr<std::atomic<Treatment>[]> treatments_{new std::atomic<Treatment>[kMaximumFunctions]()};
  PythonRuntime python_;
  Unwinder unwinder_;
  Clock clock_;
  std::mutex mutex_;
  std::unique_ptr<Stream> process_;
  std::vector<KnownModule> modules_;
  size_t functions_written_ = 0;
  uint32_t threads_ = 0;
};

}  // namespace framedex::recorder
