// The mapped segments of stream files, made ready in the background: page faults and unmapping are the expensive part
// of writing, and the recorded threads should not wait for them.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace framedex::recorder {

// A file that grows by segments. Owned by its stream and by the work still to be done on it. Only the background thread
// opens it, and closes it again once a segment is mapped.
class SegmentFile : public std::enable_shared_from_this<SegmentFile> {
 public:
  // Creates `PATH.new`, which publish() calls `path`: readers see no file without its header. nullptr with errno set if
  // it cannot be made.
  static std::shared_ptr<SegmentFile> create(const std::string& path);
  bool publish();
  // Removes the file again, without touching errno.
  void discard() const;
  explicit SegmentFile(std::string path) : path_(std::move(path)) {}
  ~SegmentFile();
  SegmentFile(const SegmentFile&) = delete;
  SegmentFile& operator=(const SegmentFile&) = delete;

  // The segment at a file offset, mapped, with space on the disk behind it; nullptr with errno set if there is none.
  char* segment(size_t offset);
  // Makes the segment at `offset` ready for segment(), in the background.
  void prepare(size_t offset);

 private:
  char* map(size_t offset) const;
  char* take_ready(size_t offset);
  void keep_ready(char* segment, size_t offset);

  std::string path_;
  std::mutex mutex_;  // of what follows: the segment that is ready, and where in the file
  char* ready_ = nullptr;
  size_t ready_offset_ = 0;
};

void unmap_segment(char* segment);
// Unmaps in the background.
void retire_segment(char* segment);

}  // namespace framedex::recorder
