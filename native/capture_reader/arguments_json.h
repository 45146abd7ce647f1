// Formats the recorded values of a call as JSON.
#pragma once

#include <string>
#include <vector>

#include "capture_reader/stream_reader.h"
#include "recorder/base/json.h"

namespace framedex::capture {

// Adds every value in `body` to `object` under its name. Addresses become hexadecimal texts, because some JSON readers
// do not keep 64-bit integers. Returns false if the values were damaged.
bool add_values(Body body, const std::vector<std::string>& names, JsonObject* object);

}  // namespace framedex::capture
