#include "call_stream/call_stream.h"

#include <algorithm>

namespace framedex::call_stream {

CallStream::CallStream(const std::string& folder, int64_t began, uint64_t first_id)
    : definitions_(folder),
      began_(began),
      spans_(first_id),
      nesting_(&totals_),
      arguments_(&definitions_.value_names()),
      threads_(definitions_.threads().size()) {
  for (size_t place = 0; place < threads_.size(); ++place) {
    const capture::ThreadStreams& streams = *definitions_.threads()[place];
    if (streams.calls != 0) next_.push_back({streams.first_start, place});
  }
  std::make_heap(next_.begin(), next_.end());
}

Batch CallStream::next(uint64_t most) {
  Batch batch;
  batch.first = row_;
  size_t known_kinds = kinds_.all().size();
  while (!next_.empty() && row_ - batch.first < most) {
    std::pop_heap(next_.begin(), next_.end());
    size_t place = next_.back().thread;
    next_.pop_back();
    capture::ThreadStreams* streams = definitions_.threads()[place].get();
    auto& calls = threads_[place];
    if (!calls) calls = std::make_unique<capture::ThreadCalls>(&definitions_, streams);
    // The thread's calls go on until another thread's is due.
    for (const capture::ThreadCall* call = calls->front(); call != nullptr; call = calls->front()) {
      Next due{call->start, place};
      if (row_ - batch.first == most || (!next_.empty() && due < next_.front())) {
        next_.push_back(due);
        std::push_heap(next_.begin(), next_.end());
        break;
      }
      add(*call, streams->thread, calls->is_last(), &batch);
      calls->pop();
    }
    if (calls->front() == nullptr) calls.reset();
  }
  if (next_.empty()) nesting_.finish();
  batch.kinds.assign(kinds_.all().begin() + static_cast<std::ptrdiff_t>(known_kinds), kinds_.all().end());
  batch.arguments = arguments_.take();
  batch.totals = totals_.take();
  batch.samples = samples_.take();
  batch.spans = spans_.take();
  batch.durations = durations_.take();
  return batch;
}

void CallStream::add(const capture::ThreadCall& call, uint32_t thread, bool is_last, Batch* batch) {
  const capture::Timeline& timeline = definitions_.timeline();
  int64_t start = timeline.nanoseconds(call.start);
  // An end can be before its start in a damaged capture, or where clocks differ between processors.
  int64_t duration = call.has_returned ? std::max<int64_t>(timeline.nanoseconds(call.end) - start, 0) : -1;
  start -= began_;
  CallKind what{call.function, thread, call.stack, call.error};
  uint32_t kind = kinds_.number_of(what);
  uint32_t argument = arguments_.number_of(call.function, call.values, call.results);
  Enclosing around = nesting_.add(thread, row_, kind, start, duration);
  totals_.add(kind, row_, std::max<int64_t>(duration, 0));
  samples_.add(kind, argument);
  spans_.add(kind, row_);
  if (duration >= 0) durations_.add(kind, what, duration);
  batch->kind.push_back(kind);
  batch->inside.push_back(around.parent == Enclosing::kNone ? 0 : static_cast<int64_t>(row_ - around.parent));
  batch->start.push_back(start);
  batch->duration.push_back(duration);
  batch->argument.push_back(argument);
  static_cast<void>(is_last);
  ++row_;
}

}  // namespace framedex::call_stream
