// Maps ids to indexes. A stream counts its ids from 0, unless it was damaged.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace framedex::capture {

class IdMap {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  // Returns kNone for an unknown id.
  uint32_t at(uint32_t id) const {
    if (id < places_.size() && places_[id] != kNone) return places_[id];
    if (far_.empty()) return kNone;
    auto found = far_.find(id);
    return found == far_.end() ? kNone : found->second;
  }
  void set(uint32_t id, uint32_t index) {
    if (id > places_.size() + kGap) {
      far_[id] = index;
      return;
    }
    if (id >= places_.size()) places_.resize(size_t{id} + 1, kNone);
    places_[id] = index;
  }

 private:
  static constexpr size_t kGap = 1024;

  std::vector<uint32_t> places_;
  std::unordered_map<uint32_t, uint32_t> far_;
};

}  // namespace framedex::capture
