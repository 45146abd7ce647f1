// The mapped segments of stream files, prepared in the background. Page faults and unmapping are the expensive part of
// writing, and recorded threads should not wait for them.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "recorder/format/capture_format.h"

namespace framedex::recorder {

// A file that grows by segments. Its stream and its pending work own it. Only the background thread opens it, and
// closes it once a segment is mapped.
class SegmentFile : public std::enable_shared_from_this<SegmentFile> {
 public:
  // Creates `PATH.new`, which publish() renames to `path`, so readers never see a file without its header. Returns
  // nullptr with errno set on failure.
  static std::shared_ptr<SegmentFile> create(const std::string& path, size_t segment_size = capture::kSegmentSize);
  bool publish();
  // Removes the file. Preserves errno.
  void discard() const;
  SegmentFile(std::string path, size_t segment_size) : path_(std::move(path)), segment_size_(segment_size) {}
  ~SegmentFile();
  SegmentFile(const SegmentFile&) = delete;
  SegmentFile& operator=(const SegmentFile&) = delete;

  // Returns the segment at a file offset, mapped and allocated on disk; nullptr with errno set on failure.
  char* segment(size_t offset);
  // Prepares the segment at `offset`, of kSegmentSize bytes, for segment(), in the background.
  void prepare(size_t offset);

 private:
  char* map(size_t offset) const;
  char* take_ready(size_t offset);
  void keep_ready(char* segment, size_t offset);

  std::string path_;
  size_t segment_size_;
  std::mutex mutex_;  // guards the prepared segment and its offset in the file
  char* ready_ = nullptr;
  size_t ready_offset_ = 0;
};

void unmap_segment(char* segment);
// Unmaps a segment in the background.
void retire_segment(char* segment);

}  // namespace framedex::recorder
