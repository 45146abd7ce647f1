// Finds output fields that a plug-in leaves unassigned although its function succeeds.
//
// Before a recorded call, output fields get a mark in place of the caller's bytes. A field that still has the mark
// after the call was not assigned. It gets the caller's bytes back, so the caller sees the same as without framedex.
#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

#include "pjrt_c_api.h"

namespace framedex::pjrt {

// The mark is not a valid boolean, count or address.
constexpr unsigned char kMarkByte = 0xD6;

// The mark in an output field of `kSize` bytes. Fields are handled as bytes: the caller's may be uninitialised.
template <size_t kSize>
class OutputMark {
 public:
  void begin(void* field) {
    field_ = field;
    std::memcpy(before_, field, kSize);
    std::memset(field, kMarkByte, kSize);
  }
  // Restores the caller's bytes if the field still has the mark. Returns whether it had the mark.
  bool end() {
    if (field_ == nullptr) return false;
    unsigned char mark[kSize];
    std::memset(mark, kMarkByte, kSize);
    if (std::memcmp(field_, mark, kSize) != 0) return false;
    std::memcpy(field_, before_, kSize);
    return true;
  }

 private:
  void* field_ = nullptr;
  unsigned char before_[kSize] = {};
};

// Marks in lists of objects in the caller's memory. A thread-local stack keeps the caller's elements. Its capacity
// grows to the largest number in use at once.
class ListMarks {
 public:
  ListMarks() = default;
  ListMarks(const ListMarks&) = delete;
  ListMarks& operator=(const ListMarks&) = delete;

  template <typename Object>
  void begin(Object** list, size_t count) {
    if (list == nullptr || count == 0) return;
    add(reinterpret_cast<void**>(list), count);
  }
  template <typename Object>
  void begin(Object** const* rows, size_t row_count, size_t count) {
    for (size_t i = 0; rows != nullptr && i < row_count; ++i) begin(rows[i], count);
  }
  // Restores the caller's values of elements that still have the mark. Returns whether there were any.
  bool end();

 private:
  void add(void** list, size_t count);

  size_t first_ = 0;
  size_t size_ = 0;
};

}  // namespace framedex::pjrt
