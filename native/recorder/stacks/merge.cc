#include "recorder/stacks/merge.h"

#include <algorithm>

namespace framedex::recorder {

using capture::MergeOutcome;

namespace {

MergedStack build_unmerged(const NativeStack& native, const PythonFrame* python, size_t python_count,
                           MergeOutcome reason, MergedFrame* merged) {
  size_t count = 0;
  for (size_t i = 0; i < native.count(); ++i) merged[count++] = MergedFrame::native(native.frames()[i]);
  size_t python_kept = 0;
  for (size_t i = 0; i < python_count; ++i) {
    if (python[i].is_shim) continue;
    merged[count++] = MergedFrame::python(python[i]);
    ++python_kept;
  }
  return {reason, native.count(), python_kept};
}

// Returns whether an address is in a frame's part of the stack. The part of the outermost frame extends to the stack's
// end, unless the frame has no unwind information: then its end is unknown.
bool contains(const WalkedFrame* frame, const WalkedFrame* native_end, uintptr_t address) {
  if (address < frame->sp) return false;
  return frame + 1 != native_end ? address < frame[1].sp : !frame->rule.is_unknown();
}

}  // namespace

MergedStack merge(const NativeStack& native, const PythonFrame* python, size_t python_count, bool has_evaluator,
                  MergedFrame* merged) {
  auto two_stacks = [&](MergeOutcome reason) { return build_unmerged(native, python, python_count, reason, merged); };
  const WalkedFrame* host = native.frames();
  const WalkedFrame* const native_end = host + native.count();
  const PythonFrame* frame = python;
  const PythonFrame* const python_end = python + python_count;
  MergedFrame* end = merged;
  while (frame != python_end) {
    const PythonFrame* last = frame;
    while (last != python_end && last->marker == 0) ++last;
    if (last == python_end) return two_stacks(MergeOutcome::kNoHost);

    const WalkedFrame* inner = host;
    auto holds_run = [&](const WalkedFrame& one) { return contains(&one, native_end, last->marker); };
    auto is_host = [&](const WalkedFrame& one) { return has_evaluator ? one.rule.is_evaluator() : holds_run(one); };
    while (host != native_end && !is_host(*host)) *end++ = MergedFrame::native(*host++);
    if (host == native_end || !holds_run(*host)) {
      bool is_other_frame = std::any_of(inner, host, holds_run);
      return two_stacks(is_other_frame       ? MergeOutcome::kHostMismatch
                        : host == native_end ? MergeOutcome::kNoHost
                                             : MergeOutcome::kCountMismatch);
    }

    const MergedFrame* run = end;
    for (; frame <= last; ++frame) {
      if (!frame->is_shim) *end++ = MergedFrame::python(*frame);
    }
    // An evaluator that has already left its last Python frame stays a native frame.
    if (end == run) *end++ = MergedFrame::native(*host);
    ++host;
  }
  for (; host != native_end; ++host) {
    if (python_count > 0 && host->rule.is_evaluator()) return two_stacks(MergeOutcome::kCountMismatch);
    *end++ = MergedFrame::native(*host);
  }
  return {MergeOutcome::kMerged, static_cast<size_t>(end - merged), 0};
}

}  // namespace framedex::recorder
