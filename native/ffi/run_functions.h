// The boundary functions that runs of handlers are recorded as.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace framedex::ffi {

// The values of a recorded run, by index.
enum RunValue : uint16_t {
  kArguments,
  kResults,
  kAttributes,
  kInstance,
  kSite,
  kDevice,
  kRunId,
  kIsAsynchronous,
  kSignature,
  kArgumentsName,
  kKeptResults
};
constexpr std::array<const char*, 11> kRunValues = {"arguments", "results",        "attributes",  "instance",
                                                    "site",      "device",         "run_id",      "asynchronous",
                                                    "signature", "arguments.hash", "results.kept"};

// Returns the recorder's number of the function with this name and handler, and registers it at first use. Returns
// nothing if the recorder's table is full.
std::optional<uint32_t> run_function(const std::string& name, const void* handler);

}  // namespace framedex::ffi
