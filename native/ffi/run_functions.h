// The boundary functions that runs of handlers are recorded as.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace framedex::ffi {

// The values of a recorded run, by index.
enum RunValue : uint16_t { kArguments, kResults, kAttributes, kInstance, kSite, kDevice, kRunId, kIsAsynchronous };
constexpr std::array<const char*, 8> kRunValues = {"arguments", "results", "attributes", "instance",
                                                   "site",      "device",  "run_id",     "asynchronous"};

// Returns the recorder's number of the function with this name and handler, and registers it at first use. Returns
// nothing if the recorder's table is full.
std::optional<uint32_t> run_function(const std::string& name, const void* handler);

}  // namespace framedex::ffi
