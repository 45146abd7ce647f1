// Fuzzes Python sources: any text is accepted.
#include <stdexcept>

#include "extractor/python.h"
#include "fuzz/grammars.h"
#include "fuzz/sources.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static framedex::extractor::Workspace workspace;
  std::string source(reinterpret_cast<const char*>(data), size);
  if (source.find('\0') != std::string::npos) return -1;
  try {
    framedex::fuzz::check(framedex::extractor::extract_python(framedex::fuzz::languages().python, source, workspace),
                          source);
  } catch (const std::runtime_error&) {
    // rejected, with a message
  }
  return 0;
}
