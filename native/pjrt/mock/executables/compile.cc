// Compiles programs, and serialises executables.
#include "pjrt/mock/base/error.h"
#include "pjrt/mock/delegate/child_compiler.h"
#include "pjrt/mock/delegate/encoding.h"
#include "pjrt/mock/executables/executable.h"
#include "pjrt/traced_call.h"

namespace framedex::mock {
namespace {

constexpr int kNoProcess = -1;  // owner of the devices in a topology without a client

constexpr char kMagic[] = "framedex mock TPU executable 1\n";

std::string serialize(const ProgramSource& source) {
  Encoder encoder;
  encoder.text(source.format);
  encoder.text(source.code);
  encoder.text(source.options);
  return kMagic + encoder.bytes();
}

// Returns false if the bytes are not from serialize().
bool deserialize(std::string_view bytes, ProgramSource& source) {
  constexpr std::string_view magic(kMagic);
  if (bytes.substr(0, magic.size()) != magic) return false;
  Decoder decoder(bytes.substr(magic.size()));
  source.format = decoder.text();
  source.code = decoder.text();
  source.options = decoder.text();
  return decoder.is_complete();
}

// Returns a TPU compiler's error for a program that can never fit into its devices' memory.
Status check_memory(const Program& program, int64_t limit) {
  int64_t arguments = program.memory_size("argument_size_in_bytes");
  int64_t results = program.memory_size("output_size_in_bytes") - program.memory_size("alias_size_in_bytes");
  int64_t temporary = program.memory_size("temp_size_in_bytes");
  int64_t needed = arguments + results + temporary;
  if (needed <= limit) return {};
  return {PJRT_Error_Code_RESOURCE_EXHAUSTED,
          "Ran out of memory on HBM, the total memory required for HLO temporaries (" + std::to_string(needed) +
              " bytes: arguments " + std::to_string(arguments) + ", results " + std::to_string(results) +
              ", the program's own " + std::to_string(temporary) + ") exceeds available HBM (" + std::to_string(limit) +
              " bytes; framedex run --hbm BYTES)."};
}

std::shared_ptr<const Program> compile_here(const PJRT_TopologyDescription& topology, int process_index,
                                            ProgramSource source, Delegate*& delegate, Status& status) {
  delegate = Delegate::find_or_create(topology.handles, process_index, status);
  std::shared_ptr<const Program> program = delegate != nullptr ? delegate->compile(std::move(source), status) : nullptr;
  if (program != nullptr) status = check_memory(*program, topology.topology.memory());
  return program;
}

PJRT_Error* load(PJRT_Client* client, ProgramSource source, PJRT_LoadedExecutable** executable) {
  Status status;
  Delegate* delegate = nullptr;
  auto program = compile_here(client->topology, client->process_index, std::move(source), delegate, status);
  if (status.is_ok()) *executable = new PJRT_LoadedExecutable(client, delegate, std::move(program));
  return status.to_error();
}

ProgramSource source_of(const PJRT_Program& program, const char* options, size_t options_size) {
  return {std::string(program.format, program.format_size), std::string(program.code, program.code_size),
          std::string(options, options_size)};
}

PJRT_Error* compile(PJRT_Client_Compile_Args* args) {
  return load(args->client, source_of(*args->program, args->compile_options, args->compile_options_size),
              &args->executable);
}

// Compiles ahead of time for devices that do not exist. One CPU device per topology device stands in for them.
std::shared_ptr<const Program> compile_ahead(const PJRT_TopologyDescription& topology, ProgramSource source,
                                             Status& status) {
  Delegate* delegate = nullptr;
  if (!python::is_usable() || can_take_gil())
    return compile_here(topology, kNoProcess, std::move(source), delegate, status);
  std::shared_ptr<const Program> program = compile_in_child(topology.handles, std::move(source), status);
  if (program != nullptr) status = check_memory(*program, topology.topology.memory());
  return program;
}

PJRT_Error* compile_for_topology(PJRT_Compile_Args* args) {
  Status status;
  auto program = compile_ahead(*args->topology,
                               source_of(*args->program, args->compile_options, args->compile_options_size), status);
  if (status.is_ok()) args->executable = new PJRT_Executable(std::move(program));
  return status.to_error();
}

PJRT_Error* load_compiled(PJRT_Client_Load_Args* args) {
  ProgramSource source = args->executable->program->source;
  if (args->compile_options_size != 0) source.options.assign(args->compile_options, args->compile_options_size);
  return load(args->client, std::move(source), &args->loaded_executable);
}

PJRT_Error* serialize_executable(PJRT_Executable_Serialize_Args* args) {
  auto* serialized = new std::string(serialize(args->executable->program->source));
  args->serialized_bytes = serialized->data();
  args->serialized_bytes_size = serialized->size();
  args->serialized_executable = reinterpret_cast<PJRT_SerializedExecutable*>(serialized);
  args->serialized_executable_deleter = [](PJRT_SerializedExecutable* held) {
    delete reinterpret_cast<std::string*>(held);
  };
  return nullptr;
}

// Compiles the program again: its serialised form is the source, so it works with any jaxlib that reads it.
PJRT_Error* deserialize_and_load(PJRT_Executable_DeserializeAndLoad_Args* args) {
  ProgramSource source;
  if (!deserialize({args->serialized_executable, args->serialized_executable_size}, source)) {
    return make_error(PJRT_Error_Code_INVALID_ARGUMENT,
                      "These bytes are not an executable of framedex's mock TPU (version 1), or are incomplete.");
  }
  using Args = PJRT_Executable_DeserializeAndLoad_Args;
  if (pjrt::has(args, &Args::overridden_serialized_compile_options_size) &&
      args->overridden_serialized_compile_options_size != 0) {
    source.options.assign(args->overridden_serialized_compile_options,
                          args->overridden_serialized_compile_options_size);
  }
  return load(args->client, std::move(source), &args->loaded_executable);
}

PJRT_Error* compile_options(PJRT_Executable_GetCompileOptions_Args* args) {
  // The bytes belong to the executable, which the caller keeps while it uses them.
  args->serialized_bytes = args->executable->program->source.options.data();
  args->serialized_bytes_size = args->executable->program->source.options.size();
  args->serialized_compile_options = nullptr;
  args->serialized_compile_options_deleter = [](PJRT_SerializedCompileOptions*) {};
  return nullptr;
}

}  // namespace

void add_compile_functions(PJRT_Api& api) {
  api.PJRT_Client_Compile = compile;
  api.PJRT_Compile = compile_for_topology;
  api.PJRT_Client_Load = load_compiled;
  api.PJRT_Executable_Serialize = serialize_executable;
  api.PJRT_Executable_DeserializeAndLoad = deserialize_and_load;
  api.PJRT_Executable_GetCompileOptions = compile_options;
}

}  // namespace framedex::mock
