#include "call_stream/shared_chains.h"

#include <algorithm>

namespace framedex::call_stream {
namespace {

// The number of stack pairs to remember. A program with more makes few calls from each.
constexpr size_t kMaxPairs = 1 << 16;

// Returns the frames to compare: only the Python frames if merging failed, none of a truncated merged stack.
const std::vector<uint32_t>& comparable(const capture::Stack& stack) {
  static const std::vector<uint32_t> none;
  if (stack.outcome != "merged") return stack.python;
  return stack.is_truncated ? none : stack.frames;
}

}  // namespace

SharedChains::SharedChain SharedChains::find(uint32_t first, uint32_t second) {
  if (known_.size() >= kMaxPairs) known_.clear();
  auto [entry, is_new] = known_.try_emplace(uint64_t{first} << 32 | second);
  if (is_new) entry->second = compare(first, second);
  return entry->second;
}

SharedChains::SharedChain SharedChains::compare(uint32_t first, uint32_t second) {
  const std::vector<uint32_t>& one = comparable(stacks_[first]);
  const std::vector<uint32_t>& other = comparable(stacks_[second]);
  auto python = [this](uint32_t frame) { return is_python(frame); };
  auto [mine, others] = std::mismatch(one.rbegin(), one.rend(), other.rbegin(), other.rend());
  if (std::none_of(one.rbegin(), mine, python)) return {kNoChain, false};
  bool is_one_line = std::none_of(mine, one.rend(), python) && std::none_of(others, other.rend(), python);
  std::vector<uint32_t> chain(mine.base(), one.end());
  auto [entry, is_new] = chain_ids_.try_emplace(chain, static_cast<uint32_t>(chains_.size()));
  if (is_new) chains_.push_back(std::move(chain));
  return {entry->second, is_one_line};
}

}  // namespace framedex::call_stream
