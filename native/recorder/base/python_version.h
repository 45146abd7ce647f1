// Which Python this process runs, if it runs one.
#pragma once

#include <dlfcn.h>

#include <string>

namespace framedex::recorder {

// What `sys.version` begins with; empty without an interpreter.
inline std::string python_version() {
  auto* get_version = reinterpret_cast<const char* (*)()>(dlsym(RTLD_DEFAULT, "Py_GetVersion"));
  return get_version == nullptr ? "" : get_version();
}

// Whether it is a build without the GIL, also where the GIL is switched on: its objects have other headers, its threads
// byte code of their own.
inline bool is_free_threaded(const std::string& version) { return version.find("free-threading") != std::string::npos; }

}  // namespace framedex::recorder
