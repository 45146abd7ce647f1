// Copies of the Python source files, taken when the first frame of each was recorded. Users edit the originals later;
// line numbers in a capture refer to these copies. See docs/reference/capture-format.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_set>

#include "recorder/kept_files.h"

namespace framedex::recorder {

// Stores the text of the program's own files. For files of installed packages it stores only the content name.
// Thread-safe.
class SourceStore {
 public:
  // Stores in the capture's `folder`. Relative file names are resolved against `working_folder`.
  SourceStore(const std::string& folder, std::string working_folder, FileStoreLimits limits);

  // Stores a file at its first mention and returns its description as a JSON object. Returns an empty string for later
  // mentions and unreadable files.
  std::string keep(std::string_view filename);

 private:
  FileStore files_;
  size_t largest_;  // bytes
  std::string working_folder_;
  std::mutex mutex_;  // guards `seen_`
  std::unordered_set<std::string> seen_;
};

// Calls `visit` with each absolute path of a Python file in a program. Paths are zero-terminated strings, as in MLIR's
// bytecode.
template <typename Visitor>
void visit_python_paths(std::string_view program, Visitor visit) {
  constexpr std::string_view kEnd(".py\0", 4);
  for (size_t end = program.find(kEnd); end != std::string_view::npos; end = program.find(kEnd, end + 1)) {
    size_t before = program.rfind('\0', end);
    size_t begin = before == std::string_view::npos ? 0 : before + 1;
    std::string_view path = program.substr(begin, end + 3 - begin);
    if (path[0] == '/') visit(path);
  }
}

}  // namespace framedex::recorder
