// What calls were made with and gave back, as JSON objects, each once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "capture_reader/segment_walker.h"

namespace framedex::call_stream {

// Tells equal values from others by 128 bits that are made of them: a capture of a hundred million calls may have
// millions of distinct ones, whose texts need not be kept.
class ArgumentTexts {
 public:
  // `names` are those of the values, by function.
  explicit ArgumentTexts(const std::vector<std::vector<std::string>>* names) : names_(names) {}

  // The number of what a call of this function had, given its encoded values and those of its return.
  uint32_t number_of(uint32_t function, const capture::Body& values, const capture::Body& results);
  // The texts that are new since this was last asked for.
  std::vector<std::string> take();
  // How many records held values that could not be read.
  uint64_t damaged() const { return damaged_; }

 private:
  struct Key {
    uint64_t first;
    uint64_t second;
    bool operator==(const Key& other) const { return first == other.first && second == other.second; }
  };
  struct Hash {
    size_t operator()(const Key& key) const { return key.first; }
  };
  struct Known {
    uint32_t number;
    uint32_t damaged;  // how many of its two records are
  };

  static Key key_of(uint32_t function, std::string_view values, std::string_view results);
  Known add(uint32_t function, const capture::Body& values, const capture::Body& results);

  const std::vector<std::vector<std::string>>* names_;
  std::unordered_map<Key, Known, Hash> known_;       // by function and values
  std::unordered_map<Key, uint32_t, Hash> numbers_;  // by text: several functions may have the same values
  std::vector<std::string> new_;
  uint64_t damaged_ = 0;
};

}  // namespace framedex::call_stream
