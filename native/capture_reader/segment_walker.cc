#include "capture_reader/segment_walker.h"

#include <algorithm>

namespace framedex::capture {
namespace {

constexpr size_t kHeaderBytes = sizeof(RecordHeader);
// An upper bound on the record kinds of all versions. Most bytes that are not a record have a larger kind.
constexpr auto kMaxKinds = static_cast<RecordKind>(64);
// The maximum number of words to check per segment. Damage that looks like a large record at every offset would take
// seconds.
constexpr uint64_t kMaxEffort = uint64_t{1} << 23;

bool is_of_call(RecordKind kind) { return kind == RecordKind::kCall || kind == RecordKind::kReturn; }

}  // namespace

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

void Body::drop(size_t size) {
  broken_ |= size > remaining();
  bytes_.remove_suffix(std::min(size, remaining()));
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

size_t SegmentRange::first_record(const StreamForm& form) const {
  if (begin != 0) return begin;
  return form.has_checks() ? sizeof(StreamHeader) : sizeof(version_1::StreamHeader);
}

SegmentWalker::SegmentWalker(std::string_view bytes, size_t bytes_begin, const SegmentRange& range,
                             const StreamForm& form)
    : bytes_(bytes), bytes_begin_(bytes_begin), range_(range), form_(form), at_(range.first_record(form)) {}

uint64_t SegmentWalker::word_at(size_t at) const {
  uint64_t word;
  std::memcpy(&word, bytes_at(at), sizeof(word));
  return word;
}

SegmentWalker::Step SegmentWalker::next(Record* record, Damage* damage) {
  if (at_ + kHeaderBytes > range_.end) {
    // The writer always leaves room for one more header after the last record.
    bool is_cut_off = at_ < range_.begin + kSegmentSize && is_before_end(at_);
    size_t begin = at_;
    at_ = range_.begin + kSegmentSize;
    if (!is_cut_off) return Step::kEnd;
    *damage = {"is cut off", begin, at_};
    return Step::kDamage;
  }
  FoundRecord found = record_at(at_);
  if (found.size == 0) {
    bool is_end = word_at(at_) == 0 && !is_before_end(at_);
    return is_end ? Step::kEnd : skip(damage);
  }
  size_t begin = at_;
  at_ += found.size;
  if (found.kind == RecordKind::kPadding) {
    at_ = range_.begin + kSegmentSize;
    return Step::kEnd;
  }
  *record = {found.kind, Body({bytes_at(begin) + kHeaderBytes, found.size - kHeaderBytes}, form_.version),
             found.detail};
  use_base(record);
  return Step::kRecord;
}

// Makes the record the current base if it is a base record, and sets the record's base.
void SegmentWalker::use_base(Record* record) {
  if (record->kind == RecordKind::kBase && !base_) {
    Body body = record->body;
    auto base = body.read<BaseRecord>();
    if (!body.is_broken()) base_ = base;
  }
  if (is_of_call(record->kind) && record->is_short() && !base_ && !has_sought_base_) seek_base();
  record->base = base_;
}

// Searches the segment for a copy of its base, because the beginning is damaged.
void SegmentWalker::seek_base() {
  has_sought_base_ = true;
  SegmentWalker ahead(*this);
  Record record{RecordKind::kPadding, Body({})};
  Damage damage;
  while (!ahead.base_ && ahead.next(&record, &damage) != Step::kEnd) continue;
  base_ = ahead.base_;
}

// Skips unreadable bytes, up to a record with a valid check. Version 1 has only marks, which any bytes may match, so
// there the rest of the segment is skipped.
SegmentWalker::Step SegmentWalker::skip(Damage* damage) {
  size_t begin = at_;
  const char* what = word_at(begin) == 0 ? "is empty" : "is damaged";
  if (form_.has_checks()) {
    for (at_ += kHeaderBytes; at_ + kHeaderBytes <= range_.end && effort_ < kMaxEffort; at_ += kHeaderBytes) {
      if (record_at(at_).size == 0) continue;
      *damage = {what, begin, at_};
      return Step::kDamage;
    }
  }
  RecordHeader header;
  std::memcpy(&header, bytes_at(begin), sizeof(header));
  version_1::RecordHeader marked;
  std::memcpy(&marked, bytes_at(begin), sizeof(marked));
  bool has_mark = !form_.has_checks() && marked.mark == version_1::kRecordMark && marked.size % 8 == 0;
  size_t size = form_.has_checks() ? header.size() : has_mark ? marked.size : 0;
  if (size > range_.end - begin) what = "is cut off";
  at_ = range_.begin + kSegmentSize;
  *damage = {what, begin, at_};
  return Step::kDamage;
}

SegmentWalker::FoundRecord SegmentWalker::record_at(size_t at) {
  return form_.has_checks() ? record_at_by_check(at) : record_at_by_mark(at);
}

SegmentWalker::FoundRecord SegmentWalker::record_at_by_mark(size_t at) const {
  version_1::RecordHeader header;
  std::memcpy(&header, bytes_at(at), sizeof(header));
  bool is_sane = header.mark == version_1::kRecordMark && header.size >= sizeof(header) && header.size % 8 == 0 &&
                 header.size <= range_.end - at;
  return {header.kind, kLongHead, is_sane ? header.size : 0};
}

SegmentWalker::FoundRecord SegmentWalker::record_at_by_check(size_t at) {
  RecordHeader header;
  std::memcpy(&header, bytes_at(at), sizeof(header));
  bool may_have_detail = form_.version != version_2::kVersion && is_of_call(header.kind());
  bool is_sane = header.words != 0 && header.kind() < kMaxKinds && (header.detail == 0 || may_have_detail);
  if (!is_sane) return {};
  bool is_padding = header.kind() == RecordKind::kPadding;
  size_t end = at + header.size();
  bool fits = is_padding ? end == range_.begin + kSegmentSize : end <= range_.end;
  size_t words = is_padding ? 0 : header.words - 1u;
  if (!fits || effort_ + words > kMaxEffort) return {};
  uint64_t position = range_.position + (at - range_.begin);
  if (record_check(form_.key, position, header.start(), bytes_at(at) + kHeaderBytes, words) != header.check) {
    effort_ += words;
    return {};
  }
  if (is_padding && bytes_.find_first_not_of('\0', at + kHeaderBytes - bytes_begin_) < range_.end - bytes_begin_)
    return {};
  // Before version 3 there were only long heads, and the detail was 0.
  uint8_t detail = form_.version == version_2::kVersion ? kLongHead : header.detail;
  return {header.kind(), detail, header.size()};
}

}  // namespace framedex::capture
