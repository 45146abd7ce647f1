// The status that callers hand in, in which a function says how it went.
#pragma once

#include <string>

#include "tpu_c_api.h"

struct TSL_Status {
  int code = TpuStatusCode_ok;
  std::string message;
};

namespace framedex::tpu_legacy {

// Nothing happens where a caller handed in no status.
void fail(TF_Status* status, TpuStatusCode code, std::string message);

}  // namespace framedex::tpu_legacy
