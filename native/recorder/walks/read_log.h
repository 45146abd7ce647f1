// The memory reads of a walk: a later walk that finds them unchanged finds the same stack.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace framedex::recorder {

// Addresses and the values read there, in order.
template <typename Value>
class Reads {
 public:
  static constexpr size_t kCapacity = 1024;
  struct Read {
    const Value* address;
    Value value;
  };

  void clear() {
    count_ = 0;
    is_complete_ = true;
  }
  // False if there were more than kCapacity reads.
  bool is_complete() const { return is_complete_; }

  size_t count() const { return count_; }
  const Read* begin() const { return reads_; }
  const Read* end() const { return reads_ + count_; }
  // Returns the index of the first changed value from `begin` on, or the count of all. Compares in order, so an address
  // is read only if all values before it are unchanged.
  size_t unchanged_from(size_t begin) const {
    size_t i = begin;
    while (i < count_ && __builtin_expect(*reads_[i].address == reads_[i].value, 1)) ++i;
    return i;
  }
  // Appends reads. A local of the walk, so that its position can stay in a register.
  class Writer {
   public:
    explicit Writer(Reads* reads) : reads_(reads), next_(reads->reads_ + reads->count_) {}
    ~Writer() { reads_->count_ = static_cast<size_t>(next_ - reads_->reads_); }
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;

    [[gnu::always_inline]] void note(uintptr_t address, Value value) {
      if (__builtin_expect(next_ == reads_->reads_ + kCapacity, 0)) {
        reads_->is_complete_ = false;
      } else {
        *next_++ = {reinterpret_cast<const Value*>(address), value};
      }
    }

    // Appends reads [first, last) of another walk.
    void note(const Reads& other, size_t first, size_t last) {
      auto room = static_cast<size_t>(reads_->reads_ + kCapacity - next_);
      size_t count = last - first;
      if (count > room) {
        reads_->is_complete_ = false;
      } else {
        std::memcpy(next_, other.reads_ + first, count * sizeof(Read));
        next_ += count;
      }
    }
    size_t count() const { return static_cast<size_t>(next_ - reads_->reads_); }

   private:
    Reads* reads_;
    Read* next_;
  };

 private:
  size_t count_ = 0;
  bool is_complete_ = true;
  // Not initialised: pages that no walk reaches cost nothing.
  Read reads_[kCapacity];
};

// The Python memory that a walk depends on. Each address comes from an earlier read. So an address is read again only
// after the reads that led to it were found unchanged.
struct ReadLog {
  Reads<uintptr_t> words;
  Reads<uint8_t> bytes;  // in memory that the words point to

  void clear() {
    words.clear();
    bytes.clear();
  }
  bool is_complete() const { return words.is_complete() && bytes.is_complete(); }
};

}  // namespace framedex::recorder
