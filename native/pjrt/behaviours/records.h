// What is recorded of behaviours: calls of the boundary `behaviour`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace framedex::behaviours {

// The values of `Behaviour::Run`, by their place.
enum RunValue : uint16_t { kBehaviour, kPlace, kFunction, kOutcome };

// The number that calls of `Behaviour::Run` are recorded by.
uint32_t run_function();

// Records that behaviours did not do what they were to do: `outcome` is `left out`, `abandoned` or `hung`.
void record_trouble(const std::string& name, const std::string& place, size_t function, const char* outcome,
                    const std::string& message);

}  // namespace framedex::behaviours
