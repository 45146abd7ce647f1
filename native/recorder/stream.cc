#include "recorder/stream.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace framedex::recorder {

using capture::kSegmentSize;
using capture::RecordHeader;
using capture::RecordKind;
using capture::StreamHeader;

std::unique_ptr<Stream> Stream::create(const std::string& path, capture::StreamKind kind, capture::ClockKind clock,
                                       uint64_t thread_id, std::string_view thread_name) {
  std::shared_ptr<SegmentFile> file = SegmentFile::create(path);
  if (file == nullptr) return nullptr;
  char* segment = file->map(0);
  if (segment == nullptr) {
    int error = errno;
    unlink(path.c_str());
    errno = error;
    return nullptr;
  }
  auto* header = reinterpret_cast<StreamHeader*>(segment);
  header->version = capture::kVersion;
  header->kind = kind;
  header->clock = clock;
  header->thread_id = thread_id;
  thread_name.copy(header->thread_name, sizeof(header->thread_name) - 1);
  std::memcpy(header->magic, capture::kMagic, sizeof(header->magic));
  return std::unique_ptr<Stream>(new Stream(std::move(file), segment));
}

Stream::Stream(std::shared_ptr<SegmentFile> file, char* segment)
    : file_(std::move(file)),
      header_(reinterpret_cast<StreamHeader*>(segment)),
      segment_(segment),
      next_(segment + sizeof(StreamHeader)),
      limit_(segment + kSegmentSize / 2) {}

Stream::~Stream() {
  auto* first = reinterpret_cast<char*>(header_);
  if (segment_ != first) unmap_segment(segment_);
  unmap_segment(first);
}

bool Stream::make_room() {
  // A header's worth is always left for the padding record.
  char* end = segment_ + kSegmentSize - sizeof(RecordHeader);
  if (stopped_ || pending_ + sizeof(RecordHeader) > kSegmentSize) return false;
  if (limit_ != end) {
    // Half a segment is some thousand records: time enough to make the next one ready.
    SegmentSupplier::instance().prepare(file_, segment_offset_ + kSegmentSize);
    limit_ = end;
  }
  return pending_ <= static_cast<size_t>(limit_ - next_) || next_segment();
}

bool Stream::next_segment() {
  SegmentSupplier& supplier = SegmentSupplier::instance();
  size_t offset = segment_offset_ + kSegmentSize;
  char* segment = supplier.take(*file_, offset);
  if (segment == nullptr) segment = file_->map(offset);
  if (segment == nullptr) {
    stopped_ = true;
    header_->stop_reason = static_cast<uint32_t>(capture::StopReason::kDiskFull);
    return false;
  }
  publish(next_, static_cast<size_t>(segment_ + kSegmentSize - next_), RecordKind::kPadding);
  if (segment_ != reinterpret_cast<char*>(header_)) supplier.retire(segment_);
  segment_ = segment;
  segment_offset_ = offset;
  next_ = segment;
  limit_ = segment + kSegmentSize / 2;
  return pending_ <= kSegmentSize / 2 || make_room();
}

}  // namespace framedex::recorder
