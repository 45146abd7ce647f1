// Merges the native and Python frames of one thread into one stack.
#pragma once

#include <cstddef>
#include <cstdint>

#include "recorder/format/capture_format.h"
#include "recorder/walks/python_runtime.h"
#include "recorder/walks/unwinder.h"

namespace framedex::recorder {

// A frame in two words, so that stacks are compared and hashed as plain memory. Native: {pc, 0}. Python: {code address,
// instruction | flags | identity << 32}.
struct MergedFrame {
  uint64_t first;
  uint64_t second;

  static MergedFrame native(const WalkedFrame& frame) { return {frame.pc, 0}; }
  static MergedFrame python(const PythonFrame& frame) {
    uint32_t flags = frame.is_returning ? kPython | kReturning : kPython;
    return {frame.code, flags | (frame.instruction & ~kFlags) | uint64_t{frame.identity} << 32};
  }
  bool is_python() const { return (second & kPython) != 0; }
  bool is_returning() const { return (second & kReturning) != 0; }
  uint32_t instruction() const { return static_cast<uint32_t>(second) & ~kFlags; }
  uint32_t identity() const { return static_cast<uint32_t>(second >> 32); }

 private:
  static constexpr uint32_t kPython = 0x80000000;
  static constexpr uint32_t kReturning = 0x40000000;
  static constexpr uint32_t kFlags = kPython | kReturning;
};

struct MergedStack {
  capture::MergeOutcome outcome;
  size_t frame_count;         // merged frames, or the native ones
  size_t python_count;        // Python frames after them, if the two could not be merged
  bool is_truncated = false;  // deeper than the recorder walks
};

// Writes the merged stack, innermost first, into `merged`, which has room for all native and Python frames.
//
// The Python chain consists of runs, one per evaluator frame on the native stack. A run's evaluator is the native frame
// whose part of the stack contains the run's marker. The run replaces it. Where the evaluator's symbol is known, the
// rules' marks cross-check the result.
MergedStack merge(const NativeStack& native, const PythonFrame* python, size_t python_count, bool has_evaluator,
                  MergedFrame* merged);

}  // namespace framedex::recorder
