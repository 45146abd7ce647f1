#include "recorder/stacks/merge.h"

namespace framedex::recorder {

using capture::MergeOutcome;

namespace {

MergedStack unmerged(const WalkedFrame* native, size_t native_count, const PythonFrame* python, size_t python_count,
                     MergeOutcome reason, MergedFrame* merged) {
  size_t count = 0;
  for (size_t i = 0; i < native_count; ++i) merged[count++] = MergedFrame::native(native[i]);
  size_t python_kept = 0;
  for (size_t i = 0; i < python_count; ++i) {
    if (python[i].is_shim) continue;
    merged[count++] = MergedFrame::python(python[i]);
    ++python_kept;
  }
  return {reason, native_count, python_kept};
}

// Whether an address lies in the part of the stack that belongs to native[index]. The outermost frame's reaches to the
// stack's end, but where that of a frame without unwind information ends, nobody knows.
bool contains(const WalkedFrame* native, size_t index, size_t count, uintptr_t address) {
  if (address < native[index].sp) return false;
  return index + 1 < count ? address < native[index + 1].sp : !native[index].rule.is_unknown();
}

}  // namespace

MergedStack merge(const WalkedFrame* native, size_t native_count, const PythonFrame* python, size_t python_count,
                  bool has_evaluator, MergedFrame* merged) {
  auto two_stacks = [&](MergeOutcome reason) {
    return unmerged(native, native_count, python, python_count, reason, merged);
  };
  size_t count = 0;
  size_t next = 0;  // the first native frame not yet handed out
  for (size_t begin = 0; begin < python_count;) {
    size_t end = begin;
    while (end < python_count && python[end].marker == 0) ++end;
    if (end == python_count) return two_stacks(MergeOutcome::kNoHost);
    uintptr_t marker = python[end].marker;

    size_t host = next;
    while (host < native_count && !contains(native, host, native_count, marker)) {
      if (native[host].rule.is_evaluator()) return two_stacks(MergeOutcome::kCountMismatch);
      merged[count++] = MergedFrame::native(native[host++]);
    }
    if (host == native_count) return two_stacks(MergeOutcome::kNoHost);
    if (has_evaluator && !native[host].rule.is_evaluator()) return two_stacks(MergeOutcome::kHostMismatch);

    size_t run = count;
    for (size_t i = begin; i <= end; ++i) {
      if (!python[i].is_shim) merged[count++] = MergedFrame::python(python[i]);
    }
    // An evaluator that has already left its last Python frame stays as the native frame it is.
    if (count == run) merged[count++] = MergedFrame::native(native[host]);
    next = host + 1;
    begin = end + 1;
  }
  for (; next < native_count; ++next) {
    if (python_count > 0 && native[next].rule.is_evaluator()) return two_stacks(MergeOutcome::kCountMismatch);
    merged[count++] = MergedFrame::native(native[next]);
  }
  return {MergeOutcome::kMerged, count, 0};
}

}  // namespace framedex::recorder
