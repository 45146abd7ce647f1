#include "pjrt/compiled_memory.h"

#include <optional>
#include <string>
#include <utility>

#include "pjrt/inner_executable.h"
#include "pjrt/traced_call.h"

namespace framedex::pjrt {
namespace {

using Sizes = PJRT_Executable_GetCompiledMemoryStats_Args;

std::optional<Sizes> query_sizes(PJRT_Executable* executable, const PJRT_Api* plugin) {
  if (executable == nullptr || !has_function(plugin, &PJRT_Api::PJRT_Executable_GetCompiledMemoryStats)) return {};
  Sizes sizes{};
  sizes.struct_size = PJRT_Executable_GetCompiledMemoryStats_Args_STRUCT_SIZE;
  sizes.executable = executable;
  if (discard(plugin->PJRT_Executable_GetCompiledMemoryStats(&sizes), plugin)) return {};
  return sizes;
}

// A program on several devices may have collectives.
bool runs_on_several_devices(PJRT_Executable* executable, const PJRT_Api* plugin) {
  if (!has_function(plugin, &PJRT_Api::PJRT_Executable_NumPartitions)) return false;
  PJRT_Executable_NumPartitions_Args args{};
  args.struct_size = PJRT_Executable_NumPartitions_Args_STRUCT_SIZE;
  args.executable = executable;
  return !discard(plugin->PJRT_Executable_NumPartitions(&args), plugin) && args.num_partitions > 1;
}

// Fetches the optimised program: first its size, then its bytes.
std::string query_program(PJRT_Executable* executable, const PJRT_Api* plugin) {
  if (!has_function(plugin, &PJRT_Api::PJRT_Executable_OptimizedProgram)) return {};
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

void compiled_memory(recorder::ArgumentWriter& writer, uint16_t field, PJRT_Executable* executable,
                     const PJRT_Api* plugin) {
  static constexpr std::pair<const char*, int64_t Sizes::*> kParts[] = {
      {"temporaries", &Sizes::temp_size_in_bytes},   {"code", &Sizes::generated_code_size_in_bytes},
      {"arguments", &Sizes::argument_size_in_bytes}, {"results", &Sizes::output_size_in_bytes},
      {"aliased", &Sizes::alias_size_in_bytes},      {"peak", &Sizes::peak_memory_in_bytes},
  };
  std::optional<Sizes> sizes = query_sizes(executable, plugin);
  if (!sizes) return;
  std::string text;
  for (const auto& [name, member] : kParts) {
    text += (text.empty() ? "" : ", ") + std::string(name) + "=" + std::to_string((*sizes).*member);
  }
  writer.text(field, text);
  if (sizes->temp_size_in_bytes <= 0 && !runs_on_several_devices(executable, plugin)) return;
  std::string program = query_program(executable, plugin);
  if (!program.empty()) recorder::keep(writer, static_cast<uint16_t>(field + 1), program.data(), program.size());
}

void compiled_memory(recorder::ArgumentWriter& writer, uint16_t field, PJRT_LoadedExecutable* loaded,
                     const PJRT_Api* plugin) {
  compiled_memory(writer, field, InnerExecutable(loaded, plugin).get(), plugin);
}

}  // namespace framedex::pjrt
