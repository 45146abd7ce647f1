// The functions of libraries that the user named: `framedex run --boundary`.
//
// A boundary is one function. Its callers are redirected to its trampoline (patching.h), which records the call and its
// stack, and jumps to the function. The entry is recorded, not the return.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "boundary/registers.h"
#include "recorder/recorder.h"

namespace framedex::boundary {

// A parameter of a prototype.
struct Parameter {
  enum class Kind : char {
    kInteger = 'i',   // int
    kUnsigned = 'u',  // unsigned int
    kLong = 'l',      // 64 bits
    kAddress = 'p',
    kText = 's',  // const char*
    kDouble = 'd',
    kFloat = 'f',
    kAny = 'a',  // a register of unknown type
  };
  Kind kind;
  std::string name;
};

struct Boundary {
  std::string library;  // a shell pattern for the library's file name; empty for any library
  std::string name;
  std::vector<Parameter> parameters;
  std::vector<const char*> value_names;
  // The function's address. Null until a library with the function is loaded.
  std::atomic<const void*> target{nullptr};
  uint32_t function = 0;  // the recorder's number; valid once `target` is set

  bool is_in(const char* path) const;
};

constexpr size_t kMaximumBoundaries = 256;

// Parses `LIBRARY:NAME:KIND=PARAMETER,...`, separated by semicolons. Skips malformed entries. Without the second colon,
// the parameters are the registers for integer arguments.
std::vector<Boundary*> parse_boundaries(const char* text);

// Writes the arguments of a call as the prototype describes them; without a prototype, the integer registers.
void write_arguments(recorder::ArgumentWriter& writer, const Boundary& boundary, const Registers& registers);

}  // namespace framedex::boundary
