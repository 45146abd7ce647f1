// libtpu.so: what stock JAX loads through TPU_LIBRARY_PATH.
#include "pjrt/mock/buffer.h"
#include "pjrt/mock/client.h"
#include "pjrt/mock/error.h"
#include "pjrt/mock/event.h"
#include "pjrt/mock/executable.h"
#include "pjrt/mock/extensions/layouts.h"
#include "pjrt/mock/extensions/memory_descriptions.h"
#include "pjrt/mock/extensions/profiler.h"
#include "pjrt/mock/host_transfers.h"
#include "pjrt/mock/placeholder_buffers.h"
#include "pjrt/mock/shared_buffers.h"
#include "pjrt/mock/topology.h"
#include "pjrt/mock/transfer_manager.h"
#include "pjrt/mock/unimplemented.h"
#include "pjrt/traced_call.h"

namespace framedex::mock {
namespace {

PJRT_Extension_Base* chain_extensions() {
  PJRT_Extension_Base* first = nullptr;
  for (PJRT_Extension_Base* extension : {layouts_extension(), memory_descriptions_extension(), profiler_extension()}) {
    extension->next = first;
    first = extension;
  }
  return first;
}

PJRT_Api make_api() {
  PJRT_Api api = unimplemented();
  api.struct_size = PJRT_Api_STRUCT_SIZE;
  api.extension_start = chain_extensions();
  api.pjrt_api_version = {};
  api.pjrt_api_version.struct_size = PJRT_Api_Version_STRUCT_SIZE;
  api.pjrt_api_version.major_version = PJRT_API_MAJOR;
  api.pjrt_api_version.minor_version = PJRT_API_MINOR;
  add_error_functions(api);
  add_event_functions(api);
  add_topology_functions(api);
  add_client_functions(api);
  add_buffer_functions(api);
  add_placeholder_buffer_functions(api);
  add_shared_buffer_functions(api);
  add_transfer_manager_functions(api);
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
    return framedex::pjrt::trace(&mock);
  }();
  return api;
}
