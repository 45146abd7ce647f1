#include "recorder/process/whole_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <fstream>

#include "recorder/process/background.h"

namespace framedex::recorder {

bool write_whole_file(const std::string& path, std::string_view content) {
  std::string unfinished = path + ".tmp";
  int error = 0;
  bool is_done = BackgroundThread::instance().perform([&] {
    errno = 0;
    std::ofstream file(unfinished, std::ios::binary);
    file.write(content.data(), static_cast<std::streamsize>(content.size()));
    file.close();
    error = file ? 0 : (errno != 0 ? errno : EIO);
    if (error == 0 && std::rename(unfinished.c_str(), path.c_str()) != 0) error = errno;
    if (error != 0) unlink(unfinished.c_str());
  });
  if (is_done) errno = error;
  return is_done && error == 0;
}

}  // namespace framedex::recorder
