// Reads one .fdx stream without trusting its content.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "capture_reader/segment_walker.h"
#include "recorder/format/capture_format.h"

namespace framedex::capture {

class StoredFile;

// A snapshot of a stream, even if it is still being written. Segments are read one at a time on demand. Those of a ring
// are all read at once, because they are overwritten.
class StreamReader {
 public:
  // kDefinitions: only the last segment, and the segments with stacks, frames or code if the stream links them.
  enum class Part { kAll, kDefinitions };
  // Finds the end of the written data. On failure problems() has the reason, and next() returns nothing. This and later
  // reads throw UnreadableError if the system fails to read the file.
  explicit StreamReader(const std::string& path, Part part = Part::kAll);

  const std::string& path() const { return path_; }
  // Returns the header in the current version's form, without its checks.
  const StreamHeader& header() const { return header_; }
  // Whether the header could be read.
  bool is_stream() const { return is_stream_; }
  // Whether the header is damaged, so that its facts about the stream may be wrong.
  bool has_damaged_header() const { return has_damaged_header_; }
  // Returns the problems of the stream as sentences; none if all data read so far was intact.
  const std::vector<std::string>& problems() const { return problems_; }
  // Returns the next complete record, valid until the next call; false at the end of the written data.
  bool next(Record* record);
  // Restarts at the first record that the latest scan of the file found. Does not report problems twice.
  void rewind();
  // Finds the new end of the written data, from which next() continues. Returns false for rings, whose beginnings are
  // overwritten, and for streams that cannot be read any more.
  bool extend();
  bool is_ring() const { return header_.kind == StreamKind::kRing; }

 private:
  // The beginning of a segment; in a ring it has the segment's number.
  struct SegmentStart {
    uint64_t header;
    SegmentRecord segment;

    bool is_empty() const { return header == 0; }
  };

  bool scan(const StoredFile& file);
  bool scan_definitions(const StoredFile& file);
  std::optional<uint64_t> previous_definitions(const StoredFile& file, const SegmentRange& range) const;
  bool copy_ring(const StoredFile& file, const std::vector<SegmentStart>& starts);
  bool enter_next_segment();
  bool read_header(const StoredFile& file);
  bool read_version_1(const StoredFile& file);
  void check_header(const StreamHeader& written);
  SegmentRange range_of(size_t index, uint64_t number) const;
  std::vector<SegmentStart> segment_starts(const StoredFile& file, size_t first) const;
  std::vector<SegmentRange> written_segments(const std::vector<SegmentStart>& starts, size_t first) const;
  std::vector<SegmentRange> ring_segments(const std::vector<SegmentStart>& starts) const;
  bool has_valid_number(size_t index, uint64_t count, const SegmentStart& start) const;
  size_t end_of_records(const StoredFile& file, const SegmentRange& range) const;
  void drop_rewritten(const std::vector<SegmentStart>& before, const std::vector<SegmentStart>& after);
  void drop_overtaken(const StoredFile& file, size_t count);
  void report_missing_segments();
  void report_damage(const Damage& damage);
  void report(const std::string& what) {
    if (!has_reported_) problems_.push_back(path_ + " " + what);
  }

  std::string path_;
  StreamHeader header_{};
  StreamForm form_;
  uint64_t segments_begun_ = 0;  // 0: unknown
  uint64_t segments_in_file_ = 0;
  bool is_stream_ = false;
  bool has_damaged_header_ = false;
  size_t size_ = 0;  // of the file
  size_t end_ = 0;   // file offset of the written end of its last segment
  std::vector<SegmentRange> segments_;
  std::string bytes_;                  // for a ring the whole file, else the segment being read
  size_t entered_ = 0;                 // number of segments entered
  size_t scanned_from_ = 0;            // first segment of the latest scan
  size_t resumed_at_ = 0;              // data before this file offset is from an earlier look
  std::vector<SegmentWalker> walker_;  // of the segment being read, if any
  std::vector<std::string> problems_;
  size_t damages_ = 0;
  bool has_reported_ = false;  // whether the problems were reported
};

}  // namespace framedex::capture
