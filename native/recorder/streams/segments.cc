#include "recorder/streams/segments.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <string_view>
#include <utility>

#include "recorder/process/background.h"

namespace framedex::recorder {

using capture::kSegmentSize;

namespace {

constexpr size_t kPageSize = 4096;
constexpr std::string_view kUnfinished = ".new";

// Writes zeros over a new segment. Then its pages are in memory with blocks on disk, and each later page fault is ten
// times cheaper.
void fill(int file, size_t offset, size_t size) {
  static std::array<char, kSegmentSize> zeros;
  ssize_t ignored = pwrite(file, zeros.data(), std::min(size, zeros.size()), static_cast<off_t>(offset));
  static_cast<void>(ignored);
}

// Faults every page in for writing. Leaves the bytes as they are, because a ring's thread may still write to them.
void populate(char* segment) {
#ifdef MADV_POPULATE_WRITE
  if (madvise(segment, kSegmentSize, MADV_POPULATE_WRITE) == 0) return;
#endif
  for (size_t page = 0; page < kSegmentSize; page += kPageSize) __atomic_fetch_or(segment + page, 0, __ATOMIC_RELAXED);
}

// Returns whether the process's limit allows a file of this size. Writing beyond it raises SIGXFSZ, which ends most
// programs.
bool may_reach(size_t size) {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || size <= limit.rlim_cur;
}

}  // namespace

std::shared_ptr<SegmentFile> SegmentFile::create(const std::string& path, size_t segment_size) {
  std::string unfinished = path;
  unfinished += kUnfinished;
  int error = 0;
  bool is_there = BackgroundThread::instance().perform([&] {
    int file = open(unfinished.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    error = file < 0 ? errno : 0;
    if (file >= 0) close(file);
  });
  if (!is_there) return nullptr;
  errno = error;
  return error == 0 ? std::make_shared<SegmentFile>(std::move(unfinished), segment_size) : nullptr;
}

bool SegmentFile::publish() {
  std::string path = path_.substr(0, path_.size() - kUnfinished.size());
  if (rename(path_.c_str(), path.c_str()) != 0) return false;
  path_ = std::move(path);
  return true;
}

void SegmentFile::discard() const {
  int error = errno;
  unlink(path_.c_str());
  errno = error;
}

SegmentFile::~SegmentFile() {
  if (ready_ != nullptr) unmap_segment(ready_);
}

char* SegmentFile::segment(size_t offset) {
  char* segment = take_ready(offset);
  if (segment != nullptr) return segment;
  int error = 0;
  bool is_there = BackgroundThread::instance().perform([&] {
    segment = take_ready(offset);  // the background thread may have just prepared it
    if (segment == nullptr) segment = map(offset);
    error = errno;
  });
  if (is_there) errno = error;
  return segment;
}

void SegmentFile::prepare(size_t offset) {
  BackgroundThread::instance().post([file = shared_from_this(), offset] {
    char* segment = file->map(offset);
    // If there is no space, the stream stops later and records the reason.
    if (segment == nullptr) return;
    populate(segment);
    file->keep_ready(segment, offset);
  });
}

// Runs on the background thread.
char* SegmentFile::map(size_t offset) const {
  int file = open(path_.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return nullptr;
  void* segment = MAP_FAILED;
  // Allocate blocks on disk, not only file length: writing into a hole on a full disk raises SIGBUS.
  int error = EFBIG;
  struct stat status{};
  bool is_new = fstat(file, &status) == 0 && static_cast<size_t>(status.st_size) <= offset;
  if (may_reach(offset + segment_size_)) {
    error = posix_fallocate(file, static_cast<off_t>(offset), static_cast<off_t>(segment_size_));
  }
  if (error == 0) {
    if (is_new) fill(file, offset, segment_size_);
    segment = mmap(nullptr, segment_size_, PROT_READ | PROT_WRITE, MAP_SHARED, file, static_cast<off_t>(offset));
    error = errno;
  }
  close(file);
  errno = error;
  return segment == MAP_FAILED ? nullptr : static_cast<char*>(segment);
}

char* SegmentFile::take_ready(size_t offset) {
  std::lock_guard lock(mutex_);
  if (ready_ == nullptr || ready_offset_ != offset) return nullptr;
  return std::exchange(ready_, nullptr);
}

void SegmentFile::keep_ready(char* segment, size_t offset) {
  {
    std::lock_guard lock(mutex_);
    std::swap(ready_, segment);
    ready_offset_ = offset;
  }
  if (segment != nullptr) unmap_segment(segment);
}

void unmap_segment(char* segment) { munmap(segment, kSegmentSize); }

void retire_segment(char* segment) {
  BackgroundThread::instance().post([segment] { unmap_segment(segment); });
}

}  // namespace framedex::recorder
