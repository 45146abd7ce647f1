// The arguments and results of calls as JSON objects, each distinct object once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "capture_reader/segment_walker.h"

namespace framedex::call_stream {

// Numbers distinct values by a 128-bit hash. A capture of a hundred million calls may have millions of distinct values;
// their texts need not be kept.
class ArgumentTexts {
 public:
  // `names` are the value names, by function.
  explicit ArgumentTexts(const std::vector<std::vector<std::string>>* names) : names_(names) {}

  // Returns the number of a call's arguments and results, from its encoded values and those of its return.
  uint32_t number_of(uint32_t function, const capture::Body& values, const capture::Body& results);
  // Returns the texts that are new since the last take.
  std::vector<std::string> take();
  // Returns the number of records with unreadable values.
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
  struct KnownText {
    uint32_t number;
    uint32_t damaged;  // how many of its two records are damaged
  };

  static Key key_of(uint32_t function, std::string_view values, std::string_view results);
  KnownText add(uint32_t function, const capture::Body& values, const capture::Body& results);

  const std::vector<std::vector<std::string>>* names_;
  std::unordered_map<Key, KnownText, Hash> known_;   // by function and values
  std::unordered_map<Key, uint32_t, Hash> numbers_;  // by text: functions may share values
  std::vector<std::string> new_;
  uint64_t damaged_ = 0;
};

}  // namespace framedex::call_stream
