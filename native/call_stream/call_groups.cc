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

void CallGroups::add(CallGroup fate, const Rows& rows) {
  auto [place, is_new] = groups_.try_emplace(std::move(fate));
  place->second.add(rows);
  if (!is_new) return;
  const CallGroup& known = place->first;
  for (uint32_t thread : known.paused) of_waiting_[thread].emplace(&known, place);
  for (const CallGap& pause : known.pauses) {
    if (pause.after != kNoRow) of_ended_[pause.thread].emplace(&known, place);
  }
  if (known.piece != kNoPiece) of_piece_[known.piece].emplace(&known, place);
}

std::vector<CallGroups::Group> CallGroups::take_waiting_for(uint32_t thread) { return take(&of_waiting_, thread); }

std::vector<CallGroups::Group> CallGroups::take_ended_by(uint32_t thread) { return take(&of_ended_, thread); }

std::vector<CallGroups::Group> CallGroups::take_of(Piece piece) { return take(&of_piece_, piece); }

template <typename Key>
std::vector<CallGroups::Group> CallGroups::take(Places<Key>* places, Key key) {
  std::vector<Group> taken;
  auto found = places->find(key);
  if (found == places->end()) return taken;
  std::map<const void*, Place> meant = std::move(found->second);
  places->erase(found);
  for (const auto& [address, place] : meant) taken.push_back(take(place));
  return taken;
}

std::vector<CallGroups::Group> CallGroups::take_all() {
  std::vector<Group> taken;
  while (!groups_.empty()) taken.push_back(take(groups_.begin()));
  return taken;
}

CallGroups::Group CallGroups::take(Place place) {
  const CallGroup& fate = place->first;
  auto forget = [&](auto& places, auto key) {
    auto found = places.find(key);
    if (found == places.end()) return;
    found->second.erase(&fate);
    if (found->second.empty()) places.erase(found);
  };
  for (uint32_t thread : fate.paused) forget(of_waiting_, thread);
  for (const CallGap& pause : fate.pauses) forget(of_ended_, pause.thread);
  forget(of_piece_, fate.piece);
  auto node = groups_.extract(place);
  return {std::move(node.key()), std::move(node.mapped())};
}

}  // namespace framedex::call_stream
