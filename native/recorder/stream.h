// A file of records, appended through a shared mapping so that what was written survives a kill.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include "recorder/capture_format.h"

namespace framedex::recorder {

// One writer at a time. After a write failed (disk full), the stream takes nothing more and says why in its header.
class Stream {
 public:
  // Creates `path`, or returns nullptr with errno set.
  static std::unique_ptr<Stream> create(const std::string& path, capture::StreamKind kind, capture::ClockKind clock,
                                        uint64_t thread_id, std::string_view thread_name);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // Space for the body of a record of `size` bytes, zeroed, or nullptr when there is none. The space is part of the
  // stream only after commit().
  char* begin(size_t size);
  void commit(capture::RecordKind kind);

  void count_verified(bool is_different) {
    header_->verified += 1;
    header_->different += is_different;
  }

 private:
  Stream(int file, capture::StreamHeader* header) : file_(file), header_(header) {}
  bool next_segment();
  void publish(char* record, size_t size, capture::RecordKind kind);

  int file_;
  capture::StreamHeader* header_;
  char* segment_ = nullptr;
  size_t segment_offset_ = 0;  // of the segment, in the file
  size_t used_ = 0;            // of the segment
  size_t pending_ = 0;         // size of the record begun
  bool stopped_ = false;
};

}  // namespace framedex::recorder
