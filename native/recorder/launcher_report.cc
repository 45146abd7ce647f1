#include "recorder/launcher_report.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

namespace framedex::recorder {

namespace {

// The launcher may be gone, and its number another process's by now, with files of its own.
bool is_report(const char* path) {
  constexpr std::string_view kMemory = "/memfd:framedex-report";
  std::array<char, 64> target;
  ssize_t size = readlink(path, target.data(), target.size());
  return size > 0 && std::string_view(target.data(), static_cast<size_t>(size)).substr(0, kMemory.size()) == kMemory;
}

}  // namespace

bool report_to_launcher(std::string_view what, std::string_view text) {
  const char* path = std::getenv("FRAMEDEX_REPORT");
  if (path == nullptr || !is_report(path)) return false;
  int file = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file < 0) return false;
  std::string entry(what);
  entry.append(" ").append(text).push_back('\0');
  bool is_told = write(file, entry.data(), entry.size()) == static_cast<ssize_t>(entry.size());
  close(file);
  return is_told;
}

}  // namespace framedex::recorder
