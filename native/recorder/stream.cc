#include "recorder/stream.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace framedex::recorder {

using capture::kSegmentSize;
using capture::RecordHeader;
using capture::RecordKind;
using capture::StreamHeader;

namespace {

// Space on the disk, not only in the file's length: writing into a hole of a full disk is a SIGBUS.
void* map_segment(int file, size_t offset) {
  if (int error = posix_fallocate(file, static_cast<off_t>(offset), kSegmentSize)) {
    errno = error;
    return MAP_FAILED;
  }
  return mmap(nullptr, kSegmentSize, PROT_READ | PROT_WRITE, MAP_SHARED, file, static_cast<off_t>(offset));
}

}  // namespace

std::unique_ptr<Stream> Stream::create(const std::string& path, capture::StreamKind kind, capture::ClockKind clock,
                                       uint64_t thread_id, std::string_view thread_name) {
  int file = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (file < 0) return nullptr;
  void* segment = map_segment(file, 0);
  if (segment == MAP_FAILED) {
    int error = errno;
    close(file);
    unlink(path.c_str());
    errno = error;
    return nullptr;
  }
  auto* header = static_cast<StreamHeader*>(segment);
  header->version = capture::kVersion;
  header->kind = kind;
  header->clock = clock;
  header->thread_id = thread_id;
  thread_name.copy(header->thread_name, sizeof(header->thread_name) - 1);
  std::memcpy(header->magic, capture::kMagic, sizeof(header->magic));
  std::unique_ptr<Stream> stream(new Stream(file, header));
  stream->segment_ = static_cast<char*>(segment);
  stream->used_ = sizeof(StreamHeader);
  return stream;
}

Stream::~Stream() {
  if (segment_ != nullptr && segment_ != reinterpret_cast<char*>(header_)) munmap(segment_, kSegmentSize);
  munmap(header_, kSegmentSize);
  close(file_);
}

char* Stream::begin(size_t size) {
  size_t needed = capture::padded(sizeof(RecordHeader) + size);
  if (stopped_ || needed + sizeof(RecordHeader) > kSegmentSize) return nullptr;
  // A header's worth is always left for the padding record.
  if (used_ + needed + sizeof(RecordHeader) > kSegmentSize && !next_segment()) return nullptr;
  pending_ = needed;
  return segment_ + used_ + sizeof(RecordHeader);
}

void Stream::commit(RecordKind kind) {
  publish(segment_ + used_, pending_, kind);
  used_ += pending_;
}

bool Stream::next_segment() {
  void* segment = map_segment(file_, segment_offset_ + kSegmentSize);
  if (segment == MAP_FAILED) {
    stopped_ = true;
    header_->stop_reason = static_cast<uint32_t>(capture::StopReason::kDiskFull);
    return false;
  }
  publish(segment_ + used_, kSegmentSize - used_, RecordKind::kPadding);
  if (segment_ != reinterpret_cast<char*>(header_)) munmap(segment_, kSegmentSize);
  segment_ = static_cast<char*>(segment);
  segment_offset_ += kSegmentSize;
  used_ = 0;
  return true;
}

void Stream::publish(char* record, size_t size, RecordKind kind) {
  RecordHeader header{static_cast<uint32_t>(size), kind, capture::kRecordMark};
  uint64_t word;
  std::memcpy(&word, &header, sizeof(word));
  reinterpret_cast<std::atomic<uint64_t>*>(record)->store(word, std::memory_order_release);
}

}  // namespace framedex::recorder
