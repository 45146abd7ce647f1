#include "capture_reader/stream_reader.h"

#include <algorithm>
#include <array>
#include <exception>
#include <new>
#include <utility>

#include "capture_reader/stored_file.h"

namespace framedex::capture {
namespace {

// Limits the reports for a destroyed stream.
constexpr size_t kMaxDamages = 20;

}  // namespace

StreamReader::StreamReader(const std::string& path, Part part) : path_(path) {
  StoredFile file(path);
  is_stream_ = read_header(file);
  if (!is_stream_ || (part == Part::kDefinitions && scan_definitions(file))) return;
  if (!scan(file)) segments_.clear();
}

bool StreamReader::read_header(const StoredFile& file) {
  StreamHeader written{};
  if (file.size() < 0) {
    report("cannot be read.");
    return false;
  }
  size_t size = file.read(0, &written, sizeof(written));
  if (size < sizeof(version_1::StreamHeader)) {
    report("ends within its header.");
    return false;
  }
  if (std::memcmp(written.magic, kMagic, sizeof(kMagic)) != 0) {
    report("is not a framedex stream.");
    return false;
  }
  if (written.version == version_1::kVersion) return read_version_1(file);
  if (written.version < version_1::kVersion || written.version > kVersion) {
    report("has format version " + std::to_string(written.version) + "; this framedex reads " +
           std::to_string(version_1::kVersion) + " to " + std::to_string(kVersion) + ".");
    return false;
  }
  if (size < sizeof(written)) {
    report("ends within its header.");
    return false;
  }
  check_header(written);
  return true;
}

bool StreamReader::read_version_1(const StoredFile& file) {
  version_1::StreamHeader written{};
  file.read(0, &written, sizeof(written));
  form_.version = version_1::kVersion;
  header_.version = written.version;
  header_.kind = written.kind;
  header_.clock = written.clock;
  header_.thread_id = written.thread_id;
  header_.stop_reasons = written.stop_reasons;
  header_.verified = written.verified;
  header_.different = written.different;
  std::memcpy(header_.thread_name, written.thread_name, sizeof(header_.thread_name) - 1);
  return true;
}

// Checks the mutable fields, each sealed with the check of the other fields, which is also the key of the records. If
// the header is damaged, the key is the one that most fields agree on.
void StreamReader::check_header(const StreamHeader& written) {
  header_ = written;
  header_.thread_name[sizeof(header_.thread_name) - 1] = '\0';
  auto is_sealed = [&](uint64_t key, uint64_t StreamHeader::* field, uint64_t* value) {
    auto offset = reinterpret_cast<const char*>(&(written.*field)) - reinterpret_cast<const char*>(&written);
    bool is_whole = unseal(key, static_cast<size_t>(offset), written.*field, value);
    if (!is_whole) *value = 0;
    return is_whole;
  };
  uint64_t expected = written.expected_check();
  uint64_t ignored;
  bool fits = is_sealed(written.check, &StreamHeader::stop_reasons, &ignored) ||
              is_sealed(written.check, &StreamHeader::segments_begun, &ignored);
  form_.version = written.version;
  form_.key = fits ? written.check : expected;
  form_.written = written.written;
  bool is_whole = written.check == expected;
  is_whole &= is_sealed(form_.key, &StreamHeader::stop_reasons, &header_.stop_reasons);
  is_whole &= is_sealed(form_.key, &StreamHeader::verified, &header_.verified);
  is_whole &= is_sealed(form_.key, &StreamHeader::different, &header_.different);
  is_whole &= is_sealed(form_.key, &StreamHeader::missing_calls, &header_.missing_calls);
  if (written.queries != 0) is_whole &= is_sealed(form_.key, &StreamHeader::queries, &header_.queries);
  is_whole &= is_sealed(form_.key, &StreamHeader::segments_begun, &segments_begun_);
  is_whole &= is_sealed(form_.key, &StreamHeader::segments, &segments_in_file_);
  has_damaged_header_ = !is_whole;
  if (!is_whole) report("has a damaged header: its thread, and the reason why it ends, may be wrong.");
}

// Finds the segments and the end of the written data. The writer stores a record's header after its body, but a copy of
// a segment may have the header without the body. So this scan finds the end first, and a later copy is used only up to
// that end.
bool StreamReader::scan(const StoredFile& file) {
  size_ = static_cast<size_t>(std::max<int64_t>(file.size(), 0));
  std::vector<SegmentStart> starts;
  try {
    starts = segment_starts(file, scanned_from_);
  } catch (const std::bad_alloc&) {
    if (!file.is_mostly_holes()) throw;
    report("is too large to be read.");
    return false;
  }
  segments_.resize(std::min(segments_.size(), scanned_from_));
  std::vector<SegmentRange> written = written_segments(starts, scanned_from_);
  segments_.insert(segments_.end(), written.begin(), written.end());
  report_missing_segments();
  if (segments_.empty()) return true;
  end_ = end_of_records(file, segments_.back());
  return !is_ring() || copy_ring(file, starts);
}

// Follows the links between segments with definitions, from the last segment back. Returns false if the stream has no
// usable links: an earlier recorder wrote it, or it is damaged.
bool StreamReader::scan_definitions(const StoredFile& file) {
  size_ = static_cast<size_t>(std::max<int64_t>(file.size(), 0));
  if (is_ring() || segments_begun_ == 0 || (segments_begun_ - 1) * kSegmentSize >= size_) return false;
  std::vector<SegmentRange> found{range_of(segments_begun_ - 1, segments_begun_ - 1)};
  for (;;) {
    std::optional<uint64_t> earlier = previous_definitions(file, found.back());
    if (!earlier || *earlier * kSegmentSize > found.back().position) return false;
    if (*earlier == 0) break;
    found.push_back(range_of(*earlier - 1, *earlier - 1));
  }
  segments_.assign(found.rbegin(), found.rend());
  end_ = end_of_records(file, segments_.back());
  return true;
}

// Reads the link from the base of a segment: the number of the latest earlier segment with definitions, plus one, or 0.
std::optional<uint64_t> StreamReader::previous_definitions(const StoredFile& file, const SegmentRange& range) const {
  std::array<char, sizeof(RecordHeader) + sizeof(BaseRecord) + sizeof(uint64_t)> bytes;
  SegmentRange first = range;
  first.end = range.first_record(form_) + bytes.size();
  if (file.read(range.first_record(form_), bytes.data(), bytes.size()) != bytes.size()) return std::nullopt;
  SegmentWalker walker({bytes.data(), bytes.size()}, range.first_record(form_), first, form_);
  Record record{RecordKind::kPadding, Body({})};
  Damage damage;
  if (walker.next(&record, &damage) != SegmentWalker::Step::kRecord || record.kind != RecordKind::kBase) return {};
  record.body.read<BaseRecord>();
  auto earlier = record.body.read<uint64_t>();
  return record.body.is_broken() ? std::nullopt : std::optional(earlier);
}

bool StreamReader::copy_ring(const StoredFile& file, const std::vector<SegmentStart>& starts) {
  try {
    bytes_.resize(size_);
  } catch (const std::exception&) {
    if (!file.is_mostly_holes()) throw;
    report("is too large to be read.");
    return false;
  }
  bytes_.resize(file.read(0, bytes_.data(), bytes_.size()));
  for (SegmentRange& range : segments_) range.end = std::max(range.begin, std::min(range.end, bytes_.size()));
  if (end_ < bytes_.size()) std::memset(&bytes_[end_], 0, std::min(sizeof(uint64_t), bytes_.size() - end_));
  drop_rewritten(starts, segment_starts(file, 0));
  drop_overtaken(file, starts.size());
  return true;
}

SegmentRange StreamReader::range_of(size_t index, uint64_t number) const {
  size_t begin = index * kSegmentSize;
  return {begin, std::max(begin, std::min(begin + kSegmentSize, size_)), number * kSegmentSize};
}

std::vector<StreamReader::SegmentStart> StreamReader::segment_starts(const StoredFile& file, size_t first) const {
  std::vector<SegmentStart> starts;
  for (size_t index = first; index * kSegmentSize < size_; ++index) {
    SegmentStart start{};
    file.read(range_of(index, 0).first_record(form_), &start, sizeof(start));
    starts.push_back(start);
  }
  return starts;
}

// Returns the segments in the order in which they were written. A segment too short for any record was truncated, which
// next() reports.
std::vector<SegmentRange> StreamReader::written_segments(const std::vector<SegmentStart>& starts, size_t first) const {
  if (is_ring()) return ring_segments(starts);
  std::vector<SegmentRange> written;
  for (size_t index = first; index < first + starts.size(); ++index) {
    SegmentRange range = range_of(index, index);
    bool is_cut_off = range.first_record(form_) + sizeof(RecordHeader) > size_;
    if (is_cut_off || index < segments_begun_ || !starts[index - first].is_empty()) written.push_back(range);
  }
  return written;
}

// Returns the segments of a ring, which begin with their numbers; a segment without a number is empty.
std::vector<SegmentRange> StreamReader::ring_segments(const std::vector<SegmentStart>& starts) const {
  std::vector<SegmentRange> written;
  uint64_t count = segments_in_file_ != 0 ? segments_in_file_ : starts.size();
  for (size_t index = 0; index < starts.size(); ++index) {
    if (has_valid_number(index, count, starts[index])) {
      written.push_back(range_of(index, starts[index].segment.number));
    } else if (index < std::min(segments_begun_, count) && form_.has_checks()) {
      // The number that this segment must have, unless the writer is about to enter it.
      uint64_t number = segments_begun_ - 1 - (segments_begun_ - 1 - index) % count;
      bool is_entered = number + 1 == segments_begun_ && form_.written <= number * kSegmentSize;
      if (!is_entered || !starts[index].is_empty()) written.push_back(range_of(index, number));
    } else if (!starts[index].is_empty()) {
      written.push_back(range_of(index, index));
    }
  }
  std::stable_sort(written.begin(), written.end(),
                   [](const SegmentRange& a, const SegmentRange& b) { return a.position < b.position; });
  return written;
}

// Returns whether a ring's segment begins with a possible number.
bool StreamReader::has_valid_number(size_t index, uint64_t count, const SegmentStart& start) const {
  if (!form_.has_checks()) {
    version_1::RecordHeader header;
    std::memcpy(&header, &start.header, sizeof(header));
    return header.mark == version_1::kRecordMark && header.kind == RecordKind::kSegment;
  }
  // The ring may have grown since the count was read.
  if (start.segment.number != index && start.segment.number % count != index) return false;
  SegmentRange range = range_of(index, start.segment.number);
  auto bytes = reinterpret_cast<const char*>(&start);
  size_t first = range.first_record(form_);
  range.end = first + sizeof(start);
  Record record{RecordKind::kPadding, Body({})};
  Damage damage;
  SegmentWalker walker({bytes, sizeof(start)}, first, range, form_);
  return walker.next(&record, &damage) == SegmentWalker::Step::kRecord && record.kind == RecordKind::kSegment;
}

// Reports segments that were counted but are missing. A segment is counted once it is in the file. Outside a
// ring, a partial last segment counts as present.
void StreamReader::report_missing_segments() {
  if (!form_.has_checks()) return;
  bool has_last = !segments_.empty() && segments_.back().position + kSegmentSize >= form_.written;
  uint64_t count = (size_ + (is_ring() ? 0 : kSegmentSize - 1)) / kSegmentSize;
  bool is_cut = segments_in_file_ > count || (is_ring() && !has_last);
  if (is_cut) report("is cut off at byte " + std::to_string(size_) + ": its end is missing.");
}

// Returns the file offset up to which the segment is written.
size_t StreamReader::end_of_records(const StoredFile& file, const SegmentRange& range) const {
  std::string bytes(kSegmentSize, '\0');
  bytes.resize(file.read(range.begin, bytes.data(), bytes.size()));
  SegmentRange copied = range;
  copied.end = std::min(range.end, range.begin + bytes.size());
  SegmentWalker walker(bytes, range.begin, copied, form_);
  Record record{RecordKind::kPadding, Body({})};
  Damage damage;
  for (;;) {
    size_t begin = walker.offset();
    SegmentWalker::Step step = walker.next(&record, &damage);
    if (step == SegmentWalker::Step::kEnd) return std::min(walker.offset(), copied.end);
    // A record that was being written during the copy looks like damage at the very end.
    bool is_last = step == SegmentWalker::Step::kDamage && damage.end >= range.begin + kSegmentSize;
    bool is_written = !form_.has_checks() || range.position + (begin - range.begin) < form_.written;
    if (is_last) return is_written ? copied.end : begin;
  }
}

// Drops a ring's segments whose number has changed: they were overwritten during the copy, which may mix old and new
// data.
void StreamReader::drop_rewritten(const std::vector<SegmentStart>& before, const std::vector<SegmentStart>& after) {
  auto is_rewritten = [&](const SegmentRange& range) {
    size_t i = range.begin / kSegmentSize;
    return i >= after.size() || std::memcmp(&before[i], &after[i], sizeof(SegmentStart)) != 0;
  };
  segments_.erase(std::remove_if(segments_.begin(), segments_.end(), is_rewritten), segments_.end());
}

// Drops the segments that the ring has overtaken since the header was read: they are empty, or about to be.
void StreamReader::drop_overtaken(const StoredFile& file, size_t count) {
  StreamHeader now{};
  file.read(0, &now, sizeof(now));
  uint64_t begun = 0;
  bool has_begun = unseal(form_.key, offsetof(StreamHeader, segments_begun), now.segments_begun, &begun);
  if (!form_.has_checks() || !has_begun || begun == segments_begun_) return;
  auto is_overtaken = [&](const SegmentRange& range) { return range.position / kSegmentSize + count < begun; };
  segments_.erase(std::remove_if(segments_.begin(), segments_.end(), is_overtaken), segments_.end());
}

bool StreamReader::next(Record* record) {
  for (;;) {
    if (walker_.empty() && !enter_next_segment()) return false;
    Damage damage;
    size_t begin = walker_.back().offset();
    switch (walker_.back().next(record, &damage)) {
      case SegmentWalker::Step::kRecord:
        if (begin < resumed_at_ || record->kind == RecordKind::kSegment || record->kind == RecordKind::kBase) break;
        return true;
      case SegmentWalker::Step::kDamage:
        if (begin >= resumed_at_ && !has_reported_) report_damage(damage);
        break;
      case SegmentWalker::Step::kEnd:
        walker_.clear();
    }
  }
}

bool StreamReader::enter_next_segment() {
  if (entered_ == segments_.size()) {
    if (!is_ring()) std::string().swap(bytes_);
    return false;
  }
  SegmentRange& range = segments_[entered_++];
  if (is_ring()) {
    walker_.emplace_back(bytes_, 0, range, form_);
    return true;
  }
  bytes_.resize(range.end - range.begin);
  bytes_.resize(StoredFile(path_).read(range.begin, bytes_.data(), bytes_.size()));
  range.end = range.begin + bytes_.size();
  bool is_last = entered_ == segments_.size();
  if (is_last && end_ < range.end) {
    std::memset(&bytes_[end_ - range.begin], 0, std::min(sizeof(uint64_t), range.end - end_));
  }
  walker_.emplace_back(bytes_, range.begin, range, form_);
  return true;
}

void StreamReader::rewind() {
  walker_.clear();
  entered_ = scanned_from_;
  has_reported_ = true;
}

bool StreamReader::extend() {
  if (!is_stream_ || is_ring() || form_.version == version_1::kVersion) return false;
  StoredFile file(path_);
  has_reported_ = true;
  is_stream_ = read_header(file);
  if (!is_stream_) return false;
  resumed_at_ = end_;
  scanned_from_ = segments_.empty() ? 0 : segments_.size() - 1;
  if (!scan(file)) return false;
  has_reported_ = false;
  walker_.clear();
  entered_ = scanned_from_;
  return true;
}

void StreamReader::report_damage(const Damage& damage) {
  if (++damages_ > kMaxDamages) return;
  if (damages_ == kMaxDamages) return report("has more damage, which is not reported.");
  bool is_to_the_end = damage.end % kSegmentSize == 0;
  std::string begin = std::to_string(damage.begin);
  report(std::string(damage.what) + (is_to_the_end ? " at byte " + begin + "; the rest of that segment is skipped."
                                                   : " from byte " + begin + " to byte " + std::to_string(damage.end) +
                                                         "; the records there are lost."));
}

}  // namespace framedex::capture
