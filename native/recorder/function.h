// A boundary function, as whoever records calls of it makes it known.
#pragma once

#include <cstddef>

namespace framedex::recorder {

// With the names of the values that its calls carry. The texts must live as long as the process.
struct Function {
  const char* boundary;
  const char* name;
  const char* const* value_names;
  size_t value_count;
  // The code that a call enters, where it lies beyond the boundary: the leaf of the stacks of its calls.
  const void* handler = nullptr;
};

}  // namespace framedex::recorder
