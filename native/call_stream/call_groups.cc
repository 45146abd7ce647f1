#include "call_stream/call_groups.h"

namespace framedex::call_stream {

// Encodes the difference with seven bits a byte, lowest first. The lowest bit is its sign.
void Rows::add(uint64_t row) {
  auto difference = static_cast<int64_t>(row - last_);
  uint64_t rest = static_cast<uint64_t>(difference) << 1 ^ static_cast<uint64_t>(difference >> 63);
  for (; rest >= 0x80; rest >>= 7) bytes_ += static_cast<char>(rest | 0x80);
  bytes_ += static_cast<char>(rest);
  last_ = row;
}

uint64_t Rows::next(size_t* at) const {
  uint64_t folded = 0;
  for (int shift = 0;; shift += 7) {
    auto byte = static_cast<uint8_t>(bytes_[(*at)++]);
    folded |= uint64_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) break;
  }
  return folded >> 1 ^ (~(folded & 1) + 1);
}

void CallGroups::add(LinkCandidates candidates, const Rows& rows) {
  auto [group, is_new] = groups_.try_emplace(std::move(candidates));
  group->second.add(rows);
  if (!is_new) return;
  const LinkCandidates& known = group->first;
  for (uint32_t thread : known.paused) by_waiting_thread_[thread].emplace(&known, group);
  for (const CallGap& pause : known.pauses) {
    if (pause.next_row != kNoRow) by_paused_thread_[pause.thread].emplace(&known, group);
  }
  if (known.piece != kNoWork) by_piece_[known.piece].emplace(&known, group);
}

std::vector<CallGroups::Group> CallGroups::take_waiting_for(uint32_t thread) {
  return take(&by_waiting_thread_, thread);
}

std::vector<CallGroups::Group> CallGroups::take_ended_by(uint32_t thread) { return take(&by_paused_thread_, thread); }

std::vector<CallGroups::Group> CallGroups::take_piece(WorkId piece) { return take(&by_piece_, piece); }

template <typename Key>
std::vector<CallGroups::Group> CallGroups::take(GroupIndex<Key>* index, Key key) {
  std::vector<Group> taken;
  auto found = index->find(key);
  if (found == index->end()) return taken;
  std::map<const void*, GroupIterator> matches = std::move(found->second);
  index->erase(found);
  for (const auto& [address, group] : matches) taken.push_back(take(group));
  return taken;
}

std::vector<CallGroups::Group> CallGroups::take_all() {
  std::vector<Group> taken;
  while (!groups_.empty()) taken.push_back(take(groups_.begin()));
  return taken;
}

CallGroups::Group CallGroups::take(GroupIterator group) {
  const LinkCandidates& candidates = group->first;
  auto forget = [&](auto& index, auto key) {
    auto found = index.find(key);
    if (found == index.end()) return;
    found->second.erase(&candidates);
    if (found->second.empty()) index.erase(found);
  };
  for (uint32_t thread : candidates.paused) forget(by_waiting_thread_, thread);
  for (const CallGap& pause : candidates.pauses) forget(by_paused_thread_, pause.thread);
  forget(by_piece_, candidates.piece);
  auto node = groups_.extract(group);
  return {std::move(node.key()), std::move(node.mapped())};
}

}  // namespace framedex::call_stream
