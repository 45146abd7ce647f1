// Walks the records of one .fdx stream, trusting nothing in it.
#pragma once

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "recorder/capture_format.h"

namespace framedex::capture {

// A record's body, read front to back. Reading beyond its end gives zeros and marks it as broken.
class Body {
 public:
  explicit Body(std::string_view bytes) : bytes_(bytes) {}

  template <typename Struct>
  Struct read() {
    Struct value{};
    std::string_view bytes = take(sizeof(Struct));
    if (bytes.size() == sizeof(Struct)) std::memcpy(&value, bytes.data(), sizeof(Struct));
    return value;
  }
  std::string_view take(size_t size);
  // A text up to its terminating zero byte.
  std::string_view take_terminated();

  size_t remaining() const { return bytes_.size() - position_; }
  bool is_broken() const { return broken_; }

 private:
  std::string_view bytes_;
  size_t position_ = 0;
  bool broken_ = false;
};

struct Record {
  RecordKind kind;
  Body body;
};

class File;

// A stream as it was at one moment, although its writer may be at work.
class StreamReader {
 public:
  // Reads the file. On failure problems() says why and next() gives nothing.
  explicit StreamReader(const std::string& path);

  const StreamHeader& header() const { return header_; }
  // What is wrong with the stream, sentences; none if it was whole as far as it was read.
  const std::vector<std::string>& problems() const { return problems_; }
  // The next complete record; false at the end of what was written.
  bool next(Record* record);

 private:
  // What a segment begins with; in a ring its number, too.
  struct SegmentStart {
    RecordHeader header;
    SegmentRecord segment;
  };

  bool read_file(const File& file);
  bool check_header();
  bool is_ring() const { return header_.kind == StreamKind::kRing; }
  std::vector<SegmentStart> segment_starts(const File& file) const;
  std::vector<size_t> written_segments(const std::vector<SegmentStart>& starts) const;
  size_t end_of_records(const File& file, size_t begin) const;
  void drop_rewritten(const std::vector<SegmentStart>& before, const std::vector<SegmentStart>& after);
  // Goes on with the next segment, because of a problem or because this one is at its end.
  void leave_segment();
  void leave_damaged_segment(const char* what);
  void report(const std::string& what) { problems_.push_back(path_ + " " + what); }

  std::string path_;
  std::string bytes_;
  StreamHeader header_{};
  std::vector<size_t> segments_;  // where those still to be read begin, the next one last
  size_t position_ = 0;
  size_t segment_end_ = 0;
  std::vector<std::string> problems_;
};

}  // namespace framedex::capture
