// Records behaviours, as calls of the boundary `behaviour`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace framedex::behaviours {

// The values of `Behaviour::Run`, by index.
enum RunValue : uint16_t { kBehaviour, kPlace, kFunction, kOutcome };

// Returns the recorder's number for `Behaviour::Run`.
uint32_t run_function();

// Records that behaviours did not run to completion. `outcome` is `left out`, `abandoned` or `hung`.
void record_trouble(const std::string& name, const std::string& place, size_t function, const char* outcome,
                    const std::string& message);

}  // namespace framedex::behaviours
