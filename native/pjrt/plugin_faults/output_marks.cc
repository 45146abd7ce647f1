#include "pjrt/plugin_faults/output_marks.h"

#include <cstdint>

namespace framedex::pjrt {
namespace {

struct MarkedElement {
  void** place;
  void* before;
};
thread_local std::vector<MarkedElement> marked_elements;

void* element_mark() {
  uintptr_t mark;
  std::memset(&mark, kMarkByte, sizeof(mark));
  return reinterpret_cast<void*>(mark);
}

}  // namespace

void ListMarks::add(void** list, size_t count) {
  auto& elements = marked_elements;  // found once: each use of the name is a call
  if (size_ == 0) first_ = elements.size();
  for (size_t i = 0; i < count; ++i) {
    elements.push_back({list + i, list[i]});
    list[i] = element_mark();
  }
  size_ += count;
}

bool ListMarks::end() {
  if (size_ == 0) return false;
  auto& elements = marked_elements;
  bool is_unfilled = false;
  for (size_t i = first_; i < first_ + size_; ++i) {
    const MarkedElement& element = elements[i];
    if (*element.place != element_mark()) continue;
    *element.place = element.before;
    is_unfilled = true;
  }
  elements.resize(first_);
  size_ = 0;
  return is_unfilled;
}

}  // namespace framedex::pjrt
