// A file of records, appended through a shared mapping so that written records survive a kill.
#pragma once

#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "recorder/format/capture_format.h"
#include "recorder/streams/clock.h"
#include "recorder/streams/segments.h"

namespace framedex::recorder {

// Appends a text to the body of a record.
inline void copy_text(char*& target, std::string_view text) {
  std::memcpy(target, text.data(), text.size());
  target += text.size();
}

// The number of call segments that may still be created, over all threads.
class SegmentBudget {
 public:
  // `bytes` 0: no limit.
  explicit SegmentBudget(uint64_t bytes)
      : is_limited_(bytes != 0), left_(static_cast<int64_t>(bytes / capture::kSegmentSize)) {}
  bool take() { return !is_limited_ || left_.fetch_sub(1, std::memory_order_relaxed) > 0; }

 private:
  bool is_limited_;
  std::atomic<int64_t> left_;
};

// Returns the stop reason for a write that failed with this errno.
capture::StopReason stop_reason_of(int error);
// The identity of a stream, with the fields of capture::StreamHeader.
struct StreamIdentity {
  capture::StreamKind kind;
  uint64_t capture;
  uint32_t number;
  Clock clock;
  uint64_t thread_id;
  std::string_view thread_name;
};

// One writer at a time. After a failed write (disk full) the stream accepts no more records and stores the reason in
// its header.
class Stream {
 public:
  // Creates `path`; returns nullptr with errno set on failure. Every segment after the first counts against `budget`
  // (nullptr: no limit).
  static std::unique_ptr<Stream> create(const std::string& path, const StreamIdentity& identity, SegmentBudget* budget);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // Calls `keep` before a ring overwrites a segment, with the segment's position and bytes.
  using KeepRecords = std::function<void(uint64_t position, const char* segment)>;
  void before_overwriting(KeepRecords keep) { keep_records_ = std::move(keep); }

  // Returns space for a record body of `size` bytes, or nullptr if there is none. commit() makes it part of the stream.
  char* begin(size_t size) {
    pending_ = capture::pad(sizeof(capture::RecordHeader) + size);
    if (__builtin_expect(pending_ > static_cast<size_t>(limit_ - next_), 0) && !make_room()) return nullptr;
    return next_ + sizeof(capture::RecordHeader);
  }
  void commit(capture::RecordKind kind, uint8_t detail = 0) { publish(kind, detail, pending_, pending_); }
  // Returns the position of the next record; between begin() and commit(), of that record.
  uint64_t position() const { return position_of_zero_ + reinterpret_cast<uintptr_t>(next_); }
  // Notes that the segment has stacks, frames or code.
  void note_definition() { latest_defining_ = segments_begun_; }

  // Writes a record word by word and computes its check on the way, so no word is read back. begin() must have reserved
  // space for all `words`. commit() makes the record part of the stream.
  class Words {
   public:
    Words(Stream* stream, capture::RecordKind kind, uint8_t detail, size_t words)
        : stream_(stream),
          header_{static_cast<uint8_t>(kind), detail, static_cast<uint16_t>(words + 1), 0},
          next_(stream->next_ + sizeof(header_)),
          sum_(stream->key_, stream->position(), header_.start()) {}
    void put(uint64_t word) {
      std::memcpy(next_, &word, sizeof(word));
      next_ += sizeof(word);
      sum_.add(word);
    }
    void commit() {
      header_.check = sum_.record_check();
      stream_->publish(header_, header_.size());
    }

   private:
    Stream* stream_;
    capture::RecordHeader header_;
    char* next_;
    capture::CheckSum sum_;
  };

  // Returns the number for the next call, from 1.
  uint64_t number_call() { return next_call_++; }
  // Returns the base of the short heads. begin() may change it.
  const capture::BaseRecord& base() const { return base_; }

  // Notes in the header why the stream is incomplete. Does not stop the stream.
  void note(capture::StopReason reason) {
    stop_reasons_ |= static_cast<uint64_t>(reason);
    seal(&header_->stop_reasons, stop_reasons_);
  }

  void count_missing_call() { seal(&header_->missing_calls, ++missing_calls_); }
  void count_query() { seal(&header_->queries, ++queries_); }
  void count_verified(bool is_different) {
    different_ += is_different;
    seal(&header_->verified, ++verified_);
    seal(&header_->different, different_);
  }

 private:
  Stream(std::shared_ptr<SegmentFile> file, char* segment, Clock clock, SegmentBudget* budget);

  bool is_ring() const { return header_->kind == capture::StreamKind::kRing; }
  // Moves `limit_` past the pending record: to the end of this segment, or into the next.
  bool make_room();
  size_t next_offset() const;
  bool next_segment();
  void enter_segment(char* segment, size_t offset);
  void empty_segment();
  void write_base();

  // `size` is the record's bytes, `checked` those that the header and the check cover.
  void publish(capture::RecordKind kind, uint8_t detail, size_t size, size_t checked) {
    capture::RecordHeader header{static_cast<uint8_t>(kind), detail, static_cast<uint16_t>(size / 8), 0};
    const char* body = next_ + sizeof(header);
    header.check = capture::record_check(key_, position(), header.start(), body, (checked - sizeof(header)) / 8);
    publish(header, size);
  }
  // Stores the record's header last, as one word, so a record is complete or absent.
  void publish(const capture::RecordHeader& header, size_t size) {
    uint64_t word;
    std::memcpy(&word, &header, sizeof(word));
    uint64_t end = position() + size;
    store(next_, word);
    store(&header_->written, end);
    next_ += size;
  }
  static void store(void* target, uint64_t word) {
    static_cast<std::atomic<uint64_t>*>(target)->store(word, std::memory_order_release);
  }
  void seal(uint64_t* field, uint64_t value) {
    auto offset = static_cast<size_t>(reinterpret_cast<char*>(field) - reinterpret_cast<char*>(header_));
    store(field, capture::seal(key_, offset, value));
  }

  std::shared_ptr<SegmentFile> file_;
  capture::StreamHeader* header_;  // in the first segment, which stays mapped
  char* segment_;
  SegmentBudget* budget_;
  uint64_t key_;
  Clock clock_;
  capture::BaseRecord base_{};
  // The latest segment with definitions, as in a base record: now, and when the current segment was entered.
  uint64_t latest_defining_ = 0;
  uint64_t earlier_defining_ = 0;
  KeepRecords keep_records_;
  uint64_t next_call_ = 1;
  size_t segments_ = 1;  // in the file
  uint64_t segments_begun_ = 0;
  uint64_t position_of_zero_ = 0;  // the position of address 0: converts addresses in this segment to positions
  uint64_t stop_reasons_ = 0;
  uint64_t verified_ = 0;
  uint64_t different_ = 0;
  uint64_t missing_calls_ = 0;
  uint64_t queries_ = 0;
  char* next_;          // start of the next record
  char* limit_;         // records up to here need no further check
  size_t pending_ = 0;  // size of the pending record
  bool grows_ = false;  // whether the next segment extends the file; known from the middle of a segment on
  bool stopped_ = false;
};

}  // namespace framedex::recorder
