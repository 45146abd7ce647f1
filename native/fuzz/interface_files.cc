// Fuzzes protocol buffers and TableGen: any text is accepted.
#include "extractor/interface_files.h"

#include "fuzz/sources.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string source(reinterpret_cast<const char*>(data), size);
  framedex::fuzz::check(framedex::extractor::extract_proto(source), source);
  framedex::fuzz::check(framedex::extractor::extract_tablegen(source), source);
  return 0;
}
