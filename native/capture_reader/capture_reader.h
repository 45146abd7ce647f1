// What a capture holds but for its calls: plain tables, with the streams of all threads joined.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "capture_reader/stops.h"
#include "recorder/format/capture_format.h"

namespace framedex::capture {

// The file of a module as it was when the module was met; zeros if it is not known.
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

// Native: `owner` is a module (-1: none), `offset` bytes from its base. Python: `owner` is a code object, `offset` its
// instruction in bytes, `line` what the location table says of it (0: nothing); `is_returning` as in FrameRecord.
struct Frame {
  FrameLanguage language;
  int64_t owner;
  uint64_t offset;
  int32_t line;
  bool is_returning;
};

struct Stack {
  std::string outcome;  // of merging, as framedex.model.MergeOutcome calls it
  bool is_truncated;    // its outermost frames are missing
  std::vector<uint32_t> frames;
  std::vector<uint32_t> python;
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

// What the streams of a capture hold, counted without decoding them.
struct RecordCounts {
  uint64_t threads = 0;
  uint64_t calls = 0;
  uint64_t stacks = 0;
  uint64_t verified = 0;   // stacks compared with libgcc's walk (FRAMEDEX_VERIFY=1)
  uint64_t different = 0;  // of those, how many differed
  Stops stops;
};
RecordCounts count_records(const std::string& folder);

// Whether recording was switched off before the process ended, as process.fdx says.
bool was_stopped(const std::string& folder);

// The line of an instruction (byte offset) by a code object's location table; 0 if the table has none.
int32_t line_of(const std::string& line_table, int32_t first_line, uint64_t instruction);

}  // namespace framedex::capture
