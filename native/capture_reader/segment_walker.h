// Finds and verifies the records of one segment of a stream.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "recorder/format/capture_format.h"

namespace framedex::capture {

// A record's body, read front to back. Reading beyond its end returns zeros and marks it as broken. Its content depends
// on the format version.
class Body {
 public:
  explicit Body(std::string_view bytes, uint32_t version = kVersion) : bytes_(bytes), version_(version) {}

  uint32_t version() const { return version_; }

  template <typename Struct>
  Struct read() {
    Struct value{};
    std::string_view bytes = take(sizeof(Struct));
    if (bytes.size() == sizeof(Struct)) std::memcpy(&value, bytes.data(), sizeof(Struct));
    return value;
  }
  std::string_view take(size_t size);
  // Removes bytes from the end.
  void drop(size_t size);
  // Reads a text up to its terminating zero byte.
  std::string_view take_terminated();

  std::string_view rest() const { return bytes_.substr(position_); }
  size_t remaining() const { return bytes_.size() - position_; }
  bool is_broken() const { return broken_; }

 private:
  std::string_view bytes_;
  uint32_t version_;
  size_t position_ = 0;
  bool broken_ = false;
};

// `base` is the base of short heads in the record's segment, if a readable one exists.
struct Record {
  RecordKind kind;
  Body body;
  uint8_t detail = kLongHead;
  std::optional<BaseRecord> base = std::nullopt;

  bool is_short() const { return (detail & kLongHead) == 0; }
};

// The properties of a stream that are needed to read its records.
struct StreamForm {
  uint32_t version = kVersion;
  uint64_t key = 0;      // of the checks
  uint64_t written = 0;  // the position up to which records exist, at least

  bool has_checks() const { return version != version_1::kVersion; }
};

// The byte range of a segment in its file, and its position in the stream.
struct SegmentRange {
  size_t begin;
  size_t end;  // less than a segment after `begin` if the file is truncated
  uint64_t position;

  size_t first_record(const StreamForm& form) const;
};

// A part of a segment without a readable record.
struct Damage {
  const char* what;  // such as "is damaged"
  size_t begin;      // in the file
  size_t end;
};

class SegmentWalker {
 public:
  // `bytes` is the content of the file from offset `bytes_begin` on, up to the end of the segment or less.
  SegmentWalker(std::string_view bytes, size_t bytes_begin, const SegmentRange& range, const StreamForm& form);

  enum class Step { kRecord, kDamage, kEnd };
  // Advances to the next record, in `record`, or past a part without any, in `damage`.
  Step next(Record* record, Damage* damage);
  // Returns the file offset of the next step.
  size_t offset() const { return at_; }

 private:
  struct FoundRecord {
    RecordKind kind;
    uint8_t detail = 0;
    size_t size = 0;  // 0: no valid record here
  };

  uint64_t word_at(size_t at) const;
  const char* bytes_at(size_t at) const { return bytes_.data() + (at - bytes_begin_); }
  // Returns whether the stream was written at least as far as this offset.
  bool is_before_end(size_t at) const { return range_.position + (at - range_.begin) < form_.written; }
  FoundRecord record_at(size_t at);
  FoundRecord record_at_by_mark(size_t at) const;
  FoundRecord record_at_by_check(size_t at);
  Step skip(Damage* damage);
  void use_base(Record* record);
  void seek_base();

  std::string_view bytes_;
  size_t bytes_begin_;
  SegmentRange range_;
  StreamForm form_;
  size_t at_;
  std::optional<BaseRecord> base_;
  bool has_sought_base_ = false;
  uint64_t effort_ = 0;  // words checked without success
};

}  // namespace framedex::capture
