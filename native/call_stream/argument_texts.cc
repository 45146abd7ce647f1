#include "call_stream/argument_texts.h"

#include <cstring>
#include <utility>

#include "capture_reader/arguments_json.h"

namespace framedex::call_stream {
namespace {

// Two independent sums; each changes with any word.
class HashPair {
 public:
  void add(uint64_t word) {
    first_ = mixed(first_ ^ word, 0x9E3779B97F4A7C15u);
    second_ = mixed(second_ + word, 0xD6E8FEB86659FD93u);
  }
  void add(std::string_view bytes) {
    add(bytes.size());
    while (!bytes.empty()) {
      uint64_t word = 0;
      size_t size = bytes.size() < sizeof(word) ? bytes.size() : sizeof(word);
      std::memcpy(&word, bytes.data(), size);
      add(word);
      bytes.remove_prefix(size);
    }
  }
  uint64_t first() const { return first_; }
  uint64_t second() const { return second_; }

 private:
  static uint64_t mixed(uint64_t value, uint64_t factor) {
    auto product = static_cast<unsigned __int128>(value ^ factor) * 0xBF58476D1CE4E5B9u;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  }

  uint64_t first_ = 0x165667B19E3779F9u;
  uint64_t second_ = 0x27D4EB2F165667C5u;
};

}  // namespace

ArgumentTexts::Key ArgumentTexts::key_of(uint32_t function, std::string_view values, std::string_view results) {
  HashPair hashes;
  hashes.add(function);
  hashes.add(values);
  hashes.add(results);
  return {hashes.first(), hashes.second()};
}

uint32_t ArgumentTexts::number_of(uint32_t function, const capture::Body& values, const capture::Body& results) {
  auto [entry, is_new] = known_.try_emplace(key_of(function, values.rest(), results.rest()));
  if (is_new) entry->second = add(function, values, results);
  damaged_ += entry->second.damaged;
  return entry->second.number;
}

ArgumentTexts::KnownText ArgumentTexts::add(uint32_t function, const capture::Body& values,
                                            const capture::Body& results) {
  JsonObject object;
  uint32_t damaged = 0;
  for (const capture::Body& encoded : {values, results}) {
    damaged += !capture::add_values(encoded, (*names_)[function], &object);
  }
  std::string text = object.finish();
  HashPair hashes;
  hashes.add(text);
  auto [entry, is_new] =
      numbers_.try_emplace({hashes.first(), hashes.second()}, static_cast<uint32_t>(numbers_.size()));
  if (is_new) new_.push_back(std::move(text));
  return {entry->second, damaged};
}

std::vector<std::string> ArgumentTexts::take() {
  std::vector<std::string> taken;
  taken.swap(new_);
  return taken;
}

}  // namespace framedex::call_stream
