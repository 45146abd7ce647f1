// Inputs of a replay for buffers whose content was not recorded.
#pragma once

#include <cstdint>
#include <string>

#include "pjrt_c_api.h"

namespace framedex::replay {

// Returns `count` elements that depend only on the seed: reals in [-1, 1), integers in [0, 8), booleans.
std::string make_seeded_content(PJRT_Buffer_Type type, size_t count, uint64_t seed);

}  // namespace framedex::replay
