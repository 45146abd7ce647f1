#include "call_stream/causal_links.h"

#include <algorithm>

#include "call_stream/times.h"

namespace framedex::call_stream {
namespace {

constexpr size_t kMaxCandidates = 8;  // a longer list of candidates would not help the user

// The maximum number of unreturned calls without Python to keep. If there are more, their returns were lost.
constexpr int64_t kMaxUnreturned = 64;

int64_t end_of(const RecordedCall& call) { return call.duration < 0 ? kForever : sum(call.start, call.duration); }

}  // namespace

int64_t CausalLinks::PythonThread::end() const { return unreturned != 0 ? kForever : busy_until; }

void CausalLinks::add(const RecordedCall& call) {
  advance_to(call.start);
  bool is_outermost = call.outermost == call.row;
  auto python = python_.find(call.thread);
  if (python != python_.end()) {
    if (is_outermost) add_python_call(call, &python->second);
    for (WorkId piece : work_.take_received(call)) receive_piece(piece, call);
    return;
  }
  if (python_.empty()) return;
  WorkId piece = work_.assign_piece(call);
  if (is_outermost) {
    begin_root(call, piece);
  } else {
    add_nested(call);
  }
  for (WorkId lost : work_.take_lost()) drop_piece(lost);
}

void CausalLinks::returned(const RecordedCall& call) {
  auto python = python_.find(call.thread);
  if (python != python_.end()) {
    if (call.outermost != call.row) return;
    if (python->second.unreturned != 0) --python->second.unreturned;
    python->second.busy_until = std::max(python->second.busy_until, end_of(call));
    return;
  }
  if (python_.empty()) return;
  WorkId piece = work_.assign_piece(call);
  for (Root& root : roots_) {
    if (root.row != call.row) continue;
    root.end = end_of(call);
    root.candidates.piece = piece;
    next_change_ = std::min(next_change_, root.end);
  }
  for (WorkId lost : work_.take_lost()) drop_piece(lost);
}

void CausalLinks::finish() {
  advance_to(kForever);
  roots_.clear();
  for (CallGroups::Group& group : groups_.take_all()) {
    group.candidates.piece = kNoWork;
    group.candidates.paused.clear();
    keep(std::move(group.candidates), group.rows);
  }
}

// Advances to a time: settles the calls without Python that began before it, and moves the calls that ended by then
// to their groups.
void CausalLinks::advance_to(int64_t time) {
  if (time < next_change_) return;
  next_change_ = kForever;
  std::vector<Root> remaining;
  for (Root& root : roots_) {
    if (!root.is_settled && root.start < time) settle(&root);
    bool is_over = root.is_settled && root.end <= time && root.end != kForever;
    if (root.is_settled && root.candidates.is_empty()) continue;
    if (is_over) {
      keep(std::move(root.candidates), root.rows);
      continue;
    }
    next_change_ = std::min(next_change_, root.is_settled ? root.end : root.start + 1);
    remaining.push_back(std::move(root));
  }
  roots_ = std::move(remaining);
}

// Finds the Python threads that pause around a call, and those whose pause may still turn out to be one.
void CausalLinks::settle(Root* root) {
  root->is_settled = true;
  for (const auto& [number, thread] : python_) {
    if (!thread.has_calls()) continue;
    if (root->end == root->start && thread.last_start == root->start) {
      bool is_paused = thread.before_last_start.row != kNoRow && thread.busy_before <= root->start;
      if (is_paused) add_pause(number, thread.before_last_start, thread.first_at_last_start, &root->candidates);
    } else if (thread.end() <= root->start) {
      root->candidates.paused.push_back(number);
    }
  }
  if (root->receiver_call != kNoRow)
    receive_object(root->receiver_thread, root->receiver_call, &root->candidates, root->rows);
}

// Adds the pause between two calls of a thread if their stacks share Python frames.
void CausalLinks::add_pause(uint32_t thread, const OutermostCall& before, const OutermostCall& after,
                            LinkCandidates* candidates) {
  SharedChains::SharedChain shared = chains_.find(before.stack, after.stack);
  if (shared.chain == SharedChains::kNoChain) return;
  CallGap pause{thread, shared.chain, shared.is_one_line, after.row};
  auto position = std::find_if(candidates->pauses.begin(), candidates->pauses.end(),
                               [&](const CallGap& p) { return p.thread > thread; });
  candidates->pauses.insert(position, pause);
}

void CausalLinks::add_python_call(const RecordedCall& call, PythonThread* thread) {
  end_pauses(call, *thread);
  OutermostCall made{call.row, call.stack};
  if (!thread->has_calls() || thread->last_start != call.start) {
    thread->before_last_start = thread->last;
    thread->busy_before = thread->end();
    thread->first_at_last_start = made;
    thread->last_start = call.start;
  }
  thread->last = made;
  if (call.duration < 0) ++thread->unreturned;
  if (call.duration >= 0) thread->busy_until = std::max(thread->busy_until, end_of(call));
}

// Ends the pauses of a thread that makes a call: it did not wait for calls that are still open, but may have waited for
// calls that have ended.
void CausalLinks::end_pauses(const RecordedCall& call, const PythonThread& thread) {
  for (Root& root : roots_) {
    std::vector<uint32_t>& paused = root.candidates.paused;
    paused.erase(std::remove(paused.begin(), paused.end(), call.thread), paused.end());
  }
  for (CallGroups::Group& group : groups_.take_ended_by(call.thread)) {
    for (CallGap& pause : group.candidates.pauses) {
      if (pause.thread == call.thread) pause.next_row = kNoRow;
    }
    keep(std::move(group.candidates), group.rows);
  }
  for (CallGroups::Group& group : groups_.take_waiting_for(call.thread)) {
    std::vector<uint32_t>& paused = group.candidates.paused;
    paused.erase(std::remove(paused.begin(), paused.end(), call.thread), paused.end());
    add_pause(call.thread, thread.last, {call.row, call.stack}, &group.candidates);
    keep(std::move(group.candidates), group.rows);
  }
}

// Records that a Python thread has received the object of a piece of work.
void CausalLinks::receive_piece(WorkId piece, const RecordedCall& call) {
  for (CallGroups::Group& group : groups_.take_piece(piece)) {
    receive_object(call.thread, call.outermost, &group.candidates, group.rows);
    keep(std::move(group.candidates), group.rows);
  }
  for (Root& root : roots_) {
    if (root.candidates.piece != piece) continue;
    root.receiver_call = call.outermost;
    root.receiver_thread = call.thread;
    if (root.is_settled) receive_object(call.thread, call.outermost, &root.candidates, root.rows);
  }
}

// Forgets a piece whose objects no thread can receive any more.
void CausalLinks::drop_piece(WorkId piece) {
  for (CallGroups::Group& group : groups_.take_piece(piece)) {
    group.candidates.piece = kNoWork;
    keep(std::move(group.candidates), group.rows);
  }
  for (Root& root : roots_) {
    if (root.candidates.piece == piece) root.candidates.piece = kNoWork;
  }
}

void CausalLinks::begin_root(const RecordedCall& call, WorkId piece) {
  Root root{call.row, call.thread, call.start, end_of(call), false, {}, {}, kNoRow, 0};
  root.candidates.piece = piece;
  root.candidates.is_destruction = work_.function(call.function).destroys();
  root.rows.add(call.row);
  if (root.end == kForever) {
    auto is_unreturned = [](const Root& each) { return each.end == kForever; };
    if (std::count_if(roots_.begin(), roots_.end(), is_unreturned) == kMaxUnreturned) {
      roots_.erase(std::find_if(roots_.begin(), roots_.end(), is_unreturned));
    }
  }
  roots_.push_back(std::move(root));
  next_change_ = std::min(next_change_, call.start + 1);
}

// A nested call has the cause of its enclosing call.
void CausalLinks::add_nested(const RecordedCall& call) {
  for (Root& root : roots_) {
    if (root.row == call.outermost) root.rows.add(call.row);
  }
}

// Stores calls until their links are decided.
void CausalLinks::keep(LinkCandidates candidates, const Rows& rows) {
  if (candidates.is_empty()) return;
  if (candidates.is_decided()) return link_to_candidates(candidates, rows);
  if (candidates.piece == kNoWork) {
    // Only for calls with an object to receive does it matter which call ended a pause.
    for (CallGap& pause : candidates.pauses) pause.next_row = kNoRow;
  }
  groups_.add(std::move(candidates), rows);
}

// Links calls without a received object to the threads that may have caused them.
void CausalLinks::link_to_candidates(const LinkCandidates& candidates, const Rows& rows) {
  auto count = static_cast<size_t>(std::count_if(candidates.pauses.begin(), candidates.pauses.end(),
                                                 [this](const CallGap& pause) { return may_be_cause(pause); }));
  if (lacks_calls_ || count > kMaxCandidates) return;
  for (const CallGap& pause : candidates.pauses) {
    if (may_be_cause(pause)) link(rows, pause, count == 1 ? LinkEvidence::kBetween : LinkEvidence::kCandidates);
  }
}

// Records that a thread received, in this outermost call, an object that the calls created. If the thread waited until
// then and no other event can matter, the calls are linked; otherwise no other thread can be their cause.
void CausalLinks::receive_object(uint32_t thread, uint64_t outermost, LinkCandidates* candidates, const Rows& rows) {
  LinkCandidates rest;
  for (const CallGap& pause : candidates->pauses) {
    if (pause.thread == thread) rest.pauses.push_back(pause);
  }
  for (uint32_t paused : candidates->paused) {
    if (paused == thread) rest.paused.push_back(paused);
  }
  if (!rest.pauses.empty() && rest.pauses.front().next_row == outermost) {
    link(rows, rest.pauses.front(), LinkEvidence::kHandedOver);
    rest = LinkCandidates();
  }
  *candidates = std::move(rest);
}

void CausalLinks::link(const Rows& rows, const CallGap& pause, LinkEvidence how) {
  rows.each([&](uint64_t row) {
    links_.call.push_back(row);
    links_.thread.push_back(pause.thread);
    links_.chain.push_back(pause.chain);
    links_.how.push_back(how);
  });
}

}  // namespace framedex::call_stream
