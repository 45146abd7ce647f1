// The status argument through which a function reports its outcome.
#pragma once

#include <string>

#include "tpu_c_api.h"

struct TSL_Status {
  int code = TpuStatusCode_ok;
  std::string message;
};

namespace framedex::tpu_legacy {

// Does nothing if the caller passed no status.
void fail(TF_Status* status, TpuStatusCode code, std::string message);

}  // namespace framedex::tpu_legacy
