// The functions behind the exported ones of the legacy TPU C API: what jaxlib 0.4.13 looks up in libtpu.so by name.
#pragma once

#include "tpu_c_api.h"

namespace framedex::tpu_legacy {

// The mock's table. The first caller makes it, and starts the recording that the environment asks for.
const TpuApi& api();

// A table that has every entry: each clears its outputs and answers UNIMPLEMENTED where it has a status.
TpuApi unimplemented();
// Sets UNIMPLEMENTED with the function's name.
void unimplemented(TF_Status* status, const char* function);

// Each puts what the mock implements into its part of the table.
void add_compiler_functions(TpuApi& api);
void add_executable_functions(TpuApi& api);
void add_executor_functions(TpuApi& api);
void add_platform_functions(TpuApi& api);
void add_status_functions(TpuApi& api);
void add_stream_functions(TpuApi& api);
void add_topology_functions(TpuApi& api);
void add_transfer_functions(TpuApi& api);

}  // namespace framedex::tpu_legacy
