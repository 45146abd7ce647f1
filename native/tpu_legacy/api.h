// The implementation of the legacy TPU C API, whose exported functions jaxlib 0.4.13 looks up in libtpu.so by name.
#pragma once

#include "tpu_c_api.h"

namespace framedex::tpu_legacy {

// Returns the mock's table. The first caller creates it, and starts the recording that the environment requests.
const TpuApi& api();

// Returns a table in which every entry clears its outputs and sets UNIMPLEMENTED if it has a status.
TpuApi unimplemented();
// Sets UNIMPLEMENTED with the function's name.
void unimplemented(TF_Status* status, const char* function);

// Each function puts the mock's implementations into its part of the table.
void add_compiler_functions(TpuApi& api);
void add_executable_functions(TpuApi& api);
void add_executor_functions(TpuApi& api);
void add_platform_functions(TpuApi& api);
void add_status_functions(TpuApi& api);
void add_stream_functions(TpuApi& api);
void add_topology_functions(TpuApi& api);
void add_transfer_functions(TpuApi& api);

}  // namespace framedex::tpu_legacy
