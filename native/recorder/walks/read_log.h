// The memory reads of a walk, kept to check later that nothing has changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace framedex::recorder {

// Addresses and the values read there, in order.
template <typename Value>
class Reads {
  struct Read {
    const Value* address;
    Value value;
  };

 public:
  static constexpr size_t kCapacity = 1024;

  void clear() {
    count_ = 0;
    is_complete_ = true;
  }
  // False if there were more than kCapacity reads.
  bool is_complete() const { return is_complete_; }

  size_t count() const { return count_; }
  // Returns whether all values are unchanged. Compares in order and stops early, so an address is read only if all
  // values before it are unchanged.
  bool are_unchanged() const { return unchanged_from(0) == count_; }
  // Like are_unchanged(), but in any order and several at a time. Only for memory that is always readable, such as the
  // thread's own stack.
  bool are_unchanged_in_any_order() const {
    Value changed = 0;
#pragma GCC unroll 4
    for (size_t i = 0; i < count_; ++i) changed |= *reads_[i].address ^ reads_[i].value;
    return changed == 0;
  }
  // Returns the index of the first changed value from `begin` on, or the count of all.
  size_t unchanged_from(size_t begin) const {
    size_t i = begin;
    while (i < count_ && __builtin_expect(*reads_[i].address == reads_[i].value, 1)) ++i;
    return i;
  }
  void assign(const Reads& other) {
    count_ = other.count_;
    is_complete_ = other.is_complete_;
    std::memcpy(reads_, other.reads_, count_ * sizeof(Read));
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

// All memory that a walk depends on: if it is unchanged, the stack is the same. Each address comes from an earlier
// read. So an address is read again only after the reads that led to it were found unchanged.
struct ReadLog {
  Reads<uintptr_t> python_words;
  Reads<uint8_t> python_bytes;  // in memory that the words point to
  Reads<uintptr_t> native_words;

  void clear() {
    python_words.clear();
    python_bytes.clear();
    native_words.clear();
  }
  bool is_complete() const {
    return python_words.is_complete() && python_bytes.is_complete() && native_words.is_complete();
  }
  // Compares the Python reads first: stacks with the same start differ there sooner than in the native part.
  bool is_unchanged() const {
    return python_words.are_unchanged() && python_bytes.are_unchanged() && native_words.are_unchanged_in_any_order();
  }
};

}  // namespace framedex::recorder
