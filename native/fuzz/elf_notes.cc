// Fuzzes ELF notes: a build-id is inside them, or there is none.
#include "fuzz/input.h"
#include "recorder/process/modules.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string notes(reinterpret_cast<const char*>(data), size);
  std::string found = framedex::recorder::build_id_in(notes);
  framedex::fuzz::require(found.size() <= size && notes.find(found) != std::string::npos);
  return 0;
}
