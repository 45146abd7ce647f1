// Fuzzes call values: damaged ones are formatted as JSON or rejected.
#include "capture_reader/arguments_json.h"
#include "fuzz/input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::vector<std::string> names = {"client", "device", "a \"quoted\" name", "", "shape"};
  std::string bytes(reinterpret_cast<const char*>(data), size);
  for (uint32_t version : {framedex::capture::version_2::kVersion, framedex::capture::kVersion}) {
    framedex::JsonObject object;
    framedex::capture::add_values(framedex::capture::Body(bytes, version), names, &object);
    std::string json = object.finish();
    framedex::fuzz::require(json.front() == '{' && json.back() == '}');
  }
  return 0;
}
