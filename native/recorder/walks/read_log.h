// What a walk read of the thread's memory, to find out later whether it is unchanged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>

namespace framedex::recorder {

// The words and bytes that a walk read, in its order. A walk depends on nothing else, so if all of them are unchanged,
// the stack is the same. Each address comes from values earlier in the log; they are compared in order, with an early
// exit, so that an address is only read after the values that led to it were found unchanged.
class ReadLog {
 public:
  // A walk that reads more is not replayed.
  static constexpr size_t kCapacity = 1024;

  void clear() {
    if (storage_ == nullptr) storage_.reset(new Storage);
    words_ = 0;
    bytes_ = 0;
    is_complete_ = true;
  }
  bool is_complete() const { return is_complete_; }

  bool still_holds() const {
    const Word* words = storage_->words;
    for (size_t i = 0; i < words_; ++i) {
      if (__builtin_expect(*words[i].address != words[i].value, 0)) return false;
    }
    const Byte* bytes = storage_->bytes;
    for (size_t i = 0; i < bytes_; ++i) {
      if (__builtin_expect(*bytes[i].address != bytes[i].value, 0)) return false;
    }
    return true;
  }

 private:
  struct Word {
    const uintptr_t* address;
    uintptr_t value;
  };
  struct Byte {
    const uint8_t* address;
    uint8_t value;
  };
  // Not initialized: pages of it that no walk reaches cost nothing.
  struct Storage {
    Word words[kCapacity];
    Byte bytes[kCapacity];
  };
  std::unique_ptr<Storage> storage_;
  size_t words_ = 0;
  size_t bytes_ = 0;
  bool is_complete_ = true;

 public:
  // Appends to a log. A local of the walk, so that its positions stay in registers.
  class Writer {
   public:
    explicit Writer(ReadLog* log)
        : log_(log), word_(log->storage_->words + log->words_), byte_(log->storage_->bytes + log->bytes_) {}
    ~Writer() {
      log_->words_ = static_cast<size_t>(word_ - log_->storage_->words);
      log_->bytes_ = static_cast<size_t>(byte_ - log_->storage_->bytes);
    }
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;

    void word(uintptr_t address, uintptr_t value) {
      if (__builtin_expect(word_ == std::end(log_->storage_->words), 0)) return overflow();
      *word_++ = {reinterpret_cast<const uintptr_t*>(address), value};
    }
    // Bytes lie in memory that the words have led to.
    void byte(uintptr_t address, uint8_t value) {
      if (__builtin_expect(byte_ == std::end(log_->storage_->bytes), 0)) return overflow();
      *byte_++ = {reinterpret_cast<const uint8_t*>(address), value};
    }

   private:
    void overflow() { log_->is_complete_ = false; }

    ReadLog* log_;
    Word* word_;
    Byte* byte_;
  };
};

}  // namespace framedex::recorder
