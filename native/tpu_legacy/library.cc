#include <cstdio>
#include <cstdlib>

#include "recorder/recorder.h"
#include "tpu_legacy/api.h"

namespace framedex::tpu_legacy {
namespace {

TpuApi make_api() {
  TpuApi api = unimplemented();
  add_status_functions(api);
  add_platform_functions(api);
  add_topology_functions(api);
  add_executor_functions(api);
  add_stream_functions(api);
  add_transfer_functions(api);
  add_compiler_functions(api);
  add_executable_functions(api);
  return api;
}

void report_unsupported_behaviours() {
  const char* files = std::getenv("FRAMEDEX_BEHAVIOUR");
  if (files == nullptr || *files == 0) return;
  std::fprintf(stderr,
               "framedex: ignoring %s: behaviours need the PJRT C API, but jaxlib 0.4.13 calls the legacy TPU C API"
               ".\n",
               files);
}

}  // namespace

const TpuApi& api() {
  static const TpuApi api = [] {
    recorder::start_from_environment();
    report_unsupported_behaviours();
    return make_api();
  }();
  return api;
}

}  // namespace framedex::tpu_legacy
