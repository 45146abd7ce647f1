#include "capture_reader/stream_reader.h"

#include <filesystem>
#include <fstream>

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
  std::error_code error;  // set for what is no regular file, too
  uintmax_t size = std::filesystem::file_size(path, error);
  std::ifstream file(path, std::ios::binary);
  if (error || !file) {
    problem_ = path_ + " cannot be read.";
    return;
  }
  bytes_.resize(size);
  file.read(bytes_.data(), static_cast<std::streamsize>(size));
  bytes_.resize(static_cast<size_t>(file.gcount()));
  if (bytes_.size() < sizeof(header_)) {
    problem_ = path_ + " ends within its header.";
    return;
  }
  std::memcpy(&header_, bytes_.data(), sizeof(header_));
  header_.thread_name[sizeof(header_.thread_name) - 1] = '\0';
  if (std::memcmp(header_.magic, kMagic, sizeof(kMagic)) != 0) {
    problem_ = path_ + " is not a framedex stream.";
    return;
  }
  if (header_.version != kVersion) {
    problem_ = path_ + " has format version " + std::to_string(header_.version) + "; this framedex reads " +
               std::to_string(kVersion) + ".";
    return;
  }
  if (header_.stop_reason == static_cast<uint32_t>(StopReason::kDiskFull)) {
    problem_ = path_ + " stops early: the disk was full.";
  }
  position_ = sizeof(header_);
  ended_ = false;
}

bool StreamReader::next(Record* record) {
  while (!ended_ && position_ + sizeof(RecordHeader) <= bytes_.size()) {
    RecordHeader header;
    std::memcpy(&header, bytes_.data() + position_, sizeof(header));
    // Where nothing was committed yet there are zeros: the end of the stream.
    if (header.size == 0 && header.mark == 0) {
      ended_ = true;
      return false;
    }
    size_t available = bytes_.size() - position_;
    bool is_sane = header.mark == kRecordMark && header.size >= sizeof(header) && header.size % 8 == 0;
    if (!is_sane) return end_with("is damaged");
    if (header.size > available) return end_with("is cut off");
    std::string_view body(bytes_.data() + position_ + sizeof(header), header.size - sizeof(header));
    position_ += header.size;
    if (header.kind == RecordKind::kPadding) continue;
    *record = {header.kind, Body(body)};
    return true;
  }
  // The writer always leaves room for one more header after the last record.
  return ended_ ? false : end_with("is cut off");
}

bool StreamReader::end_with(const char* what) {
  problem_ = path_ + " " + what + " at byte " + std::to_string(position_) + "; what comes before is used.";
  ended_ = true;
  return false;
}

}  // namespace framedex::capture
