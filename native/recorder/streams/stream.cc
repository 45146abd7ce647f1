#include "recorder/streams/stream.h"

#include <cerrno>
#include <cstring>

namespace framedex::recorder {

using capture::kSegmentSize;
using capture::RecordHeader;
using capture::RecordKind;
using capture::SegmentRecord;
using capture::StopReason;
using capture::StreamHeader;
using capture::StreamKind;

StopReason stop_reason_of(int error) {
  return error == ENOSPC || error == EDQUOT || error == EFBIG ? StopReason::kDiskFull : StopReason::kNoFile;
}

std::unique_ptr<Stream> Stream::create(const std::string& path, const StreamIdentity& identity, SegmentBudget* budget) {
  std::shared_ptr<SegmentFile> file = SegmentFile::create(path);
  if (file == nullptr) return nullptr;
  char* segment = file->segment(0);
  if (segment == nullptr) {
    file->discard();
    return nullptr;
  }
  auto* header = reinterpret_cast<StreamHeader*>(segment);
  header->version = capture::kVersion;
  header->kind = identity.kind;
  header->capture = identity.capture;
  header->number = identity.number;
  header->clock = identity.clock.kind();
  header->thread_id = identity.thread_id;
  identity.thread_name.copy(header->thread_name, sizeof(header->thread_name) - 1);
  std::memcpy(header->magic, capture::kMagic, sizeof(header->magic));
  header->check = header->expected_check();
  std::unique_ptr<Stream> stream(new Stream(file, segment, identity.clock, budget));
  stream->enter_segment(segment, 0);
  if (!file->publish()) {
    file->discard();
    return nullptr;
  }
  return stream;
}

Stream::Stream(std::shared_ptr<SegmentFile> file, char* segment, Clock clock, SegmentBudget* budget)
    : file_(std::move(file)),
      header_(reinterpret_cast<StreamHeader*>(segment)),
      segment_(segment),
      budget_(budget),
      key_(header_->check),
      clock_(clock) {
  seal(&header_->stop_reasons, 0);
  seal(&header_->verified, 0);
  seal(&header_->different, 0);
  seal(&header_->missing_calls, 0);
  seal(&header_->segments, segments_);
}

Stream::~Stream() {
  auto* first = reinterpret_cast<char*>(header_);
  if (segment_ != first) unmap_segment(segment_);
  unmap_segment(first);
}

bool Stream::make_room() {
  // Always leave a header's worth of space for the padding record.
  char* end = segment_ + kSegmentSize - sizeof(RecordHeader);
  if (stopped_ || pending_ > kSegmentSize / 2) return false;
  if (limit_ != end) {
    // Half a segment is several thousand records: enough time to prepare the next one.
    grows_ = budget_ == nullptr || budget_->take();
    if (grows_ || is_ring()) file_->prepare(next_offset());
    limit_ = end;
    write_base();
  }
  return pending_ <= static_cast<size_t>(limit_ - next_) || next_segment();
}

size_t Stream::next_offset() const { return (grows_ ? segments_ : segments_begun_ % segments_) * kSegmentSize; }

bool Stream::next_segment() {
  size_t pending = pending_;
  if (!grows_ && !is_ring()) {
    stopped_ = true;
    note(StopReason::kLimit);
    return false;
  }
  size_t offset = next_offset();
  char* segment = file_->segment(offset);
  if (segment == nullptr) {
    stopped_ = true;
    note(stop_reason_of(errno));
    return false;
  }
  if (!grows_ && keep_records_) keep_records_((segments_begun_ - segments_) * kSegmentSize, segment);
  segments_ += grows_;
  seal(&header_->segments, segments_);
  publish(RecordKind::kPadding, 0, static_cast<size_t>(segment_ + kSegmentSize - next_), sizeof(RecordHeader));
  if (segment_ != reinterpret_cast<char*>(header_)) retire_segment(segment_);
  enter_segment(segment, offset);
  pending_ = pending;
  return true;
}

// Starts writing a segment.
void Stream::enter_segment(char* segment, size_t offset) {
  seal(&header_->segments_begun, segments_begun_ + 1);
  position_of_zero_ = segments_begun_ * kSegmentSize - reinterpret_cast<uintptr_t>(segment);
  segment_ = segment;
  next_ = segment + (offset == 0 ? sizeof(StreamHeader) : 0);
  limit_ = segment + kSegmentSize / 2;
  ++segments_begun_;
  if (is_ring()) empty_segment();
  base_ = {next_call_, clock_.now()};
  earlier_defining_ = latest_defining_;
  write_base();
  write_base();
}

// Empties the segment and writes its number.
void Stream::empty_segment() {
  // Clear the number first: a reader that copies the segment meanwhile detects the change and skips it.
  reinterpret_cast<std::atomic<uint64_t>*>(next_)->store(0, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  std::memset(next_, 0, static_cast<size_t>(segment_ + kSegmentSize - next_));
  SegmentRecord record{segments_begun_ - 1};
  char* body = begin(sizeof(record));
  std::memcpy(body, &record, sizeof(record));
  commit(RecordKind::kSegment);
}

// Writes the segment's base after a record has begun.
void Stream::write_base() {
  if (header_->kind == StreamKind::kProcess) return;
  size_t pending = pending_;
  char* body = begin(sizeof(base_) + sizeof(earlier_defining_));
  std::memcpy(body, &base_, sizeof(base_));
  std::memcpy(body + sizeof(base_), &earlier_defining_, sizeof(earlier_defining_));
  commit(RecordKind::kBase);
  pending_ = pending;
}

}  // namespace framedex::recorder
