#include "pjrt/compiled_memory.h"

#include <optional>
#include <string>
#include <utility>

#include "pjrt/traced_call.h"

namespace framedex::pjrt {
namespace {

using Sizes = PJRT_Executable_GetCompiledMemoryStats_Args;

// All calls go to the plug-in's own table, so that they are not recorded.
template <typename Function>
bool offers(const PJRT_Api* plugin, Function PJRT_Api::* function) {
  return has(plugin, function) && plugin->*function != nullptr;
}

// The executable inside a loaded one, destroyed at the end of the scope.
class InnerExecutable {
 public:
  InnerExecutable(PJRT_LoadedExecutable* loaded, const PJRT_Api* plugin) : plugin_(plugin) {
    if (loaded == nullptr || !offers(plugin, &PJRT_Api::PJRT_LoadedExecutable_GetExecutable)) return;
    PJRT_LoadedExecutable_GetExecutable_Args args{};
    args.struct_size = PJRT_LoadedExecutable_GetExecutable_Args_STRUCT_SIZE;
    args.loaded_executable = loaded;
    if (!discard(plugin->PJRT_LoadedExecutable_GetExecutable(&args), plugin)) executable_ = args.executable;
  }
  InnerExecutable(const InnerExecutable&) = delete;
  InnerExecutable& operator=(const InnerExecutable&) = delete;
  ~InnerExecutable() {
    if (executable_ == nullptr || !offers(plugin_, &PJRT_Api::PJRT_Executable_Destroy)) return;
    PJRT_Executable_Destroy_Args args{};
    args.struct_size = PJRT_Executable_Destroy_Args_STRUCT_SIZE;
    args.executable = executable_;
    discard(plugin_->PJRT_Executable_Destroy(&args), plugin_);
  }

  PJRT_Executable* get() const { return executable_; }

 private:
  const PJRT_Api* plugin_;
  PJRT_Executable* executable_ = nullptr;
};

std::optional<Sizes> ask_sizes(PJRT_Executable* executable, const PJRT_Api* plugin) {
  if (executable == nullptr || !offers(plugin, &PJRT_Api::PJRT_Executable_GetCompiledMemoryStats)) return {};
  Sizes sizes{};
  sizes.struct_size = PJRT_Executable_GetCompiledMemoryStats_Args_STRUCT_SIZE;
  sizes.executable = executable;
  if (discard(plugin->PJRT_Executable_GetCompiledMemoryStats(&sizes), plugin)) return {};
  return sizes;
}

// Fetches the optimised program: first its size, then its bytes.
std::string ask_program(PJRT_Executable* executable, const PJRT_Api* plugin) {
  if (!offers(plugin, &PJRT_Api::PJRT_Executable_OptimizedProgram)) return {};
  PJRT_Program program{};
  program.struct_size = PJRT_Program_STRUCT_SIZE;
  PJRT_Executable_OptimizedProgram_Args args{};
  args.struct_size = PJRT_Executable_OptimizedProgram_Args_STRUCT_SIZE;
  args.executable = executable;
  args.program = &program;
  if (discard(plugin->PJRT_Executable_OptimizedProgram(&args), plugin)) return {};
  std::string code(program.code_size, '\0');
  program.code = code.data();
  if (code.empty() || discard(plugin->PJRT_Executable_OptimizedProgram(&args), plugin)) return {};
  return code;
}

}  // namespace

void memory_sizes(recorder::ArgumentWriter& writer, uint16_t field, PJRT_Executable* executable,
                  const PJRT_Api* plugin) {
  static constexpr std::pair<const char*, int64_t Sizes::*> kParts[] = {
      {"temporaries", &Sizes::temp_size_in_bytes},   {"code", &Sizes::generated_code_size_in_bytes},
      {"arguments", &Sizes::argument_size_in_bytes}, {"results", &Sizes::output_size_in_bytes},
      {"aliased", &Sizes::alias_size_in_bytes},      {"peak", &Sizes::peak_memory_in_bytes},
  };
  std::optional<Sizes> sizes = ask_sizes(executable, plugin);
  if (!sizes) return;
  std::string text;
  for (const auto& [name, member] : kParts) {
    text += (text.empty() ? "" : ", ") + std::string(name) + "=" + std::to_string((*sizes).*member);
  }
  writer.text(field, text);
}

void memory_sizes(recorder::ArgumentWriter& writer, uint16_t field, PJRT_LoadedExecutable* loaded,
                  const PJRT_Api* plugin) {
  memory_sizes(writer, field, InnerExecutable(loaded, plugin).get(), plugin);
}

void optimized_kept(recorder::ArgumentWriter& writer, uint16_t field, PJRT_Executable* executable,
                    const PJRT_Api* plugin) {
  std::optional<Sizes> sizes = ask_sizes(executable, plugin);
  if (!sizes || sizes->temp_size_in_bytes <= 0) return;
  std::string program = ask_program(executable, plugin);
  if (!program.empty()) recorder::keep(writer, field, program.data(), program.size());
}

void optimized_kept(recorder::ArgumentWriter& writer, uint16_t field, PJRT_LoadedExecutable* loaded,
                    const PJRT_Api* plugin) {
  optimized_kept(writer, field, InnerExecutable(loaded, plugin).get(), plugin);
}

}  // namespace framedex::pjrt
