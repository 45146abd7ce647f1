// A boundary function, as its library registers it.
#pragma once

#include <cstddef>

namespace framedex::recorder {

// `value_names` names the values of its calls. The texts must live as long as the process.
struct Function {
  const char* boundary;
  const char* name;
  const char* const* value_names;
  size_t value_count;
  // The code behind the boundary that a call enters: the leaf of its calls' stacks.
  const void* handler = nullptr;
  // In flight mode its calls are counted, not recorded. They only return facts about an object, or are the mock's own.
  bool is_counted_in_flight = false;
};

}  // namespace framedex::recorder
