// Kinds of calls, and totals by kind.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace framedex::call_stream {

// The properties shared by calls of a kind, as indexes in the capture's tables, and the error code.
struct CallKind {
  uint32_t function;
  uint32_t thread;
  uint32_t stack;
  int32_t error;

  bool operator==(const CallKind& other) const {
    return function == other.function && thread == other.thread && stack == other.stack && error == other.error;
  }
};

// Numbers kinds in order of first appearance.
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

// Columns of equal length: additions since the last take. Durations are in nanoseconds.
struct KindTotals {
  std::vector<int64_t> kind, calls, duration, own_duration, longest, longest_call, first_call, latest_call;
};

class Totals {
 public:
  // Counts a call. `duration` is 0 if it has not returned.
  void add(uint32_t kind, uint64_t row, int64_t duration);
  // Adds a call's own time, without its inner calls.
  void add_own(uint32_t kind, int64_t duration);
  // Returns the additions since the last take.
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

// The smallest few arguments of each kind's calls.
class Samples {
 public:
  void add(uint32_t kind, uint32_t argument);
  // Returns flat pairs (kind, argument) of the kinds whose samples changed since the last take.
  std::vector<int64_t> take();

 private:
  static constexpr size_t kMost = 4;
  static constexpr uint32_t kNone = UINT32_MAX;
  struct KindArguments {
    std::array<uint32_t, kMost> arguments{kNone, kNone, kNone, kNone};
    uint32_t last = kNone;  // the latest one examined
    bool is_touched = false;
  };

  std::vector<KindArguments> of_kind_;
  std::vector<uint32_t> touched_;
};

// The rows of each kind's calls: the first and last in each block of 256 rows, counted from row 0.
class Spans {
 public:
  void add(uint32_t kind, uint64_t row);
  // Returns flat triples (kind, first row, last row) since the last take.
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

// Histograms of call durations, by function and thread.
class Durations {
 public:
  void add(uint32_t kind, const CallKind& what, int64_t duration);
  // Returns flat rows (function, thread, bucket, calls) since the last take.
  std::vector<int64_t> take();

  // Returns a duration's bucket. Durations with the same first seven binary digits share one.
  static uint32_t bucket_of(uint64_t duration);

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Counts {
    uint32_t function;
    uint32_t thread;
    bool is_touched = false;
    std::vector<uint32_t> of_bucket;
  };

  uint32_t index_of(const CallKind& what);

  std::vector<Counts> counts_;
  std::vector<uint32_t> of_kind_;
  std::vector<std::vector<uint32_t>> of_thread_;
  std::vector<uint32_t> touched_;
};

}  // namespace framedex::call_stream
