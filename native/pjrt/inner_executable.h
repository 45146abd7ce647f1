// The executable inside a loaded executable, for framedex's own queries.
#pragma once

#include "abi/struct_size.h"
#include "pjrt_c_api.h"

namespace framedex::pjrt {

// Returns whether the plug-in's table has this function.
template <typename Function>
bool has_function(const PJRT_Api* plugin, Function PJRT_Api::* function) {
  return has(plugin, function) && plugin->*function != nullptr;
}

// Fetches the executable, and destroys it at the end of the scope. It calls the plug-in's own table, so that these
// calls are not recorded.
class InnerExecutable {
 public:
  InnerExecutable(PJRT_LoadedExecutable* loaded, const PJRT_Api* plugin);
  ~InnerExecutable();
  InnerExecutable(const InnerExecutable&) = delete;
  InnerExecutable& operator=(const InnerExecutable&) = delete;

  // Returns nullptr if the plug-in does not return one.
  PJRT_Executable* get() const { return executable_; }

 private:
  const PJRT_Api* plugin_;
  PJRT_Executable* executable_ = nullptr;
};

}  // namespace framedex::pjrt
