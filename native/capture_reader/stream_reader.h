// Reads one .fdx stream, trusting nothing in it.
#pragma once

#include <string>
#include <vector>

#include "capture_reader/segment_walker.h"
#include "recorder/format/capture_format.h"

namespace framedex::capture {

class StoredFile;

// A stream as it was at one moment, even if it is still being written. Its segments are read one at a time as they are
// come to; those of a ring at once, since they are written again.
class StreamReader {
 public:
  // Looks how far the file is written. On failure problems() says why and next() gives nothing. Throws UnreadableError,
  // as whatever reads on does, where the system fails to read the file.
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
  // The next complete record, until the one after it is asked for; false at the end of what was written.
  bool next(Record* record);
  // Begins again with the first record that the last look at the file found. What is wrong with the stream has been
  // told then and is not told again.
  void rewind();
  // Looks how far the file is written by now: next() goes on behind what was there at the last look. False for rings,
  // whose beginnings go meanwhile, and for what cannot be read any more.
  bool extend();
  bool is_ring() const { return header_.kind == StreamKind::kRing; }

 private:
  // The beginning of a segment; in a ring it has the segment's number.
  struct SegmentStart {
    uint64_t header;
    SegmentRecord segment;

    bool is_empty() const { return header == 0; }
  };

  bool look(const StoredFile& file);
  bool copy_ring(const StoredFile& file, const std::vector<SegmentStart>& starts);
  bool enter_next_segment();
  bool read_header(const StoredFile& file);
  bool read_version_1(const StoredFile& file);
  void check_header(const StreamHeader& written);
  SegmentPlace place_of(size_t index, uint64_t number) const;
  std::vector<SegmentStart> segment_starts(const StoredFile& file, size_t first) const;
  std::vector<SegmentPlace> written_segments(const std::vector<SegmentStart>& starts, size_t first) const;
  std::vector<SegmentPlace> ring_segments(const std::vector<SegmentStart>& starts) const;
  bool has_number(size_t index, uint64_t count, const SegmentStart& start) const;
  size_t end_of_records(const StoredFile& file, const SegmentPlace& place) const;
  void drop_rewritten(const std::vector<SegmentStart>& before, const std::vector<SegmentStart>& after);
  void drop_overtaken(const StoredFile& file, size_t count);
  void report_missing_segments();
  void report_damage(const Damage& damage);
  void report(const std::string& what) {
    if (!is_told_) problems_.push_back(path_ + " " + what);
  }

  std::string path_;
  StreamHeader header_{};
  StreamForm form_;
  uint64_t segments_begun_ = 0;  // 0: not known
  uint64_t segments_in_file_ = 0;
  bool is_stream_ = false;
  bool has_damaged_header_ = false;
  size_t size_ = 0;  // of the file
  size_t end_ = 0;   // where in the file its last segment is written up to
  std::vector<SegmentPlace> segments_;
  std::string bytes_;                  // of a ring all of it, else the segment that is being read
  size_t entered_ = 0;                 // how many segments were
  size_t looked_from_ = 0;             // the first segment of the last look
  size_t resumed_at_ = 0;              // what lies before it in the file was there before the last look
  std::vector<SegmentWalker> walker_;  // of the segment being read, if any
  std::vector<std::string> problems_;
  size_t damages_ = 0;
  bool is_told_ = false;  // what is wrong with the stream
};

}  // namespace framedex::capture
