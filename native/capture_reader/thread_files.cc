#include "capture_reader/thread_files.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <utility>

#include "recorder/format/capture_format.h"

namespace framedex::capture {

namespace fs = std::filesystem;

std::vector<ThreadFiles> thread_files(const std::string& folder, std::error_code* error) {
  std::map<int, ThreadFiles> found;
  for (fs::directory_iterator entry(folder, *error), end; !*error && entry != end; entry.increment(*error)) {
    std::string name = entry->path().filename().string();
    if (name.rfind(kThreadStem, 0) != 0) continue;
    int number = std::atoi(name.c_str() + std::strlen(kThreadStem));
    std::string stem = kThreadStem + std::to_string(number);
    bool is_ring = name == stem + kRingSuffix;
    if (number < 0 || (!is_ring && name != stem + kStreamSuffix)) continue;
    ThreadFiles& thread = found[number];
    thread.number = static_cast<uint32_t>(number);
    (is_ring ? thread.ring : thread.definitions) = entry->path().string();
  }
  std::vector<ThreadFiles> files;
  for (auto& [number, thread] : found) files.push_back(std::move(thread));
  return files;
}

}  // namespace framedex::capture
