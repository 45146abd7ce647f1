// Fuzzes CPython's location tables: any bytes give a line or none for every instruction.
#include "capture_reader/capture_reader.h"
#include "fuzz/input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  framedex::fuzz::Input input(data, size);
  auto first_line = input.number<int32_t>();
  auto instruction = input.number<uint64_t>();
  std::string table(input.rest());
  framedex::fuzz::require(framedex::capture::line_of(table, first_line, instruction) >= 0);
  framedex::fuzz::require(framedex::capture::line_of(table, first_line, instruction % (2 * size + 1)) >= 0);
  return 0;
}
