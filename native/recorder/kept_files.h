// A capture's folder of files named by their content: compiled programs, or source files. See
// docs/reference/capture-format.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_set>

namespace framedex::recorder {

// The size limits of a folder. `reason` is the explanation for users if a folder limited to 0 bytes is empty.
struct FileStoreLimits {
  size_t largest;  // bytes per file
  uint64_t total;  // bytes of all files together
  const char* reason;
};

// Stores each content once. Thread-safe.
class FileStore {
 public:
  // `name` is the folder's name inside the capture's existing `folder`.
  FileStore(const std::string& folder, const char* name, FileStoreLimits limits)
      : folder_(folder + "/" + name), limits_(limits), left_(limits.total) {}

  // Stores the content. Returns its file name, or a sentence that begins with capture::kNotKept.
  std::string store(std::string_view content);

 private:
  std::string folder_;
  FileStoreLimits limits_;
  std::mutex mutex_;  // guards the members below
  uint64_t left_;     // bytes that may still be written
  std::unordered_set<std::string> names_;
};

}  // namespace framedex::recorder
