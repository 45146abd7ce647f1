#include "capture_reader/stored_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>

namespace framedex::capture {
namespace {

constexpr int64_t kDiskBlock = 512;  // the unit of st_blocks

}  // namespace

bool is_about_file(int error) {
  constexpr int kAboutFile[] = {EACCES, EISDIR, ELOOP, ENAMETOOLONG, ENODEV, ENOENT, ENOTDIR, ENXIO, EPERM};
  return std::find(std::begin(kAboutFile), std::end(kAboutFile), error) != std::end(kAboutFile);
}

StoredFile::StoredFile(const std::string& path)
    : path_(path), descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  if (descriptor_ < 0 && !is_about_file(errno)) throw UnreadableError(errno, path_);
}

StoredFile::~StoredFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

int64_t StoredFile::size() const {
  struct stat status = {};
  bool is_regular = descriptor_ >= 0 && fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode);
  return is_regular ? status.st_size : -1;
}

bool StoredFile::is_mostly_holes() const {
  struct stat status = {};
  return descriptor_ >= 0 && fstat(descriptor_, &status) == 0 && status.st_blocks < status.st_size / kDiskBlock / 2;
}

size_t StoredFile::read(size_t offset, void* target, size_t size) const {
  size_t done = 0;
  while (descriptor_ >= 0 && done < size) {
    ssize_t count =
        pread(descriptor_, static_cast<char*>(target) + done, size - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw UnreadableError(errno, path_);
    if (count == 0) break;
    done += static_cast<size_t>(count);
  }
  return done;
}

std::string content_of(const std::string& path) {
  StoredFile file(path);
  std::string content(static_cast<size_t>(std::max<int64_t>(file.size(), 0)), '\0');
  content.resize(file.read(0, content.data(), content.size()));
  return content;
}

}  // namespace framedex::capture
