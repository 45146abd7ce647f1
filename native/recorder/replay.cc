#include "recorder/replay.h"

namespace framedex::recorder {

bool log_native_reads(const NativeFrame* frames, size_t count, ReadLog* log, bool* needs_start_rbp) {
  // From the outermost frame inwards: is the rbp that this frame hands to its caller used by a rule further out?
  std::vector<bool> restores_used_rbp(count);
  bool is_used = false;
  for (size_t i = count; i-- > 0;) {
    FrameRule rule = frames[i].rule;
    if (rule.is_unknown() || rule.is_exotic() || rule.cfa_is_indirect()) return false;
    restores_used_rbp[i] = is_used && rule.saves_rbp();
    if (rule.saves_rbp()) is_used = false;
    if (!rule.is_end() && rule.cfa_from_rbp()) is_used = true;
  }
  *needs_start_rbp = is_used;
  for (size_t i = 0; i + 1 < count; ++i) {
    const NativeFrame& frame = frames[i];
    log->word(frame.end - 8, frames[i + 1].pc);
    if (restores_used_rbp[i])
      log->word(frame.end + static_cast<uintptr_t>(frame.rule.saved_rbp_offset()), frames[i + 1].rbp);
  }
  return true;
}

}  // namespace framedex::recorder
