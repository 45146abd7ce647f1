// The rule that leads from a frame to its caller: the commonly used part of DWARF call frame information, in one word.
#pragma once

#include <cstdint>
#include <string_view>

namespace framedex::recorder {

// At a call site, the caller's stack pointer (the CFA) is a register plus an offset. The caller's frame pointer (fp) is
// still in its register, or saved at a fixed distance from the CFA. The position of the return address depends on the
// architecture: 8 bytes below the CFA, or next to the saved frame pointer. Rules of any other form are `exotic` and
// left to libgcc.
class FrameRule {
 public:
  FrameRule() = default;  // not initialised: a walk writes only the part of an array that it needs

  static FrameRule end() { return FrameRule(kEnd); }
  // No unwind entry covers the address: JIT code, or the end of a foreign stack.
  static FrameRule unknown() { return FrameRule(kEnd | kUnknown); }
  static FrameRule exotic() { return FrameRule(kExotic); }
  // `cfa_offset` and `saved_fp_offset` (from the CFA) must fit in 24 bits; see fits().
  static FrameRule standard(bool cfa_from_fp, bool cfa_is_indirect, int64_t cfa_offset, bool saves_fp,
                            int64_t saved_fp_offset);
  static bool fits(int64_t offset) { return offset >= -(1 << 23) && offset < (1 << 23); }
  FrameRule with_evaluator_mark() const { return FrameRule(bits_ | kEvaluator); }
  static FrameRule from_bits(uint64_t bits) { return FrameRule(bits); }

  uint64_t bits() const { return bits_; }
  // Code compiled with frame pointers: CFA = fp + 16, the caller's fp at [fp].
  bool is_frame_pointer() const { return static_cast<int64_t>(bits_) < 0; }
  bool is_end() const { return (bits_ & kEnd) != 0; }
  bool is_unknown() const { return (bits_ & kUnknown) != 0; }
  bool is_known_end() const { return (bits_ & (kEnd | kUnknown)) == kEnd; }
  bool is_exotic() const { return (bits_ & kExotic) != 0; }
  bool cfa_from_fp() const { return (bits_ & kCfaFromFp) != 0; }
  // The CFA is the word stored at register + offset (GCC's realigned stacks).
  bool cfa_is_indirect() const { return (bits_ & kCfaIndirect) != 0; }
  // On AArch64, saved_fp_offset() is the frame record's offset also if only the return address is saved.
  bool saves_fp() const { return (bits_ & kSavesFp) != 0; }
  // The frame belongs to _PyEval_EvalFrameDefault.
  bool is_evaluator() const { return (bits_ & kEvaluator) != 0; }
  int64_t cfa_offset() const { return static_cast<int64_t>(bits_ << 32) >> 40; }
  int64_t saved_fp_offset() const { return static_cast<int64_t>(bits_ << 8) >> 40; }

 private:
  enum : uint64_t {
    kEnd = 2,
    kExotic = 4,
    kCfaFromFp = 8,
    kCfaIndirect = 16,
    kSavesFp = 32,
    kEvaluator = 64,
    kUnknown = 128,
    kFramePointer = uint64_t{1} << 63,
  };

  explicit constexpr FrameRule(uint64_t bits) : bits_(bits) {}
  // Bits 0-7 flags, 8-31 CFA offset, 32-55 offset of the saved fp, 63 the frame pointer form.
  uint64_t bits_;
};

// An .eh_frame entry that covers a function (FDE), and its common entry (CIE); both without their lengths.
struct UnwindEntry {
  std::string_view common;
  std::string_view function;
};

// Returns the rule at `target`, an address in the function that begins at `begin`. Exotic if the entry cannot be
// parsed.
FrameRule rule_of_entry(const UnwindEntry& entry, uintptr_t begin, uintptr_t target);

// Computes the rule at a return address from its unwind entry. `evaluator` is the start of _PyEval_EvalFrameDefault, 0
// if unknown. Queries the loader, so it is not for the path of a repeated stack.
FrameRule compute_rule(uintptr_t return_address, uintptr_t evaluator);

}  // namespace framedex::recorder
