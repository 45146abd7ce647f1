#include "recorder/process/launcher_report.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <exception>
#include <string>

#include "recorder/process/background.h"

namespace framedex::recorder {

namespace {

// The launcher may have ended and its process id been reused by a process with other files.
bool is_report(const char* path) {
  constexpr std::string_view kMemory = "/memfd:framedex-report";
  std::array<char, 64> target;
  ssize_t size = readlink(path, target.data(), target.size());
  return size > 0 && std::string_view(target.data(), static_cast<size_t>(size)).substr(0, kMemory.size()) == kMemory;
}

bool append_entry(const char* path, const std::string& entry) {
  if (!is_report(path)) return false;
  int file = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file < 0) return false;
  bool is_written = write(file, entry.data(), entry.size()) == static_cast<ssize_t>(entry.size());
  close(file);
  return is_written;
}

}  // namespace

bool report_to_launcher(std::string_view what, std::string_view text) {
  const char* path = std::getenv("FRAMEDEX_REPORT");
  if (path == nullptr) return false;
  std::string entry(what);
  entry.append(" ").append(text).push_back('\0');
  bool is_written = false;
  try {
    if (BackgroundThread::instance().perform([&] { is_written = append_entry(path, entry); })) return is_written;
  } catch (const std::exception&) {  // the failure to start this thread may itself be the report
  }
  return append_entry(path, entry);
}

}  // namespace framedex::recorder
