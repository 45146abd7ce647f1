#include "call_stream/causal_links.h"

#include <algorithm>

#include "call_stream/times.h"

namespace framedex::call_stream {
namespace {

constexpr size_t kMaxCandidates = 8;  // more are not informative

// The number of unreturned calls without Python to keep waiting for. If there are more, their returns were lost.
constexpr int64_t kMaxUnreturned = 64;

int64_t end_of(const RecordedCall& call) { return call.duration < 0 ? kForever : sum(call.start, call.duration); }

}  // namespace

int64_t CausalLinks::PythonThread::end() const { return unreturned != 0 ? kForever : busy_until; }

void CausalLinks::add(const RecordedCall& call) {
  go_to(call.start);
  bool is_outermost = call.outermost == call.row;
  auto python = python_.find(call.thread);
  if (python != python_.end()) {
    if (is_outermost) add_python(call, &python->second);
    for (Piece piece : work_.taken_by(call)) take(piece, call);
    return;
  }
  if (python_.empty()) return;
  Piece piece = work_.work_on(call);
  if (is_outermost) {
    begin_root(call, piece);
  } else {
    add_nested(call);
  }
  for (Piece lost : work_.take_lost()) lose(lost);
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
  Piece piece = work_.work_on(call);
  for (Root& root : roots_) {
    if (root.row != call.row) continue;
    root.end = end_of(call);
    root.fate.piece = piece;
    next_change_ = std::min(next_change_, root.end);
  }
  for (Piece lost : work_.take_lost()) lose(lost);
}

void CausalLinks::finish() {
  go_to(kForever);
  roots_.clear();
  for (CallGroups::Group& group : groups_.take_all()) {
    group.fate.piece = kNoPiece;
    group.fate.paused.clear();
    keep(std::move(group.fate), group.rows);
  }
}

// Advances to a time: settles the calls without Python that began before it, and moves those that ended by then to
// their groups.
void CausalLinks::go_to(int64_t time) {
  if (time < next_change_) return;
  next_change_ = kForever;
  std::vector<Root> still;
  for (Root& root : roots_) {
    if (!root.is_settled && root.start < time) settle(&root);
    bool is_over = root.is_settled && root.end <= time && root.end != kForever;
    if (root.is_settled && root.fate.is_hopeless()) continue;
    if (is_over) {
      keep(std::move(root.fate), root.rows);
      continue;
    }
    next_change_ = std::min(next_change_, root.is_settled ? root.end : root.start + 1);
    still.push_back(std::move(root));
  }
  roots_ = std::move(still);
}

// Finds the threads with Python that pause around a call, and those that may.
void CausalLinks::settle(Root* root) {
  root->is_settled = true;
  for (const auto& [number, thread] : python_) {
    if (!thread.has_calls()) continue;
    if (root->end == root->start && thread.last_start == root->start) {
      bool is_paused = thread.before_last_start.row != kNoRow && thread.busy_before <= root->start;
      if (is_paused) add_pause(number, thread.before_last_start, thread.first_at_last_start, &root->fate);
    } else if (thread.end() <= root->start) {
      root->fate.paused.push_back(number);
    }
  }
  if (root->taken_in != kNoRow) hand_over(root->taken_by, root->taken_in, &root->fate, root->rows);
}

// Adds the pause between two calls of a thread, unless their stacks share no Python.
void CausalLinks::add_pause(uint32_t thread, const OutermostCall& before, const OutermostCall& after, CallGroup* fate) {
  SharedChains::SharedChain shared = chains_.of(before.stack, after.stack);
  if (shared.chain == SharedChains::kNoChain) return;
  CallGap pause{thread, shared.chain, shared.is_one_line, after.row};
  auto place =
      std::find_if(fate->pauses.begin(), fate->pauses.end(), [&](const CallGap& p) { return p.thread > thread; });
  fate->pauses.insert(place, pause);
}

void CausalLinks::add_python(const RecordedCall& call, PythonThread* thread) {
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

// Handles a call of a thread: the thread did not wait for calls that are still open, but may have waited for those that
// have ended.
void CausalLinks::end_pauses(const RecordedCall& call, const PythonThread& thread) {
  for (Root& root : roots_) {
    std::vector<uint32_t>& paused = root.fate.paused;
    paused.erase(std::remove(paused.begin(), paused.end(), call.thread), paused.end());
  }
  for (CallGroups::Group& group : groups_.take_ended_by(call.thread)) {
    for (CallGap& pause : group.fate.pauses) {
      if (pause.thread == call.thread) pause.after = kNoRow;
    }
    keep(std::move(group.fate), group.rows);
  }
  for (CallGroups::Group& group : groups_.take_waiting_for(call.thread)) {
    std::vector<uint32_t>& paused = group.fate.paused;
    paused.erase(std::remove(paused.begin(), paused.end(), call.thread), paused.end());
    add_pause(call.thread, thread.last, {call.row, call.stack}, &group.fate);
    keep(std::move(group.fate), group.rows);
  }
}

// Handles a thread with Python receiving the object of a piece of work.
void CausalLinks::take(Piece piece, const RecordedCall& call) {
  for (CallGroups::Group& group : groups_.take_of(piece)) {
    hand_over(call.thread, call.outermost, &group.fate, group.rows);
    keep(std::move(group.fate), group.rows);
  }
  for (Root& root : roots_) {
    if (root.fate.piece != piece) continue;
    root.taken_in = call.outermost;
    root.taken_by = call.thread;
    if (root.is_settled) hand_over(call.thread, call.outermost, &root.fate, root.rows);
  }
}

// Handles a piece whose objects no thread can receive any more.
void CausalLinks::lose(Piece piece) {
  for (CallGroups::Group& group : groups_.take_of(piece)) {
    group.fate.piece = kNoPiece;
    keep(std::move(group.fate), group.rows);
  }
  for (Root& root : roots_) {
    if (root.fate.piece == piece) root.fate.piece = kNoPiece;
  }
}

void CausalLinks::begin_root(const RecordedCall& call, Piece piece) {
  Root root{call.row, call.thread, call.start, end_of(call), false, {}, {}, kNoRow, 0};
  root.fate.piece = piece;
  root.fate.is_destruction = work_.function(call.function).destroys();
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

// Keeps calls until their fate is decided.
void CausalLinks::keep(CallGroup fate, const Rows& rows) {
  if (fate.is_hopeless()) return;
  if (fate.is_decided()) return judge(fate, rows);
  if (fate.piece == kNoPiece) {
    // Only objects that are handed over depend on the call that ended a pause.
    for (CallGap& pause : fate.pauses) pause.after = kNoRow;
  }
  groups_.add(std::move(fate), rows);
}

// Links calls without a received object to the threads that may have caused them.
void CausalLinks::judge(const CallGroup& fate, const Rows& rows) {
  auto count = static_cast<size_t>(
      std::count_if(fate.pauses.begin(), fate.pauses.end(), [this](const CallGap& pause) { return may_be_it(pause); }));
  if (lacks_calls_ || count > kMaxCandidates) return;
  for (const CallGap& pause : fate.pauses) {
    if (may_be_it(pause)) link(rows, pause, count == 1 ? LinkEvidence::kBetween : LinkEvidence::kCandidates);
  }
}

// Handles a thread receiving, in this outermost call, an object that the calls created. If the thread waited until then
// and no other event can matter, they are linked; otherwise no other thread can be their cause.
void CausalLinks::hand_over(uint32_t thread, uint64_t outermost, CallGroup* fate, const Rows& rows) {
  CallGroup rest;
  for (const CallGap& pause : fate->pauses) {
    if (pause.thread == thread) rest.pauses.push_back(pause);
  }
  for (uint32_t paused : fate->paused) {
    if (paused == thread) rest.paused.push_back(paused);
  }
  if (!rest.pauses.empty() && rest.pauses.front().after == outermost) {
    link(rows, rest.pauses.front(), LinkEvidence::kHandedOver);
    rest = CallGroup();
  }
  *fate = std::move(rest);
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
