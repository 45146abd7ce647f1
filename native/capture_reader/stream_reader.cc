#include "capture_reader/stream_reader.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <utility>

namespace framedex::capture {

std::string_view Body::take(size_t size) {
  if (size > remaining()) {
    broken_ = true;
    position_ = bytes_.size();
    return {};
  }
  std::string_view result = bytes_.substr(position_, size);
  position_ += size;
  return result;
}

std::string_view Body::take_terminated() {
  size_t end = bytes_.find('\0', position_);
  if (end == std::string_view::npos) {
    broken_ = true;
    position_ = bytes_.size();
    return {};
  }
  std::string_view result = take(end - position_);
  ++position_;
  return result;
}

StreamReader::StreamReader(const std::string& path) : path_(path) {
  if (!read_file() || !check_header()) return;
  if (header_.kind == StreamKind::kRing) {
    segments_ = segments_of_ring();
  } else {
    for (size_t begin = 0; begin < bytes_.size(); begin += kSegmentSize) segments_.push_back(begin);
  }
  std::reverse(segments_.begin(), segments_.end());
  leave_segment();
}

bool StreamReader::read_file() {
  std::error_code error;  // set for what is no regular file, too
  uintmax_t size = std::filesystem::file_size(path_, error);
  std::ifstream file(path_, std::ios::binary);
  if (error || !file) {
    report("cannot be read.");
    return false;
  }
  try {
    bytes_.resize(size);
  } catch (const std::exception&) {  // a damaged file system, or a sparse file, may name any size
    report("is too large to be read.");
    return false;
  }
  file.read(bytes_.data(), static_cast<std::streamsize>(size));
  bytes_.resize(static_cast<size_t>(file.gcount()));
  if (bytes_.size() < sizeof(header_)) {
    report("ends within its header.");
    return false;
  }
  return true;
}

bool StreamReader::check_header() {
  std::memcpy(&header_, bytes_.data(), sizeof(header_));
  header_.thread_name[sizeof(header_.thread_name) - 1] = '\0';
  if (std::memcmp(header_.magic, kMagic, sizeof(kMagic)) != 0) {
    report("is not a framedex stream.");
    return false;
  }
  if (header_.version != kVersion) {
    report("has format version " + std::to_string(header_.version) + "; this framedex reads " +
           std::to_string(kVersion) + ".");
    return false;
  }
  if (has_stop_reason(StopReason::kDiskFull)) report("stops early: the disk was full.");
  if (has_stop_reason(StopReason::kLimit)) {
    report("stops early: the limit for the size of the recording was reached.");
  }
  if (has_stop_reason(StopReason::kNoFile)) {
    report("stops early: it could not be opened any more (too many open files?).");
  }
  if (has_stop_reason(StopReason::kThreadMissing)) {
    report("says that calls of some threads are missing: no file could be made for them (too many open files?).");
  }
  return true;
}

// A ring's segments in the order in which they were written. One without a number is empty; one whose number is no
// longer the same in the file was written anew while the file was read, so its copy may be of two minds.
std::vector<size_t> StreamReader::segments_of_ring() const {
  std::ifstream file(path_, std::ios::binary);
  std::vector<std::pair<uint64_t, size_t>> numbered;
  for (size_t begin = 0; begin < bytes_.size(); begin += kSegmentSize) {
    size_t position = begin + (begin == 0 ? sizeof(StreamHeader) : 0);
    std::array<char, sizeof(RecordHeader) + sizeof(SegmentRecord)> now{};
    if (position + now.size() > bytes_.size()) break;
    file.seekg(static_cast<std::streamoff>(position));
    file.read(now.data(), now.size());
    if (!file || std::memcmp(now.data(), bytes_.data() + position, now.size()) != 0) continue;
    RecordHeader header;
    SegmentRecord segment;
    std::memcpy(&header, now.data(), sizeof(header));
    std::memcpy(&segment, now.data() + sizeof(header), sizeof(segment));
    if (header.mark == kRecordMark && header.kind == RecordKind::kSegment) numbered.emplace_back(segment.number, begin);
  }
  std::sort(numbered.begin(), numbered.end());
  std::vector<size_t> segments;
  for (auto [number, begin] : numbered) segments.push_back(begin);
  return segments;
}

bool StreamReader::next(Record* record) {
  while (segment_end_ != 0) {
    RecordHeader header;
    if (position_ + sizeof(header) > segment_end_) {
      // The writer always leaves room for one more header after the last record.
      leave_damaged_segment("is cut off");
      continue;
    }
    std::memcpy(&header, bytes_.data() + position_, sizeof(header));
    bool is_empty = header.size == 0 && header.mark == 0;
    bool is_sane = header.mark == kRecordMark && header.size >= sizeof(header) && header.size % 8 == 0;
    if (is_empty) {
      // Where nothing was committed yet there are zeros: the end of what was written here.
      leave_segment();
    } else if (!is_sane) {
      leave_damaged_segment("is damaged");
    } else if (header.size > segment_end_ - position_) {
      leave_damaged_segment("is cut off");
    } else if (header.kind == RecordKind::kPadding) {
      leave_segment();
    } else {
      *record = {header.kind, Body({bytes_.data() + position_ + sizeof(header), header.size - sizeof(header)})};
      position_ += header.size;
      if (header.kind != RecordKind::kSegment) return true;
    }
  }
  return false;
}

void StreamReader::leave_segment() {
  segment_end_ = 0;
  if (segments_.empty()) return;
  size_t begin = segments_.back();
  segments_.pop_back();
  position_ = begin + (begin == 0 ? sizeof(StreamHeader) : 0);
  segment_end_ = std::min(begin + kSegmentSize, bytes_.size());
}

void StreamReader::leave_damaged_segment(const char* what) {
  report(std::string(what) + " at byte " + std::to_string(position_) + "; the rest of that segment is left out.");
  leave_segment();
}

}  // namespace framedex::capture
