// Kinds of calls, and what calls add to the totals of their kinds.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace framedex::call_stream {

// What calls of a capture have in common, as places in its tables, and the error code.
struct CallKind {
  uint32_t function;
  uint32_t thread;
  uint32_t stack;
  int32_t error;

  bool operator==(const CallKind& other) const {
    return function == other.function && thread == other.thread && stack == other.stack && error == other.error;
  }
};

// Numbers kinds in the order in which they are met.
class Kinds {
 public:
  uint32_t number_of(const CallKind& kind);
  const std::vector<CallKind>& all() const { return kinds_; }

 private:
  struct Hash {
    size_t operator()(const CallKind& kind) const;
  };

  std::vector<CallKind> kinds_;
  std::vector<uint32_t> last_of_stack_;
  std::unordered_map<CallKind, uint32_t, Hash> numbers_;
};

// Columns of equal length: what was added since they were last taken. Durations are nanoseconds.
struct KindTotals {
  std::vector<int64_t> kind, calls, duration, own_duration, longest, longest_call, first_call, latest_call;
};

class Totals {
 public:
  // Counts a call; `duration` is 0 if it has not returned.
  void add(uint32_t kind, uint64_t row, int64_t duration);
  // Counts the time of a call that no call within it took.
  void add_own(uint32_t kind, int64_t duration);
  // What has come since this was last asked for.
  KindTotals take();

 private:
  struct Total {
    bool is_touched = false;
    int64_t calls = 0;
    int64_t duration = 0;
    int64_t own_duration = 0;
    int64_t longest = -1;
    int64_t longest_call = 0;
    int64_t first_call = 0;
    int64_t latest_call = 0;
  };
  Total& touch(uint32_t kind);

  std::vector<Total> totals_;  // by kind
  std::vector<uint32_t> touched_;
};

// The smallest few arguments that calls of each kind were made with.
class Samples {
 public:
  void add(uint32_t kind, uint32_t argument);
  // Pairs (kind, argument) of the kinds whose samples have changed since this was last asked for, one after the other.
  std::vector<int64_t> take();

 private:
  static constexpr size_t kMost = 4;
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Few {
    std::array<uint32_t, kMost> arguments{kNone, kNone, kNone, kNone};
    uint32_t last = kNone;  // that was looked at
    bool is_touched = false;
  };

  std::vector<Few> of_kind_;
  std::vector<uint32_t> touched_;
};

// Where calls of each kind are: of each 256 rows, counted from row 0, the first and the last.
class Spans {
 public:
  void add(uint32_t kind, uint64_t row);
  // Triples (kind, first row, last row) since this was last asked for, one after the other.
  std::vector<int64_t> take();

 private:
  static constexpr unsigned kBlockBits = 8;
  struct Span {
    bool is_open = false;
    uint64_t first = 0;
    uint64_t last = 0;
  };
  void close();

  uint64_t block_ = 0;
  std::vector<Span> of_kind_;
  std::vector<uint32_t> open_;
  std::vector<int64_t> found_;
};

// How many calls of each function and thread took how long.
class Durations {
 public:
  void add(uint32_t kind, const CallKind& what, int64_t duration);
  // Rows (function, thread, bucket, calls) since this was last asked for, one after the other.
  std::vector<int64_t> take();

  // Durations that are equal in their first seven binary digits share a bucket.
  static uint32_t bucket_of(uint64_t duration);

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Counts {
    uint32_t function;
    uint32_t thread;
    bool is_touched = false;
    std::vector<uint32_t> of_bucket;
  };

  uint32_t place_of(const CallKind& what);

  std::vector<Counts> counts_;
  std::vector<uint32_t> of_kind_;
  std::vector<std::vector<uint32_t>> of_thread_;
  std::vector<uint32_t> touched_;
};

}  // namespace framedex::call_stream
