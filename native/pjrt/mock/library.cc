// libtpu.so, which stock JAX loads through TPU_LIBRARY_PATH. It provides the mock TPU, or the plug-in to be recorded.
#include <cstdio>
#include <stdexcept>
#include <string>

#include "pjrt/behaviours/loading.h"
#include "pjrt/behaviours/table.h"
#include "pjrt/behaviours/wrapping.h"
#include "pjrt/interposer.h"
#include "pjrt/mock/base/error.h"
#include "pjrt/mock/base/event.h"
#include "pjrt/mock/base/unimplemented.h"
#include "pjrt/mock/buffers/buffer.h"
#include "pjrt/mock/buffers/placeholder_buffers.h"
#include "pjrt/mock/buffers/shared_buffers.h"
#include "pjrt/mock/buffers/transfer_manager.h"
#include "pjrt/mock/delegate/host_transfers.h"
#include "pjrt/mock/devices/client.h"
#include "pjrt/mock/devices/device_memory.h"
#include "pjrt/mock/executables/executable.h"
#include "pjrt/mock/extensions/layouts.h"
#include "pjrt/mock/extensions/memory_descriptions.h"
#include "pjrt/mock/extensions/profiler.h"
#include "pjrt/mock/faults.h"
#include "pjrt/mock/machine/topology_description.h"
#include "recorder/base/python_version.h"
#include "recorder/recorder.h"

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

const std::string& refusal(const std::string& reason = {}) {
  static const std::string text = reason;
  return text;
}

// Returns a table whose first function fails with the reason why there is no plug-in. Frameworks crash on a null table.
const PJRT_Api* refuse(const std::string& reason) {
  refusal(reason);
  static PJRT_Api api = make_api();
  api.PJRT_Plugin_Initialize = [](PJRT_Plugin_Initialize_Args*) {
    return make_error(PJRT_Error_Code_FAILED_PRECONDITION, refusal());
  };
  api.PJRT_Client_Create = [](PJRT_Client_Create_Args*) {
    return make_error(PJRT_Error_Code_FAILED_PRECONDITION, refusal());
  };
  api.PJRT_TopologyDescription_Create = [](PJRT_TopologyDescription_Create_Args*) {
    return make_error(PJRT_Error_Code_FAILED_PRECONDITION, refusal());
  };
  return &api;
}

const PJRT_Api* mock() {
  static const PJRT_Api api = make_api();
  return &api;
}

// The GIL guards the mock's shared data.
void require_gil() {
  std::string version = recorder::python_version();
  if (!recorder::is_free_threaded(version)) return;
  throw std::runtime_error("the mock TPU does not run under free-threaded Python: this is " + version);
}

const PJRT_Api* traced(const std::string& refusal_of_behaviours) {
  try {
    if (!refusal_of_behaviours.empty()) throw std::runtime_error(refusal_of_behaviours);
    pjrt::Plugin plugin = pjrt::plugin_from_environment();
    if (plugin.path.empty()) require_gil();
    recorder::start_from_environment();
    static constexpr AllocationGate kGate{&behaviours::allocate, &behaviours::refusal_reason};
    set_allocation_gate(&kGate);
    if (plugin.path.empty()) plugin = {add_fault_layer(mock()), "the mock TPU"};
    return pjrt::interpose(plugin, &behaviours::add_behaviour_layer);
  } catch (const std::runtime_error& error) {
    std::fprintf(stderr, "framedex: %s\n", error.what());
    return refuse(error.what());
  }
}

}  // namespace
}  // namespace framedex::mock

// The entry point of every PJRT plug-in.
extern "C" FRAMEDEX_EXPORT const PJRT_Api* GetPjrtApi() {
  // Load behaviours before creating the table: their files may open JAX's devices, which calls this again.
  std::string refusal = framedex::behaviours::load_from_environment();
  static const PJRT_Api* api = framedex::mock::traced(refusal);
  return api;
}

// For libframedex_preload.so: returns the table traced, or unchanged if it cannot be traced, since the program must
// run.
extern "C" FRAMEDEX_EXPORT const PJRT_Api* framedex_interpose(const PJRT_Api* table, const char* path) {
  try {
    framedex::recorder::start_from_environment();
    std::string refusal = framedex::behaviours::load_from_environment();
    if (!refusal.empty()) std::fprintf(stderr, "framedex: %s\n", refusal.c_str());
    return framedex::pjrt::interpose({table, path}, &framedex::behaviours::add_behaviour_layer);
  } catch (const std::runtime_error& error) {
    std::fprintf(stderr, "framedex: nothing is recorded: %s\n", error.what());
    return table;
  }
}

// Returns the untraced mock, for another copy of this library that records it.
extern "C" FRAMEDEX_EXPORT const PJRT_Api* framedex_mock_pjrt_api() { return framedex::mock::mock(); }
