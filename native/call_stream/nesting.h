// Which call was made inside which: boundary functions call others, such as the mock TPU's allocator.
#pragma once

#include <cstdint>
#include <vector>

#include "call_stream/kinds.h"

namespace framedex::call_stream {

struct Enclosing {
  static constexpr uint64_t kNone = UINT64_MAX;
  uint64_t parent;     // the row of the innermost call of the thread in which a call was made
  uint64_t outermost;  // that of the outermost one; the call itself where there is none
};

class Nesting {
 public:
  // `totals` gets what calls took of their own, once they are over.
  explicit Nesting(Totals* totals) : totals_(totals) {}

  // Adds the next call of a thread, by start. One that never returned encloses nothing: nobody knows when it ended. One
  // that `is_open` may still return, so it encloses all that comes.
  Enclosing add(uint32_t thread, uint64_t row, uint32_t kind, int64_t start, int64_t duration, bool is_open);
  // Ends a call that was open.
  void end(uint32_t thread, uint64_t row, uint32_t kind, int64_t start, int64_t duration);
  // Ends all calls.
  void finish();

 private:
  struct Open {
    int64_t end;
    uint64_t row;
    uint64_t outermost;
    uint32_t kind;
    int64_t own;  // what is left of its time
  };
  void close(std::vector<Open>* open);

  Totals* totals_;
  std::vector<std::vector<Open>> open_;  // by thread, innermost last
};

}  // namespace framedex::call_stream
