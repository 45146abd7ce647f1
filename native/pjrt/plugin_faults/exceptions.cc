#include "pjrt/plugin_faults/exceptions.h"

#include <cxxabi.h>
#include <unwind.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string_view>
#include <typeinfo>

namespace framedex::pjrt {
namespace {

std::string demangle(const char* name) {
  int status = 0;
  char* text = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  std::string result = status == 0 && text != nullptr ? text : name;
  std::free(text);
  return result;
}

std::string described(const std::type_info* type, const char* message) {
  std::string text = type != nullptr ? demangle(type->name()) : "exception of another language";
  return message != nullptr ? text + ": " + message : text;
}

// The end of the Itanium C++ ABI's exception header: the members that are the same in libstdc++ and libc++abi on LP64.
struct ExceptionHeader {
  std::type_info* type;
  void* before_unwind_header[9];
  _Unwind_Exception unwind_header;
};
static_assert(offsetof(ExceptionHeader, unwind_header) == 80);

// The names of the standard exceptions. Their messages are read through the third entry of the vtable, what().
constexpr std::array<std::string_view, 13> kStandard = {
    "St9exception",     "St13runtime_error", "St11logic_error",      "St12domain_error",   "St16invalid_argument",
    "St12length_error", "St12out_of_range",  "St11range_error",      "St14overflow_error", "St15underflow_error",
    "St9bad_alloc",     "St8bad_cast",       "St17bad_function_call"};

const char* message_of(const std::type_info& type, void* object) {
  for (std::string_view name : kStandard) {
    if (name == type.name()) return static_cast<std::exception*>(object)->what();
  }
  return nullptr;
}

// Describes an exception of another C++ runtime. A handler has no access to such an object, but the list of caught
// exceptions in the runtime begins with its header.
std::string foreign_exception() {
  ExceptionHeader* header;
  std::memcpy(&header, abi::__cxa_get_globals(), sizeof(void*));
  if (header == nullptr) return described(nullptr, nullptr);
  constexpr std::string_view kCxx = "C++";  // the exception class is a vendor and a language, highest byte first
  _Unwind_Exception_Class kind = header->unwind_header.exception_class;
  for (size_t i = 0; i < kCxx.size(); ++i) {
    if (static_cast<char>(kind >> 8 * (kCxx.size() - i)) != kCxx[i]) return described(nullptr, nullptr);
  }
  return described(header->type, message_of(*header->type, header + 1));
}

}  // namespace

std::string current_exception() {
  std::exception_ptr native = std::current_exception();  // null for another runtime's, and at the end of a thread
  if (native == nullptr) return foreign_exception();
  const std::type_info* type = abi::__cxa_current_exception_type();
  try {
    std::rethrow_exception(native);
  } catch (const std::exception& error) {
    return described(type, error.what());
  } catch (...) {
    return described(type, nullptr);
  }
}

}  // namespace framedex::pjrt
