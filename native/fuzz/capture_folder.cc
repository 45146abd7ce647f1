#include "fuzz/capture_folder.h"

#include <fstream>
#include <map>
#include <vector>

#include "recorder/format/capture_format.h"

namespace framedex::fuzz {
namespace {

using capture::kSegmentSize;

// Enough for two segments of each stream. More data makes a run slow and covers no more code.
constexpr size_t kMaxStreamSize = 2 * kSegmentSize;

std::string name_of(uint8_t number) {
  if (number % 8 == 0) return "process.fdx";
  std::string thread = "thread-" + std::to_string(number % 4);
  return thread + (number % 8 < 4 ? ".fdx" : ".ring.fdx");
}

capture::StreamKind kind_of(const std::string& name) {
  if (name == "process.fdx") return capture::StreamKind::kProcess;
  return name.find(".ring.") != std::string::npos ? capture::StreamKind::kRing : capture::StreamKind::kThread;
}

// Returns the number in a stream's name, 0 for process.fdx.
uint32_t number_in(const std::string& name) {
  return name == "process.fdx" ? 0 : static_cast<uint32_t>(name[std::strlen("thread-")] - '0');
}

class Stream {
 public:
  Stream() = default;
  // The second bit of `clock` selects format version 1, the third the current one, neither version 2.
  Stream(const std::string& name, uint8_t stop_reasons, uint8_t clock)
      : is_old_((clock & 2) != 0),
        version_((clock & 4) != 0 ? capture::kVersion : capture::version_2::kVersion),
        is_ring_(kind_of(name) == capture::StreamKind::kRing) {
    auto unit = static_cast<capture::ClockKind>(clock % 2);
    if (is_old_) {
      begin(old_header(name, stop_reasons, unit));
      return;
    }
    capture::StreamHeader header{};
    std::memcpy(header.magic, capture::kMagic, sizeof(header.magic));
    header.version = version_;
    header.kind = kind_of(name);
    header.capture = 7;
    header.number = number_in(name);
    header.clock = unit;
    header.thread_id = name.size();
    std::memcpy(header.thread_name, "fuzzed", 6);
    header.check = key_ = header.expected_check();
    header.stop_reasons = capture::seal(key_, offsetof(capture::StreamHeader, stop_reasons), stop_reasons);
    header.verified = capture::seal(key_, offsetof(capture::StreamHeader, verified), 0);
    header.different = capture::seal(key_, offsetof(capture::StreamHeader, different), 0);
    header.missing_calls = capture::seal(key_, offsetof(capture::StreamHeader, missing_calls), 0);
    begin(header);
    note_end();
  }

  // Adds a record. A record that does not fit begins the next segment, as in the writer.
  void add_record(uint8_t kind, uint8_t detail, std::string_view body) {
    std::string padded(body);
    padded.resize(capture::pad(body.size()));
    if (bytes_.size() % kSegmentSize + padded.size() + 16 > kSegmentSize) end_segment();
    if (is_old_) {
      capture::version_1::RecordHeader header{static_cast<uint32_t>(sizeof(header) + padded.size()),
                                              static_cast<capture::RecordKind>(kind), capture::version_1::kRecordMark};
      append(header);
    } else {
      bool begins = bytes_.size() % kSegmentSize == (bytes_.size() < kSegmentSize ? sizeof(capture::StreamHeader) : 0);
      bool is_number = static_cast<capture::RecordKind>(kind) == capture::RecordKind::kSegment && padded.size() >= 8;
      if (is_ring_ && begins && is_number) std::memcpy(&segment_, padded.data(), sizeof(segment_));
      append(checked(kind, detail, padded.size() / 8 + 1, padded));
    }
    bytes_ += padded;
    note_end();
  }
  void add_bytes(std::string_view bytes) { bytes_ += bytes; }
  void end_segment() {
    size_t rest = kSegmentSize - bytes_.size() % kSegmentSize;
    if (!is_old_ && rest >= sizeof(capture::RecordHeader) && rest % 8 == 0) {
      append(checked(static_cast<uint8_t>(capture::RecordKind::kPadding), 0, rest / 8, {}));
    }
    bytes_.resize((bytes_.size() + kSegmentSize - 1) / kSegmentSize * kSegmentSize);
    segment_ = bytes_.size() / kSegmentSize;
    note_end();
  }
  void end_early() { ended_ = true; }
  void damage(uint32_t place, uint8_t byte) {
    if (!bytes_.empty()) bytes_[bytes_.size() - 1 - place % bytes_.size()] = static_cast<char>(byte);
  }
  bool has_details() const { return !is_old_ && version_ == capture::kVersion; }
  bool is_full() const { return ended_ || bytes_.size() >= kMaxStreamSize; }

  std::string finished() const {
    std::string bytes = bytes_;
    if (!ended_) bytes.append(sizeof(capture::RecordHeader), '\0');  // as in a segment without data
    return bytes;
  }

