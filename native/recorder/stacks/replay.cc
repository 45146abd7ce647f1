#include "recorder/stacks/replay.h"

namespace framedex::recorder {

bool log_native_reads(const WalkedFrame* frames, size_t count, ReadLog* log, bool* needs_start_rbp) {
  // From the outermost frame inwards, to know whether the rbp that a frame hands to its caller is used further out. The
  // order is free here: all of this is the thread's own stack.
  ReadLog::Writer writer(log);
  bool is_used = false;
  for (size_t i = count; i-- > 0;) {
    const WalkedFrame& frame = frames[i];
    FrameRule rule = frame.rule;
    if (rule.needs_care() && !rule.is_known_end()) return false;
    if (i + 1 < count) {
      uintptr_t cfa = frames[i + 1].sp;
      writer.word(cfa - 8, frames[i + 1].pc);
      if (is_used && rule.saves_rbp()) {
        writer.word(cfa + static_cast<uintptr_t>(rule.saved_rbp_offset()), frames[i + 1].rbp);
      }
    }
    is_used = (is_used && !rule.saves_rbp()) || rule.cfa_from_rbp();
  }
  *needs_start_rbp = is_used;
  return true;
}

}  // namespace framedex::recorder
