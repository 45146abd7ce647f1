// Causal links: from a call on a native thread to the Python stack that caused it.
//
// XLA compiles on its own threads while the Python thread that requested it waits in one native call. That thread makes
// no calls meanwhile, but often makes calls just before and after, from the same Python code. It waited in the part
// that those two stacks share. This is an inference: a link records its evidence, and is never part of the stack.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "call_stream/call_groups.h"
#include "call_stream/recorded_call.h"
#include "call_stream/shared_chains.h"
#include "call_stream/work_tracker.h"

namespace framedex::call_stream {

// As in framedex.model.LinkHow.
enum class LinkEvidence : uint8_t { kHandedOver, kBetween, kCandidates };

// Calls by row, each with a thread that caused it; `chain` is an index in CausalLinks::chains().
struct LinkRows {
  std::vector<uint64_t> call;
  std::vector<uint32_t> thread;
  std::vector<uint32_t> chain;
  std::vector<LinkEvidence> how;
};

class CausalLinks {
 public:
  // The capture's tables may grow, and must outlive this. `lacks_calls`: the recording omitted calls, so a thread
  // without calls may have made some.
  CausalLinks(const ObjectTable& table, const std::vector<capture::Stack>& stacks,
              const std::vector<capture::Frame>& frames, bool lacks_calls)
      : work_(table), chains_(stacks, frames), lacks_calls_(lacks_calls) {}

  void add_function(const std::string& name, const std::vector<std::string>& value_names) {
    work_.add_function(name, value_names);
  }
  // Marks a thread as running Python: one of its calls has a stack with Python. Call before the first call of the
  // capture, if links must not depend on which calls come first.
  void add_python_thread(uint32_t thread) { python_.try_emplace(thread); }
  // Adds the next call, ordered by start.
  void add(const RecordedCall& call);
  // Records the return of a call that was added before it returned.
  void returned(const RecordedCall& call);
  // Call after the last call.
  void finish();

  // Returns the links decided since the last take, in no particular order.
  LinkRows take_links() { return std::exchange(links_, {}); }
  const std::vector<std::vector<uint32_t>>& chains() const { return chains_.chains(); }

 private:
  struct OutermostCall {  // an outermost call of a Python thread
    uint64_t row = kNoRow;
    uint32_t stack = 0;
  };
  // The calls so far of a Python thread.
  struct PythonThread {
    int64_t busy_until = INT64_MIN;
    uint64_t unreturned = 0;  // calls
    OutermostCall last;
    // The first call that began at the same time as the last one, the call before it, and the time until which earlier
    // calls lasted.
    int64_t last_start = 0;
    OutermostCall first_at_last_start;
    OutermostCall before_last_start;
    int64_t busy_before = 0;

    bool has_calls() const { return last.row != kNoRow; }
    int64_t end() const;
  };
  // An outermost call without Python that is still open, with its inner calls.
  struct Root {
    uint64_t row;
    uint32_t thread;
    int64_t start;
    int64_t end;
    bool is_settled;  // whether all calls with its start time are known
    LinkCandidates candidates;
    Rows rows;
    uint64_t
        receiver_call;  // the outermost call in which a Python thread received its object; kNoRow: none so far
    uint32_t receiver_thread;
  };

  void advance_to(int64_t time);
  void settle(Root* root);
  void add_pause(uint32_t thread, const OutermostCall& before, const OutermostCall& after, LinkCandidates* candidates);
  void add_python_call(const RecordedCall& call, PythonThread* thread);
  void end_pauses(const RecordedCall& call, const PythonThread& thread);
  void receive_piece(WorkId piece, const RecordedCall& call);
  void drop_piece(WorkId piece);
  void begin_root(const RecordedCall& call, WorkId piece);
  void add_nested(const RecordedCall& call);
  void keep(LinkCandidates candidates, const Rows& rows);
  void link_to_candidates(const LinkCandidates& candidates, const Rows& rows);
  void receive_object(uint32_t thread, uint64_t outermost, LinkCandidates* candidates, const Rows& rows);
  void link(const Rows& rows, const CallGap& pause, LinkEvidence how);
  bool may_be_cause(const CallGap& pause) const { return pause.is_one_line || python_.size() == 1; }

  WorkTracker work_;
  SharedChains chains_;
  bool lacks_calls_;
  std::map<uint32_t, PythonThread> python_;
  std::vector<Root> roots_;
  int64_t next_change_ = INT64_MAX;  // when a root next has to be settled or ends
  CallGroups groups_;
  LinkRows links_;
};

}  // namespace framedex::call_stream
