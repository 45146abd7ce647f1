#include "call_stream/kinds.h"

#include <algorithm>

namespace framedex::call_stream {
namespace {

// Returns the element at this index, creating it if necessary.
template <typename Element>
Element& element_at(std::vector<Element>& elements, size_t index, const Element& empty = Element()) {
  if (index >= elements.size()) elements.resize(index + 1, empty);
  return elements[index];
}

}  // namespace

size_t Kinds::Hash::operator()(const CallKind& kind) const {
  uint64_t first = uint64_t{kind.function} << 32 | kind.thread;
  uint64_t second = uint64_t{kind.stack} << 32 | static_cast<uint32_t>(kind.error);
  uint64_t mixed = (first ^ second * 0x9E3779B97F4A7C15u) * 0xD6E8FEB86659FD93u;
  return mixed ^ mixed >> 32;
}

uint32_t Kinds::number_of(const CallKind& kind) {
  uint32_t& last = element_at(last_of_stack_, kind.stack);
  if (last < kinds_.size() && kinds_[last] == kind) return last;
  auto [found, is_new] = numbers_.try_emplace(kind, static_cast<uint32_t>(kinds_.size()));
  if (is_new) kinds_.push_back(kind);
  return last = found->second;
}

Totals::Total& Totals::touch(uint32_t kind) {
  Total& total = element_at(totals_, kind);
  if (!total.is_touched) {
    total.is_touched = true;
    touched_.push_back(kind);
  }
  return total;
}

void Totals::add(uint32_t kind, uint64_t row, int64_t duration) {
  Total& total = touch(kind);
  auto signed_row = static_cast<int64_t>(row);
  if (total.calls == 0) total.first_call = signed_row;
  ++total.calls;
  total.duration += duration;
  total.latest_call = signed_row;
  if (duration < total.longest) return;
  total.longest = duration;
  total.longest_call = signed_row;
}

void Totals::add_own(uint32_t kind, int64_t duration) { touch(kind).own_duration += duration; }

KindTotals Totals::take() {
  KindTotals taken;
  std::sort(touched_.begin(), touched_.end());
  for (uint32_t kind : touched_) {
    Total& total = totals_[kind];
    taken.kind.push_back(kind);
    taken.calls.push_back(total.calls);
    taken.duration.push_back(total.duration);
    taken.own_duration.push_back(total.own_duration);
    taken.longest.push_back(std::max<int64_t>(total.longest, 0));
    taken.longest_call.push_back(total.longest_call);
    taken.first_call.push_back(total.first_call);
    taken.latest_call.push_back(total.latest_call);
    total = {};
  }
  touched_.clear();
  return taken;
}

void Samples::add(uint32_t kind, uint32_t argument) {
  KindArguments& few = element_at(of_kind_, kind);
  if (argument == few.last) return;
  few.last = argument;
  auto& kept = few.arguments;
  if (argument >= kept.back() || std::find(kept.begin(), kept.end(), argument) != kept.end()) return;
  kept.back() = argument;
  std::sort(kept.begin(), kept.end());
  if (few.is_touched) return;
  few.is_touched = true;
  touched_.push_back(kind);
}

std::vector<int64_t> Samples::take() {
  std::vector<int64_t> taken;
  for (uint32_t kind : touched_) {
    of_kind_[kind].is_touched = false;
    for (uint32_t argument : of_kind_[kind].arguments) {
      if (argument != kNone) taken.insert(taken.end(), {kind, argument});
    }
  }
  touched_.clear();
  return taken;
}

void Spans::add(uint32_t kind, uint64_t row) {
  uint64_t block = row >> kBlockBits;
  if (block != block_) {
    close();
    block_ = block;
  }
  Span& span = element_at(of_kind_, kind);
  if (!span.is_open) {
    span = {true, row, row};
    open_.push_back(kind);
  }
  span.last = row;
}

void Spans::close() {
  std::sort(open_.begin(), open_.end());
  for (uint32_t kind : open_) {
    Span& span = of_kind_[kind];
    found_.insert(found_.end(), {kind, static_cast<int64_t>(span.first), static_cast<int64_t>(span.last)});
    span.is_open = false;
  }
  open_.clear();
}

std::vector<int64_t> Spans::take() {
  close();
  std::vector<int64_t> taken;
  taken.swap(found_);
  return taken;
}

uint32_t Durations::bucket_of(uint64_t duration) {
  constexpr unsigned kDigits = 6;  // after the first digit, which is always 1
  constexpr uint64_t kExact = uint64_t{2} << kDigits;
  if (duration < kExact) return static_cast<uint32_t>(duration);
  auto exponent = static_cast<unsigned>(63 - __builtin_clzll(duration));
  auto digits = static_cast<uint32_t>(duration >> (exponent - kDigits)) & ((1u << kDigits) - 1);
  return static_cast<uint32_t>(kExact) + ((exponent - kDigits - 1) << kDigits) + digits;
}

uint32_t Durations::index_of(const CallKind& what) {
  uint32_t& index = element_at(element_at(of_thread_, what.thread), what.function, kNone);
  if (index == kNone) {
    index = static_cast<uint32_t>(counts_.size());
    counts_.push_back({what.function, what.thread, false, {}});
  }
  return index;
}

void Durations::add(uint32_t kind, const CallKind& what, int64_t duration) {
  uint32_t& index = element_at(of_kind_, kind, kNone);
  if (index == kNone) index = index_of(what);
  Counts& counts = counts_[index];
  ++element_at(counts.of_bucket, bucket_of(static_cast<uint64_t>(duration)));
  if (counts.is_touched) return;
  counts.is_touched = true;
  touched_.push_back(index);
}

std::vector<int64_t> Durations::take() {
  std::vector<int64_t> taken;
  for (uint32_t index : touched_) {
    Counts& counts = counts_[index];
    for (size_t bucket = 0; bucket < counts.of_bucket.size(); ++bucket) {
      uint32_t calls = counts.of_bucket[bucket];
      if (calls != 0) taken.insert(taken.end(), {counts.function, counts.thread, static_cast<int64_t>(bucket), calls});
      counts.of_bucket[bucket] = 0;
    }
    counts.is_touched = false;
  }
  touched_.clear();
  return taken;
}

}  // namespace framedex::call_stream
