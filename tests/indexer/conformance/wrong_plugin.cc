// A PJRT plug-in of a few functions. The variable WRONG selects the rule that it breaks.
#include <signal.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

namespace {

struct Error {
  int code;
  const char* message;
};
struct Api {
  size_t size = sizeof(Api);
  void* extensions = nullptr;
  size_t version_size = 24;
  void* version_extensions = nullptr;
  int major = 0;
  int minor = 106;
  void* functions[136] = {};
};

const std::string wrong = getenv("WRONG") != nullptr ? getenv("WRONG") : "";

// Writes a value at an offset of an argument struct.
template <typename Value>
void put(void* arguments, size_t offset, Value value) {
  std::memcpy(static_cast<char*>(arguments) + offset, &value, sizeof(value));
}

template <typename Value>
Value get(void* arguments, size_t offset) {
  Value value;
  std::memcpy(&value, static_cast<char*>(arguments) + offset, sizeof(value));
  return value;
}

void destroy_error(void* arguments) { delete get<Error*>(arguments, 16); }

void message(void* arguments) {
  const char* text = get<Error*>(arguments, 16)->message;
  put(arguments, 24, text);
  put(arguments, 32, std::strlen(text));
}

void* code(void* arguments) {
  put(arguments, 24, get<Error*>(arguments, 16)->code);
  return nullptr;
}

void* ok(void*) { return nullptr; }
void* unimplemented(void*) { return new Error{12, "not implemented"}; }

void* create(void* arguments) {
  static int client;
  if (wrong == "throw") throw std::runtime_error("thrown on purpose");
  put(arguments, 64, &client);
  return nullptr;
}

void crash_on_purpose() {
  volatile int* nowhere = nullptr;
  *nowhere = 1;
}

void hang_on_purpose() {
  for (;;) pause();
}

void* platform_name(void* arguments) {
  if (wrong == "crash") crash_on_purpose();
  if (wrong == "hang") hang_on_purpose();
  if (wrong == "unfilled") return nullptr;
  if (wrong == "exit") _exit(3);
  put(arguments, 24, wrong == "text" ? "\xff\xfe" : "ok");
  put(arguments, 32, size_t{2});
  if (wrong == "behind") put(arguments, 40, 1);
  return nullptr;
}

void* process_index(void* arguments) {
  put(arguments, 24, wrong == "result" ? 7 : 0);
  return nullptr;
}

}  // namespace

extern "C" const void* GetPjrtApi() {
  static Api api;
  if (wrong == "table") return nullptr;
  for (void*& function : api.functions) function = reinterpret_cast<void*>(unimplemented);
  api.functions[0] = reinterpret_cast<void*>(destroy_error);
  api.functions[1] = reinterpret_cast<void*>(message);
  api.functions[2] = reinterpret_cast<void*>(code);
  api.functions[3] = reinterpret_cast<void*>(ok);
  api.functions[10] = reinterpret_cast<void*>(create);
  api.functions[11] = reinterpret_cast<void*>(ok);
  api.functions[12] = reinterpret_cast<void*>(platform_name);
  api.functions[13] = reinterpret_cast<void*>(process_index);
  if (wrong == "null") api.functions[14] = nullptr;
  return &api;
}
