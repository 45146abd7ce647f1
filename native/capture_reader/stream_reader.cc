#include "capture_reader/stream_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace framedex::capture {
namespace {

// Where nothing was committed yet there are zeros: the end of what was written here.
bool is_empty(const RecordHeader& header) { return header.size == 0 && header.mark == 0; }

bool is_sane(const RecordHeader& header) {
  return header.mark == kRecordMark && header.size >= sizeof(header) && header.size % 8 == 0;
}

size_t first_record(size_t segment) { return segment + (segment == 0 ? sizeof(StreamHeader) : 0); }

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

class File {
 public:
  explicit File(const std::string& path) : descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~File() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  // -1: no regular file, or none that can be read.
  int64_t size() const {
    struct stat status{};
    bool is_regular = descriptor_ >= 0 && fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode);
    return is_regular ? status.st_size : -1;
  }
  // How many of the `size` bytes at `offset` there are.
  size_t read(size_t offset, void* target, size_t size) const {
    size_t done = 0;
    while (done < size) {
      ssize_t count =
          pread(descriptor_, static_cast<char*>(target) + done, size - done, static_cast<off_t>(offset + done));
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) break;
      done += static_cast<size_t>(count);
    }
    return done;
  }

 private:
  int descriptor_;
};

StreamReader::StreamReader(const std::string& path) : path_(path) {
  if (!read_file(File(path))) return;
  std::reverse(segments_.begin(), segments_.end());
  leave_segment();
}

// The writer stores a record's header after its body, but a copy is not taken in that order: it may have the header of
// a record and not yet its body. So a first look finds how far the stream is written, and the copy that is taken after
// it counts no farther.
bool StreamReader::read_file(const File& file) {
  int64_t size = file.size();
  if (size < 0) {
    report("cannot be read.");
    return false;
  }
  if (file.read(0, &header_, sizeof(header_)) < sizeof(header_)) {
    header_ = {};
    report("ends within its header.");
    return false;
  }
  if (!check_header()) {
    header_ = {};
    return false;
  }
  try {
    bytes_.resize(static_cast<size_t>(size));
  } catch (const std::exception&) {  // a damaged file system, or a sparse file, may name any size
    report("is too large to be read.");
    return false;
  }
  std::vector<SegmentStart> starts = segment_starts(file);
  segments_ = written_segments(starts);
  if (segments_.empty()) return true;
  size_t end = end_of_records(file, segments_.back());
  bytes_.resize(file.read(0, bytes_.data(), bytes_.size()));
  if (end < bytes_.size()) std::memset(&bytes_[end], 0, std::min(sizeof(RecordHeader), bytes_.size() - end));
  if (is_ring()) drop_rewritten(starts, segment_starts(file));
  return true;
}

bool StreamReader::check_header() {
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
  return true;
}

std::vector<StreamReader::SegmentStart> StreamReader::segment_starts(const File& file) const {
  std::vector<SegmentStart> starts;
  for (size_t begin = 0; begin < bytes_.size(); begin += kSegmentSize) {
    SegmentStart start{};
    file.read(first_record(begin), &start, sizeof(start));
    starts.push_back(start);
  }
  return starts;
}

// Where the segments begin, in the order in which they were written. Those of a ring without a number are empty; one
// too short for any record was cut off, which next() is to say.
std::vector<size_t> StreamReader::written_segments(const std::vector<SegmentStart>& starts) const {
  std::vector<size_t> written;
  for (size_t i = 0; i < starts.size(); ++i) {
    const RecordHeader& header = starts[i].header;
    bool is_cut_off = first_record(i * kSegmentSize) + sizeof(header) > bytes_.size();
    bool is_written = is_ring() ? header.mark == kRecordMark && header.kind == RecordKind::kSegment : !is_empty(header);
    if (is_cut_off || is_written) written.push_back(i * kSegmentSize);
  }
  if (is_ring()) {
    std::sort(written.begin(), written.end(), [&](size_t a, size_t b) {
      return starts[a / kSegmentSize].segment.number < starts[b / kSegmentSize].segment.number;
    });
  }
  return written;
}

// Up to where the segment at `begin` is written.
size_t StreamReader::end_of_records(const File& file, size_t begin) const {
  std::string bytes(kSegmentSize, '\0');
  bytes.resize(file.read(begin, bytes.data(), bytes.size()));
  RecordHeader header;
  for (size_t position = first_record(begin) - begin; position + sizeof(header) <= bytes.size();) {
    std::memcpy(&header, bytes.data() + position, sizeof(header));
    if (is_empty(header)) return begin + position;
    if (!is_sane(header)) break;
    position += header.size;
  }
  return begin + bytes.size();
}

// A segment of a ring whose number is no longer the same was written anew meanwhile: its copy may be of two minds.
void StreamReader::drop_rewritten(const std::vector<SegmentStart>& before, const std::vector<SegmentStart>& after) {
  auto is_rewritten = [&](size_t begin) {
    size_t i = begin / kSegmentSize;
    return i >= after.size() || std::memcmp(&before[i], &after[i], sizeof(SegmentStart)) != 0;
  };
  segments_.erase(std::remove_if(segments_.begin(), segments_.end(), is_rewritten), segments_.end());
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
    if (is_empty(header)) {
      leave_segment();
    } else if (!is_sane(header)) {
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
  position_ = first_record(begin);
  segment_end_ = std::min(begin + kSegmentSize, bytes_.size());
}

void StreamReader::leave_damaged_segment(const char* what) {
  report(std::string(what) + " at byte " + std::to_string(position_) + "; the rest of that segment is left out.");
  leave_segment();
}

}  // namespace framedex::capture
