#include "pjrt/inner_executable.h"

#include "pjrt/traced_call.h"

namespace framedex::pjrt {

InnerExecutable::InnerExecutable(PJRT_LoadedExecutable* loaded, const PJRT_Api* plugin) : plugin_(plugin) {
  if (loaded == nullptr || !has_function(plugin, &PJRT_Api::PJRT_LoadedExecutable_GetExecutable) ||
      !has_function(plugin, &PJRT_Api::PJRT_Executable_Destroy)) {
    return;
  }
  PJRT_LoadedExecutable_GetExecutable_Args args{};
  args.struct_size = PJRT_LoadedExecutable_GetExecutable_Args_STRUCT_SIZE;
  args.loaded_executable = loaded;
  if (!discard(plugin->PJRT_LoadedExecutable_GetExecutable(&args), plugin)) executable_ = args.executable;
}

InnerExecutable::~InnerExecutable() {
  if (executable_ == nullptr) return;
  PJRT_Executable_Destroy_Args args{};
  args.struct_size = PJRT_Executable_Destroy_Args_STRUCT_SIZE;
  args.executable = executable_;
  discard(plugin_->PJRT_Executable_Destroy(&args), plugin_);
}

}  // namespace framedex::pjrt
