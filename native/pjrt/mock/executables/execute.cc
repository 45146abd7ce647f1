// Runs a program: its arguments become arrays of jaxlib's CPU client, its results become buffers of the mock.
#include <algorithm>
#include <optional>

#include "pjrt/mock/base/error.h"
#include "pjrt/mock/buffers/buffer.h"
#include "pjrt/mock/delegate/execution_threads.h"
#include "pjrt/mock/devices/device_activity.h"
#include "pjrt/mock/executables/executable.h"

namespace framedex::mock {
namespace {

using python::Reference;

struct Argument {
  PJRT_Buffer* buffer;
  std::shared_ptr<Storage> storage;
  std::shared_ptr<const Shape> shape;
};

// One execution, from the call until the program has ended.
struct Execution {
  Delegate* delegate;
  std::shared_ptr<const Program> program;
  std::shared_ptr<HostTransfers> transfers;
  std::vector<PJRT_Device*> devices;              // of this process
  size_t argument_count;                          // per device
  std::vector<Argument> arguments;                // device by device
  std::vector<std::shared_ptr<Storage>> results;  // device by device
  std::vector<bool> is_donated;                   // by parameter, if there are any: whether the caller allows donation
  bool is_deferred = false;                       // not started by the caller: counted as a reader of its arguments
  std::shared_ptr<EventState> done = std::make_shared<EventState>();
  std::shared_ptr<EventState> end_reported = done;  // once it is ready, the caller may drop the callbacks
  std::shared_ptr<HostTransfers::PendingTransfer> callbacks;
  python::OwnedReference token;  // to wait for its end, once started; null if it has already ended

