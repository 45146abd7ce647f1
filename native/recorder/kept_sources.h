// The source files that Python frames are in, as they were when the first frame of each was recorded. The lines of a
// recording are lines of these texts, which users edit afterwards. See docs/reference/capture-format.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_set>

#include "recorder/kept_files.h"

namespace framedex::recorder {

// Stores the text of the program's own files, and only the content name of files of installed packages. Thread-safe.
class KeptSources {
 public:
  // Stores in the capture's `folder`. Relative names of files are relative to `working_folder`.
  KeptSources(const std::string& folder, std::string working_folder, KeptLimits limits);

  // Stores a file at its first mention. Returns its description as a JSON object; an empty string for a later mention
  // and for a name that is not a readable file.
  std::string keep(std::string_view filename);

 private:
  KeptFiles files_;
  size_t largest_;  // bytes
  std::string working_folder_;
  std::mutex mutex_;  // guards `seen_`
  std::unordered_set<std::string> seen_;
};

// Calls `visit` with each absolute path of a Python file among the zero-terminated strings of a program, such as MLIR's
// bytecode stores them.
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
