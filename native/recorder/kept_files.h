// A folder of a capture whose files are named by their content: compiled programs, and source files of the program.
// See docs/reference/capture-format.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_set>

namespace framedex::recorder {

// How much a folder may hold. `reason` tells users why a folder of 0 bytes holds nothing.
struct KeptLimits {
  size_t largest;  // bytes of one file
  uint64_t total;  // bytes of all files
  const char* reason;
};

// Stores each content once. Thread-safe.
class KeptFiles {
 public:
  // `name` is the folder's name inside the capture's `folder`, which exists.
  KeptFiles(const std::string& folder, const char* name, KeptLimits limits)
      : folder_(folder + "/" + name), limits_(limits), left_(limits.total) {}

  // Stores the content. Returns its name in the folder, or a sentence that begins with capture::kNotKept.
  std::string keep(std::string_view content);

 private:
  std::string folder_;
  KeptLimits limits_;
  std::mutex mutex_;  // guards the members below
  uint64_t left_;     // bytes that may still be written
  std::unordered_set<std::string> names_;
};

}  // namespace framedex::recorder