 private:
  static capture::version_1::StreamHeader old_header(const std::string& name, uint8_t stop_reasons,
                                                     capture::ClockKind clock) {
    capture::version_1::StreamHeader header{};
    std::memcpy(header.magic, capture::kMagic, sizeof(header.magic));
    header.version = capture::version_1::kVersion;
    header.kind = kind_of(name);
    header.thread_id = name.size();
    header.stop_reasons = stop_reasons;
    header.clock = clock;
    std::memcpy(header.thread_name, "fuzzed", 6);
    return header;
  }

  template <typename Struct>
  void append(const Struct& value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  template <typename Header>
  void begin(const Header& header) {
    bytes_.clear();
    append(header);
  }
  capture::RecordHeader checked(uint8_t kind, uint8_t detail, size_t words, const std::string& body) const {
    capture::RecordHeader header{kind, detail, static_cast<uint16_t>(words), 0};
    header.check = capture::record_check(key_, position(), header.start(), body.data(), body.size() / 8);
    return header;
  }
  uint64_t position() const { return segment_ * kSegmentSize + bytes_.size() % kSegmentSize; }
  // Writes the end of the written data into the header.
  void note_end() {
    if (is_old_) return;
    put(offsetof(capture::StreamHeader, written), position());
    put_sealed(offsetof(capture::StreamHeader, segments_begun), segment_ + 1);
    put_sealed(offsetof(capture::StreamHeader, segments), (bytes_.size() + kSegmentSize - 1) / kSegmentSize);
  }
  void put_sealed(size_t field, uint64_t value) { put(field, capture::seal(key_, field, value)); }
  void put(size_t field, uint64_t word) { std::memcpy(&bytes_[field], &word, sizeof(word)); }

  std::string bytes_;
  bool is_old_ = false;
  uint32_t version_ = capture::version_2::kVersion;
  bool is_ring_ = false;
  bool ended_ = false;
  uint64_t key_ = 0;
  uint64_t segment_ = 0;  // number of the segment being written
};

void apply(uint8_t item, Input& input, Stream& stream) {
  if (item == 1) {
    auto kind = input.number<uint8_t>();
    uint8_t detail = stream.has_details() ? input.number<uint8_t>() : 0;
    stream.add_record(kind, detail, input.take(input.number<uint16_t>()));
  } else if (item == 2) {
    stream.add_bytes(input.take(input.number<uint16_t>()));
  } else if (item == 3) {
    stream.end_segment();
  } else if (item == 4) {
    stream.end_early();
  } else {
    uint32_t place = input.number<uint16_t>();
    place |= uint32_t{input.number<uint8_t>()} << 16;
    stream.damage(place, input.number<uint8_t>());
  }
}

}  // namespace

void CaptureFolder::write_open_calls(Input input) {
  std::ofstream file(path_ + "/" + capture::kOpenCallsFile, std::ios::binary);
  std::vector<capture::PendingCallback> callbacks(capture::kPendingSlots);
  for (size_t slot = 0; slot < 8; ++slot) {
    capture::PendingCallback& pending = callbacks[slot];
    pending.call = {input.number<uint8_t>(), input.number<uint32_t>(), input.number<uint8_t>(),
                    input.number<uint8_t>()};
    pending.thread = input.number<uint8_t>() % 8;
    pending.check = pending.expected_check(7, slot) ^ (pending.call.sequence % 16 == 1);
  }
  std::string bytes(reinterpret_cast<const char*>(callbacks.data()), callbacks.size() * sizeof(callbacks[0]));
  bytes.resize(capture::kPendingSize);
  file << bytes;
  for (uint32_t number = 0; number < 4; ++number) {
    capture::OpenCallTable table{};
    table.capture = 7;
    table.number = number;
    table.check = table.expected_check();
    table.last_time = table.anchor_time = input.number<uint32_t>();
    table.anchor_check = table.expected_anchor_check();
    for (size_t slot = 0; slot < capture::OpenCallTable::kSlots; ++slot) {
      capture::OpenCall& open = table.open[slot];
      open.call = {input.number<uint8_t>(), input.number<uint32_t>(), input.number<uint8_t>(), input.number<uint8_t>()};
      open.check = open.expected_check(table.check, slot) ^ (open.call.sequence % 16 == 1);
    }
    file.write(reinterpret_cast<const char*>(&table), sizeof(table));
  }
}

void CaptureFolder::write(Input input) {
  std::map<std::string, Stream> streams;
  Stream* current = &streams.emplace("process.fdx", Stream("process.fdx", 0, 0)).first->second;
  while (!input.at_end()) {
    auto item = static_cast<uint8_t>(input.number<uint8_t>() % 6);
    if (item == 0) {
      std::string name = name_of(input.number<uint8_t>());
      auto stop_reasons = input.number<uint8_t>();
      auto clock = input.number<uint8_t>();
      current = &(streams[name] = Stream(name, stop_reasons, clock));
    } else if (current->is_full()) {
      break;
    } else {
      apply(item, input, *current);
    }
  }
  for (uint8_t number = 0; number < 8; ++number) {
    std::string name = name_of(number);
    std::string path = path_ + "/" + name;
    auto stream = streams.find(name);
    if (stream == streams.end()) {
      std::remove(path.c_str());
      continue;
    }
    std::string bytes = stream->second.finished();
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
}

}  // namespace framedex::fuzz