  size_t device_count() const { return devices.size(); }
  // Whether its arrays have pieces on several devices, perhaps in other processes.
  bool is_sharded() const { return program->device_ids.size() > 1; }
};

PJRT_Error* invalid(const std::string& message) { return make_error(PJRT_Error_Code_INVALID_ARGUMENT, message); }

// ---- Before the start.

bool is_device_of(const PJRT_LoadedExecutable& executable, const PJRT_Device* device) {
  return std::find(executable.devices.begin(), executable.devices.end(), device) != executable.devices.end();
}

PJRT_Error* check(const PJRT_LoadedExecutable_Execute_Args* args) {
  const PJRT_LoadedExecutable& executable = *args->executable;
  const Program& program = *executable.executable.program;
  if (executable.is_deleted) {
    return make_error(PJRT_Error_Code_FAILED_PRECONDITION, "Execution of " + program.name + ", which was deleted.");
  }
  if (!executable.delegate->is_usable()) {
    return make_error(
        PJRT_Error_Code_UNAVAILABLE,
        "framedex's mock TPU runs programs on the CPU client of the process's jaxlib, which is not there "
        "any more: Python is ending, or this process was forked after JAX was used. JAX on the CPU hangs in "
        "such a child.");
  }
  bool can_run = executable.devices.size() == program.device_ids.size() || executable.delegate->is_distributed();
  if (!can_run && !executable.client->is_dry_run) {
    return make_error(PJRT_Error_Code_UNIMPLEMENTED,
                      program.name +
                          " runs on devices of other processes, which are only simulated: start the "
                          "processes, and connect them with jax.distributed.initialize().");
  }
  if (args->execute_device != nullptr && !is_device_of(executable, args->execute_device)) {
    return make_error(PJRT_Error_Code_UNIMPLEMENTED,
                      "framedex's mock TPU runs a program on the devices it was compiled for only.");
  }
  if (args->num_devices != executable.devices.size()) {
    return invalid(program.name + " runs on " + std::to_string(executable.devices.size()) + " devices, there are " +
                   "arguments for " + std::to_string(args->num_devices) + ".");
  }
  if (args->num_args != program.parameters.size()) {
    return invalid(program.name + " takes " + std::to_string(program.parameters.size()) + " arguments, there are " +
                   std::to_string(args->num_args) + ".");
  }
  return nullptr;
}

PJRT_Error* collect_arguments(const PJRT_LoadedExecutable_Execute_Args* args, Execution& execution) {
  execution.argument_count = args->num_args;
  execution.arguments.reserve(args->num_devices * args->num_args);
  for (size_t device = 0; device < args->num_devices; ++device) {
    for (size_t i = 0; i < args->num_args; ++i) {
      PJRT_Buffer* buffer = args->argument_lists[device][i];
      std::shared_ptr<Storage> storage = buffer->storage();
      if (storage == nullptr) {
        return invalid("Buffer has been deleted or donated: argument " + std::to_string(i) + " of " +
                       execution.program->name + ".");
      }
      if (buffer->shape->bytes != execution.program->parameters[i].shape->bytes) {
        return invalid("Argument " + std::to_string(i) + " of " + execution.program->name + " has " +
                       std::to_string(execution.program->parameters[i].shape->bytes) + " bytes, the buffer has " +
                       std::to_string(buffer->shape->bytes) + ".");
      }
      execution.arguments.push_back({buffer, std::move(storage), buffer->shape});
    }
  }
  return nullptr;
}

// Returns the buffers that are passed more than once to the same device.
std::vector<const PJRT_Buffer*> repeated_arguments(const Execution& execution) {
  std::vector<const PJRT_Buffer*> repeated;
  std::vector<const PJRT_Buffer*> buffers(execution.argument_count);
  for (size_t device = 0; device < execution.device_count(); ++device) {
    for (size_t i = 0; i < buffers.size(); ++i) {
      buffers[i] = execution.arguments[device * execution.argument_count + i].buffer;
    }
    std::sort(buffers.begin(), buffers.end());
    for (size_t i = 1; i < buffers.size(); ++i) {
      if (buffers[i] == buffers[i - 1]) repeated.push_back(buffers[i]);
    }
  }
  return repeated;
}

// A donated buffer must not be another argument too.
PJRT_Error* collect_donations(const PJRT_ExecuteOptions* options, Execution& execution) {
  if (execution.program->donated.empty()) return nullptr;
  execution.is_donated.resize(execution.argument_count);
  std::vector<const PJRT_Buffer*> repeated = repeated_arguments(execution);
  for (const auto& [parameter, result] : execution.program->donated) {
    const int64_t* first = options != nullptr ? options->non_donatable_input_indices : nullptr;
    const int64_t* last = first != nullptr ? first + options->num_non_donatable_input_indices : nullptr;
    execution.is_donated[parameter] = std::find(first, last, static_cast<int64_t>(parameter)) == last;
    if (!execution.is_donated[parameter]) continue;
    for (size_t device = 0; device < execution.device_count(); ++device) {
      const PJRT_Buffer* donated = execution.arguments[device * execution.argument_count + parameter].buffer;
      if (std::find(repeated.begin(), repeated.end(), donated) != repeated.end()) {
        return invalid("Attempt to donate the same buffer twice in Execute() (argument " + std::to_string(parameter) +
                       " of " + execution.program->name + " is another argument as well).");
      }
    }
  }
  return nullptr;
}

// Reserves memory for every result that does not reuse a donated argument's.
PJRT_Error* reserve_results(const PJRT_LoadedExecutable& executable, Execution& execution) {
  const Program& program = *execution.program;
  std::vector<bool> takes_over(program.results.size());
  for (const auto& [parameter, result] : program.donated) {
    if (result >= 0 && execution.is_donated[parameter]) takes_over[static_cast<size_t>(result)] = true;
  }
  execution.results.reserve(executable.result_memories.size());
  for (size_t i = 0; i < executable.result_memories.size(); ++i) {
    size_t result = i % program.results.size();
    int64_t bytes = program.results[result].shape->bytes;
    Reservation memory;
    if (!takes_over[result]) {
      if (PJRT_Error* error = reserve(*executable.result_memories[i], bytes, &memory)) return error;
    }
    execution.results.push_back(
        std::make_shared<Storage>(std::move(memory), bytes, execution.done, execution.delegate));
  }
  return nullptr;
}

PJRT_Error* count_temporaries(const Execution& execution) {
  int64_t bytes = execution.program->memory_size("temp_size_in_bytes");
  for (PJRT_Device* device : execution.devices) {
    if (bytes == 0) break;
    if (PJRT_Error* error = count_temporaries(*memory_of(device, nullptr), bytes)) return error;
  }
  return nullptr;
}

void collect_callbacks(const PJRT_LoadedExecutable_Execute_Args* args, Execution& execution) {
  const PJRT_ExecuteOptions* options = args->options;
  if (execution.transfers == nullptr || options == nullptr) return;
  std::map<int, HostCallbacks> callbacks;
  for (size_t device = 0; device < args->num_devices; ++device) {
    HostCallbacks& own = callbacks[args->executable->cpu_ordinals[device]];
    for (size_t i = 0; i < options->num_send_ops; ++i) {
      const PJRT_SendCallbackInfo& callback = options->send_callbacks[device][i];
      own.sends[callback.channel_id] = callback;
    }
    for (size_t i = 0; i < options->num_recv_ops; ++i) {
      const PJRT_RecvCallbackInfo& callback = options->recv_callbacks[device][i];
      own.receives[callback.channel_id] = callback;
    }
  }
  execution.end_reported = std::make_shared<EventState>();
  execution.callbacks = execution.transfers->begin(std::move(callbacks));
}

// ---- The start, with the GIL.

// Whether the program needs a copy of parameter `i`, because it writes into memory that the caller keeps or that has
// other readers.
bool needs_copy(const Execution& execution, size_t i, const Storage& storage) {
  if (!execution.program->is_written[i]) return false;
  int own_reads = execution.is_deferred ? 1 : 0;
  return !execution.is_donated[i] || storage.pending_reads > own_reads;
}

// Returns the array of parameter `i` on one device.
Reference array_on_device(Execution& execution, size_t i, size_t device) {
  const Argument& argument = execution.arguments[device * execution.argument_count + i];
  int device_id = execution.devices[device]->description->id;
  python::Object* array = argument.storage->array(*execution.delegate, *argument.shape, device_id);
  if (array == nullptr) return {};
  return needs_copy(execution, i, *argument.storage) ? execution.delegate->copied(array) : python::share(array);
}

// Returns the array whose pieces are exactly the buffers of this parameter, all from one program; nullptr if there is
// none.
python::Object* sharded_array(const Execution& execution, size_t i) {
  const auto& whole = execution.arguments[i].storage->whole();
  if (whole == nullptr || whole->device_count != execution.device_count()) return nullptr;
  for (size_t device = 0; device < execution.device_count(); ++device) {
    const Storage& storage = *execution.arguments[device * execution.argument_count + i].storage;
    bool is_shared = storage.whole() == whole && storage.index() == device && !needs_copy(execution, i, storage);
    if (!is_shared) return nullptr;
  }
  return whole->array.get();
}

Reference argument_array(Execution& execution, size_t i) {
  if (!execution.is_sharded()) return array_on_device(execution, i, 0);
  if (python::Object* whole = sharded_array(execution, i)) return python::share(whole);
  Reference pieces = python::new_list(execution.device_count());
  for (size_t device = 0; device < execution.device_count(); ++device) {
    Reference piece = array_on_device(execution, i, device);
    if (!piece) return {};
    python::set_item(pieces.get(), device, std::move(piece));
  }
  return execution.delegate->joined(pieces.get(), *execution.program);
}

// Points the results' storages to the arrays that the program fills.
void take_arrays(Execution& execution, python::Object* arrays) {
  size_t count = execution.program->results.size();
  for (size_t result = 0; result < count; ++result) {
    Reference array = python::item(arrays, result);
    if (!execution.is_sharded()) {
      execution.results[result]->set_array(std::move(array));
      continue;
    }
    auto whole = std::make_shared<ShardedArray>(ShardedArray{std::move(array), execution.device_count()});
    for (size_t device = 0; device < execution.device_count(); ++device) {
      execution.results[device * count + result]->set_piece(whole, device);
    }
  }
}

// Returns whether the program has ended. All results on all devices become ready together, because XLA's CPU backend
// uses one event for them.
bool has_ended(Execution& execution, python::Object* arrays) {
  if (execution.program->results.empty() || execution.callbacks != nullptr) return false;
  Reference first = python::item(arrays, 0);
  return execution.delegate->is_ready(first.get());
}

// Starts the program. If it has already ended, sets `ended` to its final status.
Status start(Execution& execution, std::optional<Status>& ended) {
  Reference arguments = python::new_list(execution.argument_count);
  for (size_t i = 0; i < execution.argument_count; ++i) {
    Reference array = argument_array(execution, i);
    if (!array) return python::take_error();
    python::set_item(arguments.get(), i, std::move(array));
  }
  Reference started = execution.delegate->execute(*execution.program, arguments.get());
  if (!started) return python::take_error();
  Reference arrays = execution.delegate->results_of(*execution.program, started.get());
  if (!arrays) return python::take_error();
  take_arrays(execution, arrays.get());
  if (has_ended(execution, arrays.get())) {
    Reference first = python::item(arrays.get(), 0);
    ended = execution.delegate->wait(first.get()) ? Status{} : python::take_error();
    return {};
  }
  execution.token = execution.delegate->token_of(started.get());
  return execution.token ? Status{} : python::take_error();
}

// ---- The end.

// Reports the end to all waiters. Call without the GIL.
void report_end(Execution& execution, const Status& status) {
  // From here on only the buffers keep objects of the execution alive.
  execution.arguments.clear();
  execution.results.clear();
  execution.done->set(status);
  if (execution.callbacks != nullptr) execution.transfers->end(execution.callbacks, execution.end_reported, status);
}

// Runs on one of ExecutionThreads.
void wait_and_report_end(Execution& execution) {
  Status status = {PJRT_Error_Code_UNAVAILABLE, "Python exited before the program ended."};
  if (python::is_usable()) {
    python::Gil gil;
    status = execution.delegate->wait(execution.token.get()) ? Status{} : python::take_error();
    execution.token = {};
    python::release_dropped();
  }
  report_end(execution, status);
}

// ---- Programs that the caller does not start.

// Whether the calling thread may start the program. It may not if an argument is not ready yet, or if the program calls
// back to the host: such a program runs as long as the host code, while PJRT calls must return at once.
bool is_startable(const Execution& execution) {
  return execution.callbacks == nullptr &&
         std::all_of(execution.arguments.begin(), execution.arguments.end(),
                     [](const Argument& argument) { return argument.storage->is_startable(); });
}

// Runs on one of ExecutionThreads, once the arguments are ready or one has failed with `status`.
void start_and_wait(Execution& execution, Status status) {
  std::optional<Status> ended;
  if (status.is_ok() && !python::is_usable()) status = {PJRT_Error_Code_UNAVAILABLE, "Python has exited."};
  if (status.is_ok()) {
    python::Gil gil;
    status = start(execution, ended);
  }
  for (const Argument& argument : execution.arguments) --argument.storage->pending_reads;
  if (!status.is_ok()) return report_end(execution, status);
  if (ended) return report_end(execution, *ended);
  wait_and_report_end(execution);
}

// Starts the program when all arguments from index `next` on are ready. Uses no thread until then.
void start_when_possible(const std::shared_ptr<Execution>& execution, size_t next, const Status& status) {
  const std::vector<Argument>& arguments = execution->arguments;
  while (next < arguments.size() && arguments[next].storage->is_startable()) ++next;
  if (next == arguments.size()) {
    return ExecutionThreads::instance().run([execution, status] { start_and_wait(*execution, status); });
  }
  std::shared_ptr<EventState> ready = arguments[next].storage->ready();
  ready->on_ready([execution, next, status](const Status& ended) {
    start_when_possible(execution, next + 1, status.is_ok() ? ended : status);
  });
}

// ---- The call.

void hand_out_results(const PJRT_LoadedExecutable_Execute_Args* args, Execution& execution) {
  size_t count = execution.program->results.size();
  for (size_t i = 0; i < execution.results.size(); ++i) {
    // After the start only the buffers need the results.
    auto storage = execution.is_deferred ? execution.results[i] : std::move(execution.results[i]);
    args->output_lists[i / count][i % count] = new PJRT_Buffer(
        execution.program->results[i % count].shape, args->executable->result_memories[i], std::move(storage));
  }
  if (args->device_complete_events == nullptr) return;
  for (size_t device = 0; device < args->num_devices; ++device) {
    args->device_complete_events[device] = event_of(execution.end_reported);
  }
}

void delete_donated(Execution& execution) {
  size_t results = execution.program->results.size();
  for (const auto& [parameter, result] : execution.program->donated) {
    if (!execution.is_donated[parameter]) continue;
    for (size_t device = 0; device < execution.device_count(); ++device) {
      const Argument& argument = execution.arguments[device * execution.argument_count + parameter];
      argument.buffer->remove();
      if (result < 0) continue;
      size_t receiver = device * results + static_cast<size_t>(result);
      const void* memory = execution.results[receiver]->take_memory(*argument.storage);
      const Memory& place = *argument.buffer->memory;
      if (place.kind == MemoryKind::kDevice && memory != nullptr) place.pool->HandOver(memory, receiver);
    }
  }
}

// Returns zeros instead of running the program.
void finish_dry_run(const PJRT_LoadedExecutable_Execute_Args* args, Execution& execution) {
  for (const auto& result : execution.results) result->set_zeros();
  delete_donated(execution);
  hand_out_results(args, execution);
  execution.done->set({});
}

PJRT_Error* execute(PJRT_LoadedExecutable_Execute_Args* args) {
  if (PJRT_Error* error = check(args)) return error;
  const PJRT_LoadedExecutable& executable = *args->executable;
  auto execution = std::make_shared<Execution>();
  execution->delegate = executable.delegate;
  execution->program = executable.executable.program;
  execution->devices = executable.devices;
  execution->transfers = executable.transfers;
  if (PJRT_Error* error = collect_arguments(args, *execution)) return error;
  if (PJRT_Error* error = collect_donations(args->options, *execution)) return error;
  if (PJRT_Error* error = reserve_results(executable, *execution)) return error;
  if (PJRT_Error* error = count_temporaries(*execution)) return error;
  if (executable.client->is_dry_run) {
    finish_dry_run(args, *execution);
    return nullptr;
  }
  collect_callbacks(args, *execution);
  watch_execution(*execution->done, execution->program);

  execution->is_deferred = !is_startable(*execution);
  std::optional<Status> ended;
  if (!execution->is_deferred) {
    python::Gil gil;
    Status status = start(*execution, ended);
    if (!status.is_ok()) return status.to_error();
    if (ended) execution->done->set(*ended);
  }
  if (execution->is_deferred) {
    // Until this program starts, no other program may write into the arguments.
    for (const Argument& argument : execution->arguments) ++argument.storage->pending_reads;
  }
  delete_donated(*execution);
  hand_out_results(args, *execution);
  if (execution->is_deferred) {
    start_when_possible(execution, 0, {});
  } else if (!ended) {
    ExecutionThreads::instance().run([execution] { wait_and_report_end(*execution); });
  }
  return nullptr;
}

}  // namespace

void add_execute_functions(PJRT_Api& api) {
  api.PJRT_LoadedExecutable_Execute = execute;
  // An execute context holds data for FFI handlers on GPUs.
  api.PJRT_ExecuteContext_Create = [](PJRT_ExecuteContext_Create_Args* args) -> PJRT_Error* {
    args->context = reinterpret_cast<PJRT_ExecuteContext*>(new char);
    return nullptr;
  };
  api.PJRT_ExecuteContext_Destroy = [](PJRT_ExecuteContext_Destroy_Args* args) -> PJRT_Error* {
    delete reinterpret_cast<char*>(args->context);
    return nullptr;
  };
}

}  // namespace framedex::mock
