// Lists the files of a capture's threads.
#pragma once

#include <cstdint>
#include <string>
#include <system_error>
#include <vector>

namespace framedex::capture {

struct ThreadFiles {
  uint32_t number;
  std::string definitions;
  std::string ring;  // empty if the calls are with the definitions
};

// Returns the files in the order in which the threads began. `error` says why the folder could not be listed. Throws
// UnreadableError for a system failure.
std::vector<ThreadFiles> thread_files(const std::string& folder, std::error_code* error);

}  // namespace framedex::capture
