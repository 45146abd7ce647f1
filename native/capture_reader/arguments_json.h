// The recorded values of a call as JSON.
#pragma once

#include <string>
#include <vector>

#include "capture_reader/stream_reader.h"
#include "recorder/base/json.h"

namespace framedex::capture {

// Adds every value in `body` to `object` under its name. Addresses become hexadecimal texts, since not every reader of
// JSON keeps integers of 64 bits. False if the values were damaged.
bool add_values(Body body, const std::vector<std::string>& names, JsonObject* object);

}  // namespace framedex::capture
