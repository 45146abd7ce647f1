// All tables of a capture except its calls. They join the streams of all threads.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "capture_reader/stops.h"
#include "recorder/format/capture_format.h"

namespace framedex::capture {

// The state of a module's file when the module was first seen; zeros if unknown.
struct FileState {
  uint64_t size;
  uint64_t inode;
  int64_t modified_ns;
  int64_t changed_ns;
};

struct Module {
  std::string path;
  std::string build_id;  // raw bytes
  std::string fingerprint;
  uint64_t base;
  uint64_t size;
  FileState file;
};

struct Code {
  std::string filename;
  std::string qualname;
  std::string line_table;
  int32_t first_line;
};

// Native frames: `owner` is a module (-1: none), `offset` is in bytes from its base. Python frames: `owner` is a code
// object, `offset` is the instruction's in bytes, `line` is from the location table (0: none). `is_returning` is as in
// FrameRecord.
struct Frame {
  FrameLanguage language;
  int64_t owner;
  uint64_t offset;
  int32_t line;
  bool is_returning;
};

struct Stack {
  std::string outcome;  // the merge outcome, named as in framedex.model.MergeOutcome
  bool is_truncated;    // its outermost frames are missing
  std::vector<uint32_t> frames;
  std::vector<uint32_t> python;

  bool operator==(const Stack& other) const {
    return outcome == other.outcome && is_truncated == other.is_truncated && frames == other.frames &&
           python == other.python;
  }
};

struct Thread {
  uint64_t id;
  std::string name;
};

struct Capture {
  std::vector<Module> modules;
  std::vector<Code> codes;
  std::vector<Frame> frames;
  std::vector<Stack> stacks;
  std::vector<std::pair<std::string, std::string>> functions;  // boundary, name
  std::vector<Thread> threads;
  std::vector<std::pair<std::string, std::string>> descriptions;  // kind, a JSON object
  Stops stops;
  std::vector<std::string> problems;
};

// Record counts of a capture's streams, found without decoding.
struct RecordCounts {
  uint64_t threads = 0;
  uint64_t calls = 0;
  uint64_t stacks = 0;
  uint64_t verified = 0;   // stacks compared with libgcc's walk (FRAMEDEX_VERIFY=1)
  uint64_t different = 0;  // of those, how many differed
  Stops stops;
};
RecordCounts count_records(const std::string& folder);

// Returns whether recording was stopped before the process ended, according to process.fdx.
bool was_stopped(const std::string& folder);

// Returns the line of an instruction (byte offset) from a code object's location table; 0 if it has none.
int32_t line_of(const std::string& line_table, int32_t first_line, uint64_t instruction);

}  // namespace framedex::capture
