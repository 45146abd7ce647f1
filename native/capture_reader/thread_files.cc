#include "capture_reader/thread_files.h"

#include <dirent.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <utility>

#include "capture_reader/stored_file.h"
#include "recorder/format/capture_format.h"

namespace framedex::capture {

namespace {

// Not std::filesystem: before GCC 9 it was outside libstdc++.so and had other types. A build for older systems would
// contain a second copy, which must not mix with the system's.
struct FolderCloser {
  void operator()(DIR* folder) const { closedir(folder); }
};

}  // namespace

std::vector<ThreadFiles> thread_files(const std::string& folder, std::error_code* error) {
  std::map<int, ThreadFiles> found;
  std::unique_ptr<DIR, FolderCloser> opened(opendir(folder.c_str()));
  while (opened != nullptr) {
    errno = 0;
    const dirent* entry = readdir(opened.get());
    if (entry == nullptr) break;
    std::string name = entry->d_name;
    if (name.rfind(kThreadStem, 0) != 0) continue;
    int number = std::atoi(name.c_str() + std::strlen(kThreadStem));
    std::string stem = kThreadStem + std::to_string(number);
    bool is_ring = name == stem + kRingSuffix;
    if (number < 0 || (!is_ring && name != stem + kStreamSuffix)) continue;
    ThreadFiles& thread = found[number];
    thread.number = static_cast<uint32_t>(number);
    std::string& path = is_ring ? thread.ring : thread.definitions;
    path = folder;
    path += '/';
    path += name;
  }
  if (opened == nullptr || errno != 0) {
    if (!is_about_file(errno)) throw UnreadableError(errno, folder);
    error->assign(errno, std::generic_category());
  }
  std::vector<ThreadFiles> files;
  for (auto& [number, thread] : found) files.push_back(std::move(thread));
  return files;
}

}  // namespace framedex::capture
