// A core's streams.
#pragma once

#include "tpu_c_api.h"

struct SE_Stream {
  SE_StreamExecutor* executor;
};
