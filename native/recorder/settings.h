// The recording settings from environment variables.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "recorder/function.h"
#include "recorder/kept_contents.h"
#include "recorder/kept_files.h"

namespace framedex::recorder {

// Whether the calls of a function are recorded.
enum class Treatment : uint8_t { kIgnored, kCounted, kRecorded };

struct Settings {
  // FRAMEDEX_INCLUDE, FRAMEDEX_EXCLUDE: shell patterns for names of boundary functions, separated by commas. Without an
  // include pattern all functions are included.
  std::vector<std::string> include;
  std::vector<std::string> exclude;
  // FRAMEDEX_SAMPLE: each thread records every Nth of its calls.
  uint64_t sample = 1;
  // FRAMEDEX_LIMIT: bytes of calls over all threads; 0 for no limit. Stack descriptions do not count.
  uint64_t limit = 0;
  // FRAMEDEX_RING=1: at the limit, a thread's newest calls replace its oldest; otherwise recording stops.
  bool ring = false;
  // FRAMEDEX_FLIGHT=1: a ring, of 64 MiB without FRAMEDEX_LIMIT, without calls that are only counted.
  bool flight = false;
  // FRAMEDEX_PROGRAMS=0: do not keep compiled programs.
  bool programs = true;
  // FRAMEDEX_SOURCES=0: do not keep the texts of source files.
  bool sources = true;
  // FRAMEDEX_CONTENTS: the contents of buffers to keep: inputs, hash or all.
  Contents contents = Contents::kNone;
  // FRAMEDEX_CONTENTS_LIMIT: bytes of these contents.
  uint64_t contents_limit = 0;
  // FRAMEDEX_ON_CRASH=0: do not keep the stack of a fatal signal.
  bool crashes = true;
  // FRAMEDEX_VERIFY=1: walk every stack a second time with libgcc and compare.
  bool verify = false;

  // Throws std::runtime_error with a message for the user if a variable is malformed.
  static Settings from_environment();

  Treatment treatment_of(const Function& function) const;
  // Kept files do not count towards `limit`. Each kind of file is limited to the same number of bytes.
  FileStoreLimits program_limits() const;
  FileStoreLimits source_limits() const;
  FileStoreLimits content_limits() const;
  // Returns the names of the active variables that exclude calls.
  std::vector<std::string> selecting() const;

 private:
  uint64_t limit_size(uint64_t bytes) const;
};

// Returns the folder for captures that FRAMEDEX_OUT and FRAMEDEX_RECORD request, empty if they request no recording.
std::string captures_from_environment();

// Returns the job's environment variables as a JSON object, limited to a fixed list of names (settings.cc).
std::string job_from_environment();

}  // namespace framedex::recorder
