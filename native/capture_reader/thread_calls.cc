#include "capture_reader/thread_calls.h"

#include <algorithm>
#include <utility>

namespace framedex::capture {
namespace {

void set_return(ThreadCall* call, uint64_t time, int32_t error, std::string_view results) {
  call->end = std::max(time, call->start);
  call->error = error;
  call->has_returned = true;
  call->is_known = true;
  call->results.assign(results);
}

}  // namespace

ThreadCalls::ThreadCalls(const Definitions* definitions, ThreadStreams* streams, bool is_followed)
    : definitions_(definitions), streams_(streams), is_followed_(is_followed), ring_(64) {
  take_long_calls();
  streams->definitions->rewind();
  if (streams->ring) streams->ring->rewind();
  if (!streams->is_in_order && !is_followed) sort();
}

void ThreadCalls::take_long_calls() {
  long_calls_ = std::move(streams_->long_calls);
  streams_->long_calls.clear();
  streams_->open.each([this](uint64_t sequence, uint64_t) { long_calls_.push_back({sequence, false, 0, -1, {}}); });
  std::sort(long_calls_.begin(), long_calls_.end(),
            [](const LongCall& a, const LongCall& b) { return a.sequence < b.sequence; });
  next_long_ = 0;
}

const ThreadCall* ThreadCalls::front() { return fill(1) ? &at(0) : nullptr; }

void ThreadCalls::pop(uint64_t row) {
  if (is_followed_ && !at(0).has_returned) waiting_[popped_] = {row, at(0)};
  first_ = (first_ + 1) & (ring_.size() - 1);
  --count_;
  ++popped_;
}

void ThreadCalls::drain() {
  while (read()) {
  }
  has_ended_ = true;
}

void ThreadCalls::extend() {
  streams_->definitions->rewind();
  take_long_calls();
  has_ended_ = false;
}

std::vector<LateReturn> ThreadCalls::take_late_returns() {
  std::vector<LateReturn> taken;
  taken.swap(late_);
  return taken;
}

// Reads until there are `count` calls and the first one's return is known; false at the end of the thread's calls.
bool ThreadCalls::fill(size_t count) {
  while (!has_ended_ && (count_ < count || !at(0).is_known)) has_ended_ = !read();
  return count_ >= count;
}

bool ThreadCalls::read() {
  Record record{RecordKind::kPadding, Body({})};
  StreamReader& stream = has_definitions_left_ ? *streams_->definitions : *streams_->ring;
  if (!stream.next(&record)) {
    if (!has_definitions_left_ || !streams_->ring || !streams_->has_calls) return false;
    has_definitions_left_ = false;
    return true;
  }
  CallStart start;
  CallEnd end;
  if (record.kind == RecordKind::kCall && read_start(record, &start) &&
      !streams_->is_copy(start.sequence, last_sequence_)) {
    last_sequence_ = start.sequence;
    begin(start);
  }
  if (record.kind == RecordKind::kReturn && read_end(record, &end)) this->end(end);
  return true;
}

void ThreadCalls::begin(const CallStart& start) {
  if (count_ == ring_.size()) {
    std::rotate(ring_.begin(), ring_.begin() + static_cast<ptrdiff_t>(first_), ring_.end());
    first_ = 0;
    ring_.resize(ring_.size() * 2);
  }
  ThreadCall& call = at(count_++);
  call.sequence = start.sequence;
  call.start = start.time;
  call.end = start.time;
  call.function = definitions_->function_of(start.function);
  call.stack = definitions_->stack_of(*streams_, call.function, start.stack);
  call.error = -1;
  call.has_returned = false;
  call.is_known = false;
  call.version = start.values.version();
  call.values.assign(start.values.rest());
  call.results.clear();
  while (next_long_ < long_calls_.size() && long_calls_[next_long_].sequence < start.sequence) ++next_long_;
  if (next_long_ == long_calls_.size() || long_calls_[next_long_].sequence != start.sequence) {
    open_.begin(start.sequence, popped_ + count_ - 1);
    return;
  }
  LongCall& known = long_calls_[next_long_++];
  call.is_known = true;
  if (!known.has_returned) {
    open_.begin(start.sequence, popped_ + count_ - 1);
    return;
  }
  set_return(&call, known.end, known.error, known.results);
}

void ThreadCalls::end(const CallEnd& end) {
  uint64_t index;
  if (!open_.end(end.sequence, &index)) return;
  if (index >= popped_) {
    set_return(&at(index - popped_), end.time, end.error, end.values.rest());
    return;
  }
  auto waiting = waiting_.find(index);
  if (waiting == waiting_.end()) return;
  set_return(&waiting->second.call, end.time, end.error, end.values.rest());
  late_.push_back(std::move(waiting->second));
  waiting_.erase(waiting);
}

// Reads and sorts all calls, because damage or clocks that differ between processors have reordered some.
void ThreadCalls::sort() {
  while (read()) {
  }
  has_ended_ = true;
  std::rotate(ring_.begin(), ring_.begin() + static_cast<ptrdiff_t>(first_), ring_.end());
  first_ = 0;
  std::stable_sort(ring_.begin(), ring_.begin() + static_cast<ptrdiff_t>(count_),
                   [](const ThreadCall& a, const ThreadCall& b) { return a.start < b.start; });
}

}  // namespace framedex::capture
