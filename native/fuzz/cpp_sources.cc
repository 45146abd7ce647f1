// Fuzzes C and C++ sources, with and without their own macros: any text is accepted.
#include <stdexcept>

#include "extractor/cpp/cpp.h"
#include "extractor/preprocessing/scrub.h"
#include "fuzz/grammars.h"
#include "fuzz/sources.h"

namespace {

namespace extractor = framedex::extractor;

void extract(std::string_view source, const extractor::MacroTable& macros) {
  static extractor::Workspace workspace;
  extractor::ScrubbedSource scrubbed = extractor::scrub(source, macros);
  framedex::fuzz::require(scrubbed.text.size() == source.size());
  try {
    framedex::fuzz::check(
        extractor::extract_cpp(framedex::fuzz::languages().cpp, source, "fuzzed.cc", macros, workspace), source);
  } catch (const std::runtime_error&) {
    // rejected, with a message
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string source(reinterpret_cast<const char*>(data), size);
  if (source.find('\0') != std::string::npos) return -1;
  extract(source, extractor::MacroTable());
  extractor::MacroTable learnt;
  learnt.learn(source);
  if (!learnt.empty()) extract(source, extractor::MacroTable::parse(learnt.serialize()));
  return 0;
}
