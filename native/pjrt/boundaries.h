// The boundaries of the plug-ins of a process in captures, in the order in which the process loads them.
#pragma once

#include <cstddef>
#include <iterator>

namespace framedex::pjrt {

inline constexpr const char* kBoundaries[] = {"pjrt", "pjrt#2"};
// The maximum number of recorded plug-ins of a process.
inline constexpr size_t kMaximumPlugins = std::size(kBoundaries);

}  // namespace framedex::pjrt
