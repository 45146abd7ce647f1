#include "pjrt/mock/extensions/profiler.h"

#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "pjrt/mock/devices/device_activity.h"

struct PLUGIN_Profiler {
  bool wants_devices;
  std::unique_ptr<framedex::mock::ActivityWatch> watch;
  std::string collected;  // a serialised XSpace
};

namespace framedex::mock {
namespace {

PLUGIN_Profiler_Error* start(PLUGIN_Profiler_Start_Args* args) {
  if (args->profiler->wants_devices) args->profiler->watch = std::make_unique<ActivityWatch>();
  return nullptr;
}

PLUGIN_Profiler_Error* collect(PLUGIN_Profiler_CollectData_Args* args) {
  PLUGIN_Profiler& profiler = *args->profiler;
  if (args->buffer == nullptr) {
    profiler.collected = profiler.watch != nullptr ? to_xspace(profiler.watch->activities()) : "";
    // XLA reads these bytes once and does not ask again.
    args->buffer = reinterpret_cast<uint8_t*>(profiler.collected.data());
  } else {
    std::memcpy(args->buffer, profiler.collected.data(), profiler.collected.size());
  }
  args->buffer_size_in_bytes = profiler.collected.size();
  return nullptr;
}

PLUGIN_Profiler_Api make_api() {
  PLUGIN_Profiler_Api api{};
  api.struct_size = offsetof(PLUGIN_Profiler_Api, consume);  // XLA collects what it cannot consume
  // No function of this profiler fails, so there are no errors.
  api.error_destroy = [](PLUGIN_Profiler_Error_Destroy_Args*) {};
  api.error_message = [](PLUGIN_Profiler_Error_Message_Args* args) {
    args->message = "";
    args->message_size = 0;
  };
  api.error_get_code = [](PLUGIN_Profiler_Error_GetCode_Args* args) -> PLUGIN_Profiler_Error* {
    args->code = PJRT_Error_Code_OK;
    return nullptr;
  };
  api.create = [](PLUGIN_Profiler_Create_Args* args) -> PLUGIN_Profiler_Error* {
    // The value of `tpu_trace_mode` in tensorflow.ProfileOptions.advanced_configuration.
    bool is_host_only =
        std::string_view(args->options, args->options_size).find("TRACE_ONLY_HOST") != std::string::npos;
    args->profiler = new PLUGIN_Profiler{!is_host_only, nullptr, {}};
    return nullptr;
  };
  api.destroy = [](PLUGIN_Profiler_Destroy_Args* args) -> PLUGIN_Profiler_Error* {
    delete args->profiler;
    return nullptr;
  };
  api.start = start;
  api.stop = [](PLUGIN_Profiler_Stop_Args* args) -> PLUGIN_Profiler_Error* {
    if (args->profiler->watch != nullptr) args->profiler->watch->stop();
    return nullptr;
  };
  api.collect_data = collect;
  return api;
}

}  // namespace

PJRT_Extension_Base* profiler_extension() {
  static PLUGIN_Profiler_Api api = make_api();
  static PJRT_Profiler_Extension extension{
      {PJRT_Profiler_Extension_STRUCT_SIZE, PJRT_Extension_Type_Profiler, nullptr}, &api, 0};
  return &extension.base;
}

}  // namespace framedex::mock
