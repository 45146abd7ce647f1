// The recorder's functions as which runs of handlers are recorded.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace framedex::ffi {

// The values that a run is recorded with, by index.
enum RunValue : uint16_t { kArguments, kResults, kAttributes, kInstance, kSite, kDevice, kRunId, kIsAsynchronous };
constexpr std::array<const char*, 8> kRunValues = {"arguments", "results", "attributes", "instance",
                                                   "site",      "device",  "run_id",     "asynchronous"};

// The recorder's number of the function of this name that has this handler; registered at the first time. Nothing where
// the recorder takes no more.
std::optional<uint32_t> run_function(const std::string& name, const void* handler);

}  // namespace framedex::ffi
