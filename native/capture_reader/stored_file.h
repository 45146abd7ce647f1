// A file of a capture, opened to be read. An error of the system is an exception, so that it is never taken for damage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <system_error>
#include <utility>

namespace framedex::capture {

// The system could not read a file that may be intact: too many open files, a failing disk.
class UnreadableError : public std::system_error {
 public:
  UnreadableError(int error, std::string path)
      : std::system_error(error, std::generic_category(), path), path_(std::move(path)) {}

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

class StoredFile {
 public:
  // Opens a file without waiting. Throws UnreadableError unless the error is about the file itself: it is missing, or
  // the user may not read it.
  explicit StoredFile(const std::string& path);
  ~StoredFile();
  StoredFile(const StoredFile&) = delete;
  StoredFile& operator=(const StoredFile&) = delete;

  // In bytes; -1 for a file that is missing, unreadable for this user, or not regular.
  int64_t size() const;
  // Whether the disk holds less than half of size(): a sparse file, or a damaged file system, may name any size.
  bool is_mostly_holes() const;
  // Reads `size` bytes at `offset` and returns how many of them there are. Throws UnreadableError.
  size_t read(size_t offset, void* target, size_t size) const;

 private:
  std::string path_;
  int descriptor_;
};

// Whether an error of open() or opendir() is about the file that was named, and not about the system.
bool is_about_file(int error);

// All of a small file; empty if it is missing, unreadable for this user, or not regular. Throws UnreadableError.
std::string content_of(const std::string& path);

}  // namespace framedex::capture
