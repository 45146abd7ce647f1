// The files of a capture's threads.
#pragma once

#include <cstdint>
#include <string>
#include <system_error>
#include <vector>

#include "capture_reader/capture_reader.h"

namespace framedex::capture {

struct ThreadFiles {
  uint32_t number;
  std::string definitions;
  std::string ring;  // empty where the calls are with the definitions
};

// In the order in which the threads began.
std::vector<ThreadFiles> thread_files(const std::string& folder, std::error_code* error);

// What the headers of the process's and a thread's streams say of what is missing.
void add_process(const StreamHeader& header, Stops* stops);
void add_thread(const StreamHeader& definitions, const StreamHeader& calls, Stops* stops);

}  // namespace framedex::capture
