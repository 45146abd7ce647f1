// The version of the Python interpreter in this process, if there is one.
#pragma once

#include <dlfcn.h>

#include <string>

namespace framedex::recorder {

// Returns the beginning of `sys.version`; empty without an interpreter.
inline std::string python_version() {
  auto* get_version = reinterpret_cast<const char* (*)()>(dlsym(RTLD_DEFAULT, "Py_GetVersion"));
  return get_version == nullptr ? "" : get_version();
}

// Returns whether the interpreter is a free-threaded build, even if its GIL is enabled. Such a build has other object
// headers and per-thread bytecode.
inline bool is_free_threaded(const std::string& version) { return version.find("free-threading") != std::string::npos; }

}  // namespace framedex::recorder
