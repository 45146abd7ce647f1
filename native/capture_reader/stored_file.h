// A file of a capture, opened for reading. System errors throw exceptions, so they are never mistaken for damage.
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
  // Opens a file without blocking. Throws UnreadableError, unless the file is missing or the user may not read it.
  explicit StoredFile(const std::string& path);
  ~StoredFile();
  StoredFile(const StoredFile&) = delete;
  StoredFile& operator=(const StoredFile&) = delete;

  // Returns the size in bytes; -1 for a file that is missing, not readable by this user, or not regular.
  int64_t size() const;
  // Returns whether less than half of size() is on disk. A sparse file or a damaged file system may report any size.
  bool is_mostly_holes() const;
  // Reads up to `size` bytes at `offset` and returns their number. Throws UnreadableError.
  size_t read(size_t offset, void* target, size_t size) const;

 private:
  std::string path_;
  int descriptor_;
};

// Returns whether an error of open() or opendir() is about the named file rather than the system.
bool is_about_file(int error);

// Reads a small file; empty if it is missing, not readable by this user, or not regular. Throws UnreadableError.
std::string content_of(const std::string& path);

}  // namespace framedex::capture
