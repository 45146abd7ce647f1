// Fuzzes serialised executables: a description is read completely or rejected.
#include "fuzz/input.h"
#include "pjrt/mock/delegate/program.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  framedex::mock::Program program;
  framedex::mock::read_description(bytes, program);
  return 0;
}
