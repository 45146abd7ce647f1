// What a recording is told by its environment.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "recorder/kept_files.h"

namespace framedex::recorder {

struct Settings {
  // FRAMEDEX_INCLUDE, FRAMEDEX_EXCLUDE: shell patterns for names of boundary functions, separated by commas. Without an
  // include pattern every function is included.
  std::vector<std::string> include;
  std::vector<std::string> exclude;
  // FRAMEDEX_SAMPLE: each thread records every Nth of its calls.
  uint64_t sample = 1;
  // FRAMEDEX_LIMIT: bytes of calls, over all threads; 0 for no limit. Descriptions of stacks come on top.
  uint64_t limit = 0;
  // FRAMEDEX_RING=1: at the limit the oldest calls of a thread give way to its newest; otherwise recording stops.
  bool ring = false;
  // FRAMEDEX_PROGRAMS=0: the programs that are compiled are not kept.
  bool programs = true;
  // FRAMEDEX_SOURCES=0: the texts of the program's source files are not kept.
  bool sources = true;
  // FRAMEDEX_VERIFY=1: every stack is walked a second time by libgcc and compared.
  bool verify = false;

  // Throws std::runtime_error with a message for the user if a variable is malformed.
  static Settings from_environment();

  bool records(const char* function) const;
  // Kept files come on top of `limit`, and each kind has the same limit.
  KeptLimits program_limits() const;
  KeptLimits source_limits() const;
  // The names of the variables in force that leave out calls.
  std::vector<std::string> selecting() const;

 private:
  uint64_t limited(uint64_t bytes) const;
};

// The folder that FRAMEDEX_OUT and FRAMEDEX_RECORD ask to record into, empty if they ask for no recording.
std::string captures_from_environment();

// What the environment says of the job that the process is a part of, as a JSON object: the variables of these names
// alone, as far as they are set.
std::string job_from_environment();

}  // namespace framedex::recorder
