#include "call_stream/call_stream.h"

#include <algorithm>

namespace framedex::call_stream {

CallStream::CallStream(const std::string& folder, int64_t began, const ObjectTable& table, bool lacks_calls,
                       bool is_followed)
    : callbacks_(folder),
      definitions_(folder),
      began_(std::clamp(began, -capture::kLatest, capture::kLatest)),
      is_followed_(is_followed),
      nesting_(&totals_),
      arguments_(&definitions_.value_names()),
      lifetimes_(table),
      links_(table, definitions_.capture().stacks, definitions_.capture().frames, lacks_calls) {
  add_functions();
  add_python_threads();
  find_next();
}

void CallStream::add_functions() {
  const auto& functions = definitions_.capture().functions;
  for (; functions_ < functions.size(); ++functions_) {
    lifetimes_.add_function(functions[functions_].second, definitions_.value_names()[functions_]);
    links_.add_function(functions[functions_].second, definitions_.value_names()[functions_]);
    callbacks_.add_function(functions[functions_].second);
  }
}

void CallStream::add_python_threads() {
  for (const auto& streams : definitions_.threads()) {
    if (streams->has_python) links_.add_python_thread(streams->thread);
  }
}

// Finds the thread with the earliest next call.
void CallStream::find_next() {
  next_.clear();
  threads_.resize(definitions_.threads().size());
  for (size_t index = 0; index < threads_.size(); ++index) {
    const capture::ThreadStreams& streams = *definitions_.threads()[index];
    if (threads_[index]) {
      const capture::ThreadCall* call = threads_[index]->front();
      if (call != nullptr) next_.push_back({call->start, index});
    } else if (streams.calls != 0) {
      next_.push_back({streams.first_start, index});
    }
  }
  std::make_heap(next_.begin(), next_.end());
}

capture::ThreadCalls& CallStream::calls_of(size_t index) {
  auto& calls = threads_[index];
  if (!calls) {
    calls = std::make_unique<capture::ThreadCalls>(&definitions_, definitions_.threads()[index].get(), is_followed_);
  }
  return *calls;
}

bool CallStream::extend() {
  // Also for threads whose reading has not begun: a later read starts where this one ends.
  for (size_t index = 0; index < threads_.size(); ++index) calls_of(index).drain();
  callbacks_.read_pending(definitions_.folder());
  if (!definitions_.extend()) return false;
  for (auto& calls : threads_) calls->extend();
  add_functions();
  add_python_threads();
  find_next();
  return true;
}

Batch CallStream::next(uint64_t most, int64_t until) {
  Batch batch;
  batch.first = row_;
  size_t known_kinds = kinds_.all().size();
  size_t known_chains = links_.chains().size();
  uint64_t end = row_ + std::min(most, UINT64_MAX - row_);
  while (!next_.empty() && row_ < end) {
    std::pop_heap(next_.begin(), next_.end());
    size_t index = next_.back().thread;
    next_.pop_back();
    uint64_t before = row_;
    add_calls(index, end, until, &batch);
    if (row_ == before) break;  // the earliest call began too late
  }
  for (size_t index = 0; is_followed_ && index < threads_.size(); ++index) {
    if (threads_[index]) add_late_returns(threads_[index].get(), definitions_.threads()[index]->thread, &batch);
  }
  if (next_.empty() && until == kForever) {
    nesting_.finish();
    lifetimes_.finish();
    links_.finish();
  }
  batch.kinds.assign(kinds_.all().begin() + static_cast<ptrdiff_t>(known_kinds), kinds_.all().end());
  batch.arguments = arguments_.take();
  batch.totals = totals_.take();
  batch.samples = samples_.take();
  batch.spans = spans_.take();
  batch.durations = durations_.take();
  batch.known_objects = known_objects_;
  batch.objects = lifetimes_.take_objects();
  if (!batch.objects.object.empty()) known_objects_ = std::max(known_objects_, batch.objects.object.back() + 1);
  batch.violations = lifetimes_.take_violations();
  batch.numbers = lifetimes_.take_numbers();
  batch.chains.assign(links_.chains().begin() + static_cast<ptrdiff_t>(known_chains), links_.chains().end());
  batch.links = links_.take_links();
  return batch;
}

void CallStream::add_calls(size_t index, uint64_t end, int64_t until, Batch* batch) {
  uint32_t thread = definitions_.threads()[index]->thread;
  capture::ThreadCalls& calls = calls_of(index);
  const capture::ThreadCall* call = calls.front();
  for (; call != nullptr; call = calls.front()) {
    NextCall due{call->start, index};
    bool is_late = until != kForever && definitions_.timeline().nanoseconds(call->start) >= until;
    if (row_ == end || is_late || (!next_.empty() && due < next_.front())) {
      next_.push_back(due);
      std::push_heap(next_.begin(), next_.end());
      break;
    }
    // Calls that have returned by then do not enclose this one.
    add_late_returns(&calls, thread, batch);
    add(*call, index, calls.is_last(), batch);
    calls.pop(row_ - 1);
  }
  if (call == nullptr && !is_followed_) threads_[index].reset();
}

void CallStream::add(const capture::ThreadCall& call, size_t index, bool is_last, Batch* batch) {
  uint32_t thread = definitions_.threads()[index]->thread;
  Times times = times_of(call);
  CallKind what{call.function, thread, call.stack, call.error};
  uint32_t kind = kinds_.number_of(what);
  uint32_t argument = arguments_.number_of(call.function, call.start_values(), call.end_values());
  bool is_open = is_followed_ && !call.has_returned;
  EnclosingCall around = nesting_.add(thread, row_, kind, times.start, times.duration, is_open);
  totals_.add(kind, row_, std::max<int64_t>(times.duration, 0));
  samples_.add(kind, argument);
  spans_.add(kind, row_);
  if (call.has_returned) durations_.add(kind, what, times.duration);
  batch->kind.push_back(kind);
  batch->inside.push_back(around.parent == EnclosingCall::kNone ? 0 : static_cast<int64_t>(row_ - around.parent));
  batch->start.push_back(times.start);
  batch->duration.push_back(times.duration);
  batch->argument.push_back(argument);
  RecordedCall recorded{row_,        thread,         call.function,       call.stack,
                        times.start, times.duration, call.error,          around.outermost,
                        is_last,     kind,           call.start_values(), call.end_values()};
  lifetimes_.add(recorded);
  links_.add(recorded);
  callbacks_.add(call.function, definitions_.threads()[index]->number, call.sequence, row_);
  ++row_;
}

void CallStream::add_late_returns(capture::ThreadCalls* calls, uint32_t thread, Batch* batch) {
  if (!calls->has_late_returns()) return;
  for (const capture::LateReturn& late : calls->take_late_returns()) change(late, thread, batch);
}

void CallStream::change(const capture::LateReturn& late, uint32_t thread, Batch* batch) {
  const capture::ThreadCall& call = late.call;
  Times times = times_of(call);
  CallKind what{call.function, thread, call.stack, call.error};
  uint32_t kind = kinds_.number_of(what);
  uint32_t argument = arguments_.number_of(call.function, call.start_values(), call.end_values());
  nesting_.end(thread, late.row, kind, times.start, times.duration);
  RecordedCall recorded{late.row,   thread,   call.function, call.stack, times.start,         times.duration,
                        call.error, late.row, false,         kind,       call.start_values(), call.end_values()};
  lifetimes_.returned(recorded);
  links_.returned(recorded);
  batch->changed.insert(batch->changed.end(), {static_cast<int64_t>(late.row), kind, times.duration, argument});
}

CallStream::Times CallStream::times_of(const capture::ThreadCall& call) {
  const capture::Timeline& timeline = definitions_.timeline();
  int64_t start = timeline.nanoseconds(call.start);
  if (!call.has_returned) return {start - began_, -1};
  // An end can precede its start in a damaged capture, or if clocks differ between processors.
  int64_t duration = std::clamp<int64_t>(timeline.nanoseconds(call.end) - start, 0, time_left_);
  time_left_ -= duration;
  return {start - began_, duration};
}

}  // namespace framedex::call_stream
