#include "call_stream/nesting.h"

#include <algorithm>

#include "call_stream/times.h"

namespace framedex::call_stream {

EnclosingCall Nesting::add(uint32_t thread, uint64_t row, uint32_t kind, int64_t start, int64_t duration,
                           bool is_open) {
  if (thread >= open_.size()) open_.resize(size_t{thread} + 1);
  std::vector<RunningCall>& open = open_[thread];
  while (!open.empty() && open.back().end <= start) close(&open);
  EnclosingCall found{EnclosingCall::kNone, row};
  if (!open.empty()) {
    found = {open.back().row, open.back().outermost};
    open.back().own -= std::max<int64_t>(duration, 0);
  }
  if (is_open) open.push_back({kForever, row, found.outermost, kind, 0});
  if (duration >= 0) open.push_back({sum(start, duration), row, found.outermost, kind, duration});
  return found;
}

void Nesting::end(uint32_t thread, uint64_t row, uint32_t kind, int64_t start, int64_t duration) {
  if (thread >= open_.size()) return;
  std::vector<RunningCall>& open = open_[thread];
  auto ended = std::find_if(open.begin(), open.end(), [row](const RunningCall& each) { return each.row == row; });
  if (ended == open.end()) return;
  ended->end = sum(start, duration);
  ended->kind = kind;
  ended->own += duration;
  if (ended != open.begin()) (ended - 1)->own -= duration;
}

void Nesting::close(std::vector<RunningCall>* open) {
  totals_->add_own(open->back().kind, std::max<int64_t>(open->back().own, 0));
  open->pop_back();
}

void Nesting::finish() {
  for (std::vector<RunningCall>& open : open_) {
    while (!open.empty()) close(&open);
  }
}

}  // namespace framedex::call_stream
