// libtpu.so: what stock JAX loads through TPU_LIBRARY_PATH.
#include "pjrt/mock/buffer.h"
#include "pjrt/mock/client.h"
#include "pjrt/mock/error.h"
#include "pjrt/mock/event.h"
#include "pjrt/mock/executable.h"
#include "pjrt/mock/faults.h"
#include "pjrt/mock/host_transfers.h"
#include "pjrt/mock/topology_description.h"
#include "pjrt/mock/unimplemented.h"
#include "pjrt/traced_call.h"

namespace framedex::mock {
namespace {

PJRT_Api make_api() {
  PJRT_Api api = unimplemented();
  api.struct_size = PJRT_Api_STRUCT_SIZE;
  api.extension_start = nullptr;
  api.pjrt_api_version = {};
  api.pjrt_api_version.struct_size = PJRT_Api_Version_STRUCT_SIZE;
  api.pjrt_api_version.major_version = PJRT_API_MAJOR;
  api.pjrt_api_version.minor_version = PJRT_API_MINOR;
  add_error_functions(api);
  add_event_functions(api);
  add_topology_functions(api);
  add_client_functions(api);
  add_buffer_functions(api);
  add_executable_functions(api);
  add_compile_functions(api);
  add_execute_functions(api);
  add_copy_to_device_stream_functions(api);
  return api;
}

}  // namespace
}  // namespace framedex::mock

// The entry point of every PJRT plug-in.
extern "C" FRAMEDEX_EXPORT const PJRT_Api* GetPjrtApi() {
  static const PJRT_Api* api = [] {
    static const PJRT_Api mock = framedex::mock::make_api();
    framedex::recorder::start_from_environment();
    return framedex::pjrt::trace(framedex::mock::with_faults(&mock));
  }();
  return api;
}
