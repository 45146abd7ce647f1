#include "pjrt/mock/delegate/delegate.h"

#include <dlfcn.h>

#include <atomic>
#include <map>
#include <mutex>

#include "pjrt/mock/delegate/execution_threads.h"
#include "pjrt/mock/delegate/host_transfers.h"
#include "pjrt/traced_call.h"

namespace framedex::mock {
namespace {

using python::Gil;
using python::Object;
using python::Reference;

constexpr char kPackage[] = "mock_tpu";          // the folder beside this library
constexpr char kModule[] = "framedex_mock_tpu";  // its unique name in sys.modules

Reference list_of(const std::vector<std::string>& texts) {
  Reference list = python::new_list(texts.size());
  for (size_t i = 0; list && i < texts.size(); ++i) python::set_item(list.get(), i, python::text(texts[i]));
  return list;
}

template <typename Number>
Reference list_of(const std::vector<PJRT_DeviceDescription*>& devices, Number number) {
  Reference list = python::new_list(devices.size());
  for (size_t i = 0; list && i < devices.size(); ++i) {
    python::set_item(list.get(), i, python::integer(number(*devices[i])));
  }
  return list;
}

// Devices with the same ids in the same processes can share a delegate.
std::vector<int> key_of(const std::vector<PJRT_DeviceDescription*>& devices, int process_index) {
  std::vector<int> key = {process_index};
  for (const PJRT_DeviceDescription* device : devices) {
    key.push_back(device->id);
    key.push_back(device->process_index);
  }
  return key;
}

// Takes the objects that run the program, and its description, from `object`. Returns false if an exception is set.
bool take_program(Object* object, Program& program) {
  Reference description = python::attribute(object, "description");
  std::optional<std::string> bytes = description ? python::to_bytes(description.get()) : std::nullopt;
  program.execute = python::attribute(object, "execute");
  program.result_handlers = python::attribute(object, "result_handlers");
  program.sharding = python::attribute(object, "sharding");
  return bytes && read_description(*bytes, program) && program.execute && program.result_handlers && program.sharding;
}

// Prepares the process, once. Returns false if an exception is set.
bool prepare_process(Object* module) {
  static bool is_prepared = false;
  if (is_prepared) return true;
  Reference prepare = python::attribute(module, "prepare_process");
  Reference handler = python::capsule(reinterpret_cast<void*>(&transfer_by_ffi));
  Reference at_exit = python::function("framedex_mock_tpu_at_exit", [] { ExecutionThreads::instance().close(); });
  if (!prepare || !handler || !at_exit) return false;
  is_prepared = static_cast<bool>(python::call(prepare.get(), {handler.get(), at_exit.get()}));
  return is_prepared;
}

int64_t next_key() {
  static std::atomic<int64_t> last{0};
  return ++last;
}

}  // namespace

std::string package_folder() {
  Dl_info library{};
  if (dladdr(reinterpret_cast<const void*>(&package_folder), &library) == 0) return kPackage;
  std::string path = library.dli_fname;
  return path.substr(0, path.rfind('/') + 1) + kPackage;
}

std::vector<std::string> element_type_names() {
  std::vector<std::string> names;
  while (const char* name = pjrt::enumerator(static_cast<PJRT_Buffer_Type>(names.size()))) names.emplace_back(name);
  return names;
}

void release_memory_of_dropped_arrays() {
  static const ProcessOwner owner;
  if (!owner || !python::is_usable()) return;
  Gil gil;
  Reference module = python::loaded_module(kModule);
  if (!module) return;
  Reference release = python::attribute(module.get(), "release_memory");
  if (!release || !python::call(release.get(), {})) python::take_error();
}

Delegate* Delegate::find_or_create(const std::vector<PJRT_DeviceDescription*>& devices, int process_index,
                                   Status& status) {
  static std::mutex mutex;
  static auto* const delegates = new std::map<std::vector<int>, std::unique_ptr<Delegate>>;
  static const ProcessOwner owner;
  if (!owner) {
    status = {
        PJRT_Error_Code_FAILED_PRECONDITION,
        "This process was forked after JAX was used, and jaxlib's CPU client, which runs the mock TPU's programs, "
        "does not survive a fork. Fork before using JAX, or start a new process (multiprocessing's `spawn`)."};
    return nullptr;
  }
  // Wait without the GIL: the thread that opens the delegate needs it.
  python::WithoutGil without_gil;
  std::lock_guard lock(mutex);
  if (!python::is_usable()) {
    status = {PJRT_Error_Code_FAILED_PRECONDITION,
              "framedex's mock TPU compiles and runs programs with the jaxlib of the process's Python, but no Python "
              "is running."};
    return nullptr;
  }
  std::unique_ptr<Delegate>& delegate = (*delegates)[key_of(devices, process_index)];
  if (delegate == nullptr) {
    std::unique_ptr<Delegate> opened(new Delegate);
    Gil gil;
    status = opened->open(devices, process_index);
    if (status.code != PJRT_Error_Code_OK) return nullptr;
    delegate = std::move(opened);
  }
  return delegate.get();
}

bool Delegate::is_usable() const { return owner_ && python::is_usable(); }

Status Delegate::open(const std::vector<PJRT_DeviceDescription*>& devices, int process_index) {
  Reference module = python::import_from(package_folder(), kModule);
  if (!module) return python::take_error();
  Reference make_client = python::attribute(module.get(), "Client");
  Reference ids = list_of(devices, [](const PJRT_DeviceDescription& device) { return device.id; });
  Reference processes = list_of(devices, [](const PJRT_DeviceDescription& device) { return device.process_index; });
  Reference own_process = python::integer(process_index);
  Reference types = list_of(element_type_names());
  if (!make_client || !ids || !processes || !own_process || !types) return python::take_error();
  Reference client = python::call(make_client.get(), {ids.get(), processes.get(), own_process.get(), types.get()});
  if (!client || !prepare_process(module.get())) return python::take_error();

  Reference is_distributed = python::attribute(client.get(), "is_distributed");
  if (!is_distributed) return python::take_error();
  is_distributed_ = python::is_true(is_distributed.get());
  auto method = [&](const char* name) { return python::attribute(client.get(), name); };
  compile_ = method("compile");
  array_ = method("array");
  joined_ = method("joined");
  copied_ = method("copied");
  names_.with_tokens = python::keyword_names("with_tokens");
  names_.consume_with_handlers = python::interned("consume_with_handlers");
  names_.consume_token = python::interned("consume_token");
  names_.is_ready = python::interned("is_ready");
  names_.block_until_ready = python::interned("block_until_ready");
  names_.unsafe_buffer_pointer = python::interned("unsafe_buffer_pointer");
  return compile_ && array_ && joined_ && copied_ ? Status{} : python::take_error();
}

std::shared_ptr<const Program> Delegate::compile(ProgramSource source, Status& status) {
  auto program = std::make_shared<Program>();
  program->key = next_key();
  Gil gil;
  Reference code = python::bytes(source.code);
  Reference format = python::text(source.format);
  Reference options = python::bytes(source.options);
  Reference key = python::integer(program->key);
  if (!code || !format || !options || !key) {
    status = python::take_error();
    return nullptr;
  }
  Reference compiled = python::call(compile_.get(), {code.get(), format.get(), options.get(), key.get()});
  if (!compiled || !take_program(compiled.get(), *program)) {
    status = python::take_error();
    return nullptr;
  }
  program->source = std::move(source);
  return program;
}

Reference Delegate::array(std::shared_ptr<char> bytes, const Shape& shape, int device_id) {
  Reference memory = python::memory(std::move(bytes), shape.bytes);
  Reference type = python::integer(shape.type);
  Reference dims = python::tuple_of(shape.dims);
  Reference device = python::integer(device_id);
  if (!memory || !type || !dims || !device) return {};
  return python::call(array_.get(), {memory.get(), type.get(), dims.get(), device.get()});
}

Reference Delegate::joined(Object* pieces, const Program& program) {
  return python::call(joined_.get(), {pieces, program.sharding.get()});
}

Reference Delegate::copied(Object* array) { return python::call(copied_.get(), {array}); }

Reference Delegate::piece(const ShardedArray& whole, size_t index) {
  Reference pieces = python::attribute(whole.array.get(), "_arrays");
  return pieces ? python::item(pieces.get(), index) : Reference();
}

Reference Delegate::execute(const Program& program, Object* arguments) {
  return python::call_with_keyword(program.execute.get(), {arguments, python::true_object()}, names_.with_tokens.get());
}

Reference Delegate::results_of(const Program& program, Object* started) {
  return python::call_method(names_.consume_with_handlers.get(), started, program.result_handlers.get());
}

Reference Delegate::token_of(Object* started) { return python::call_method(names_.consume_token.get(), started); }

bool Delegate::is_ready(Object* array) {
  Reference answer = python::call_method(names_.is_ready.get(), array);
  return answer && python::is_true(answer.get());
}

bool Delegate::wait(Object* array_or_token) {
  return static_cast<bool>(python::call_method(names_.block_until_ready.get(), array_or_token));
}

char* Delegate::address(Object* array) {
  Reference pointer = python::call_method(names_.unsafe_buffer_pointer.get(), array);
  std::optional<int64_t> value = pointer ? python::to_integer(pointer.get()) : std::nullopt;
  return value ? reinterpret_cast<char*>(static_cast<uintptr_t>(*value)) : nullptr;
}

}  // namespace framedex::mock
