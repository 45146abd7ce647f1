// One recording of this process: its folder, the modules met, and the functions known.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "recorder/clock.h"
#include "recorder/modules.h"
#include "recorder/python_runtime.h"
#include "recorder/recorder.h"
#include "recorder/stream.h"
#include "recorder/unwinder.h"

namespace framedex::recorder {

// Sessions are never destroyed: a thread may still be completing a call of a recording that was stopped.
class Session {
 public:
  // Creates the capture's folder below `captures`. Throws std::runtime_error with a message for the user.
  static Session* create(const std::string& captures);

  const std::string& folder() const { return folder_; }
  const PythonRuntime& python() const { return python_; }
  Unwinder& unwinder() { return unwinder_; }
  Clock clock() const { return clock_; }
  // Whether every stack is walked a second time by libgcc and compared (FRAMEDEX_VERIFY=1).
  bool verifies() const { return verifies_; }

  // Writes descriptions of the functions registered since the last time.
  void describe_functions(const std::vector<Function>& functions);
  // The number of the module that holds an address (capture::kNoModule: none) and its load address.
  uint32_t module_of(uintptr_t address, uint64_t* base);
  // A stream for the calling thread, or nullptr if it cannot be made.
  std::unique_ptr<Stream> create_thread_stream();

 private:
  struct KnownModule {
    uint64_t base;
    uint64_t size;
    std::string path;
  };

  explicit Session(std::string folder)
      : folder_(std::move(folder)),
        python_(PythonRuntime::find()),
        unwinder_(python_.evaluator()),
        clock_(Clock::find()) {}
  void anchor_clock();
  void write_metadata() const;
  void write_module(uint32_t id, const ModuleInfo& module);

  std::string folder_;
  PythonRuntime python_;
  Unwinder unwinder_;
  Clock clock_;
  bool verifies_ = false;
  std::mutex mutex_;
  std::unique_ptr<Stream> process_;
  std::vector<KnownModule> modules_;
  size_t functions_described_ = 0;
  uint32_t threads_ = 0;
};

}  // namespace framedex::recorder
