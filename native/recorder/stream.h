// A file of records, appended through a shared mapping so that what was written survives a kill.
#pragma once

#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "recorder/capture_format.h"
#include "recorder/segments.h"

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

  // Space for the body of a record of `size` bytes, or nullptr when there is none. The space is part of the stream only
  // after commit().
  char* begin(size_t size) {
    pending_ = capture::padded(sizeof(capture::RecordHeader) + size);
    if (__builtin_expect(pending_ > static_cast<size_t>(limit_ - next_), 0) && !make_room()) return nullptr;
    return next_ + sizeof(capture::RecordHeader);
  }
  void commit(capture::RecordKind kind) {
    publish(next_, pending_, kind);
    next_ += pending_;
  }

  void count_verified(bool is_different) {
    header_->verified += 1;
    header_->different += is_different;
  }

 private:
  Stream(std::shared_ptr<SegmentFile> file, char* segment);

  // Brings `limit_` far enough for the pending record: to the end of this segment, or into the next.
  bool make_room();
  bool next_segment();

  // The header goes last, as one word: then the record is there, whole.
  static void publish(char* record, size_t size, capture::RecordKind kind) {
    capture::RecordHeader header{static_cast<uint32_t>(size), kind, capture::kRecordMark};
    uint64_t word;
    std::memcpy(&word, &header, sizeof(word));
    reinterpret_cast<std::atomic<uint64_t>*>(record)->store(word, std::memory_order_release);
  }

  std::shared_ptr<SegmentFile> file_;
  capture::StreamHeader* header_;  // the first segment stays mapped for it
  char* segment_;
  size_t segment_offset_ = 0;  // of the segment, in the file
  char* next_;                 // where the next record goes
  char* limit_;                // how far it may reach without a closer look
  size_t pending_ = 0;         // size of the record begun
  bool stopped_ = false;
};

}  // namespace framedex::recorder
