#include "replay/report.h"

#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace framedex::replay {

void Report::write(std::initializer_list<std::string> words, std::string_view bytes) {
  std::string line;
  for (const std::string& word : words) line += word + ' ';
  write_all(line + std::to_string(bytes.size()) + '\n');
  write_all(bytes);
}

void Report::write_all(std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<size_t>(written));
    } else if (errno != EINTR) {
      throw std::system_error(errno, std::generic_category(), "the report cannot be written");
    }
  }
}

}  // namespace framedex::replay
