// Reads one .fdx stream, trusting nothing in it.
#pragma once

#include <string>
#include <vector>

#include "capture_reader/segment_walker.h"
#include "recorder/format/capture_format.h"

namespace framedex::capture {

class File;

// A stream as it was at one moment, even if it is still being written.
class StreamReader {
 public:
  // Reads the file. On failure problems() says why and next() gives nothing.
  explicit StreamReader(const std::string& path);

  const std::string& path() const { return path_; }
  // The header in the form of the current version, whatever the file's is; without its checks.
  const StreamHeader& header() const { return header_; }
  // Whether the header could be read, so that there may be records.
  bool is_stream() const { return is_stream_; }
  // Whether what the header says of the stream cannot be trusted.
  bool has_damaged_header() const { return has_damaged_header_; }
  // What is wrong with the stream, in sentences; none if it was whole as far as it was read.
  const std::vector<std::string>& problems() const { return problems_; }
  // The next complete record; false at the end of what was written.
  bool next(Record* record);

 private:
  // The beginning of a segment; in a ring it has the segment's number.
  struct SegmentStart {
    uint64_t header;
    SegmentRecord segment;

    bool is_empty() const { return header == 0; }
  };

  bool read_file(const File& file);
  bool read_header(const File& file);
  bool read_version_1(const File& file);
  void check_header(const StreamHeader& written);
  bool is_ring() const { return header_.kind == StreamKind::kRing; }
  SegmentPlace place_of(size_t index, uint64_t number) const;
  std::vector<SegmentStart> segment_starts(const File& file) const;
  std::vector<SegmentPlace> written_segments(const std::vector<SegmentStart>& starts) const;
  std::vector<SegmentPlace> ring_segments(const std::vector<SegmentStart>& starts) const;
  bool has_number(size_t index, uint64_t count, const SegmentStart& start) const;
  size_t end_of_records(const File& file, const SegmentPlace& place) const;
  void drop_rewritten(const std::vector<SegmentStart>& before, const std::vector<SegmentStart>& after);
  void drop_overtaken(const File& file, size_t count);
  void report_missing_segments();
  void report_damage(const Damage& damage);
  void report(const std::string& what) { problems_.push_back(path_ + " " + what); }

  std::string path_;
  std::string bytes_;
  StreamHeader header_{};
  StreamForm form_;
  uint64_t segments_begun_ = 0;  // 0: not known
  uint64_t segments_in_file_ = 0;
  bool is_stream_ = false;
  bool has_damaged_header_ = false;
  std::vector<SegmentPlace> segments_;  // those still to be read, the next one last
  std::vector<SegmentWalker> walker_;   // of the one being read, if any
  std::vector<std::string> problems_;
  size_t damages_ = 0;
};

}  // namespace framedex::capture
