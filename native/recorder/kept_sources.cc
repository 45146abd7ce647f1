#include "recorder/kept_sources.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "recorder/base/json.h"
#include "recorder/format/capture_format.h"
#include "recorder/format/content_name.h"
#include "recorder/process/background.h"

namespace framedex::recorder {
namespace {

struct SourceText {
  bool is_read = false;
  std::string content;
  uint64_t modified_ns = 0;  // Unix time
};

constexpr size_t kLongestName = 4096;  // bytes; no path on Linux is longer

bool is_installed(std::string_view path) {
  auto has = [&](std::string_view part) { return path.find(part) != std::string_view::npos; };
  if (has("/site-packages/") || has("/dist-packages/")) return true;
  return has("/lib/python3.") || has("/lib64/python3.");
}

SourceText read_source(const std::string& path, size_t largest) {
  SourceText text;
  int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return text;
  struct stat status{};
  bool is_ok = fstat(file, &status) == 0 && S_ISREG(status.st_mode) && static_cast<uint64_t>(status.st_size) <= largest;
  if (is_ok) {
    text.content.resize(static_cast<size_t>(status.st_size));
    size_t done = 0;
    while (done < text.content.size()) {
      ssize_t count = read(file, &text.content[done], text.content.size() - done);
      if (count <= 0) break;
      done += static_cast<size_t>(count);
    }
    text.is_read = done == text.content.size();
    text.modified_ns =
        static_cast<uint64_t>(status.st_mtim.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(status.st_mtim.tv_nsec);
  }
  close(file);
  return text;
}

}  // namespace

SourceStore::SourceStore(const std::string& folder, std::string working_folder, FileStoreLimits limits)
    : files_(folder, capture::kSources, limits), largest_(limits.largest), working_folder_(std::move(working_folder)) {}

std::string SourceStore::keep(std::string_view filename) {
  if (filename.empty() || filename[0] == '<' || filename.size() > kLongestName) return {};
  {
    std::lock_guard lock(mutex_);
    if (!seen_.emplace(filename).second) return {};
  }
  std::string path(filename);
  if (path[0] != '/') path = working_folder_ + "/" + path;
  SourceText text;
  BackgroundThread::instance().perform([&] { text = read_source(path, largest_); });
  if (!text.is_read) return {};
  JsonObject description;
  description.text("path", filename);
  description.text("content", capture::content_name(text.content));
  description.number("modified_ns", text.modified_ns);
  if (!is_installed(path)) description.text("kept", files_.store(text.content));
  return description.finish();
}

}  // namespace framedex::recorder
