#include "tpu_legacy/executable.h"

#include <cstring>
#include <functional>
#include <string>
#include <utility>

#include "tpu_legacy/api.h"
#include "tpu_legacy/machine.h"
#include "tpu_legacy/shape.h"
#include "tpu_legacy/status.h"
#include "tpu_legacy/stream.h"

struct SE_Executable {
  framedex::tpu_legacy::Program program;
  XLA_Shape result;
  std::string fingerprint;
};

namespace framedex::tpu_legacy {
namespace {

// An execution: reads the arguments, runs the program, and allocates the results with jaxlib's allocator.
class Execution {
 public:
  Execution(const SE_Executable& executable, SE_ExecutableRunOptions& options, SE_ExecutionInput** arguments, int count,
            TF_Status* status)
      : executable_(executable),
        options_(options),
        arguments_(arguments, arguments + count),
        ordinal_(options.stream->executor->ordinal),
        status_(status) {}

  void run(SE_ExecutionOutput* output) {
    *output = {};
    std::vector<std::string> results;
    if (!executable_.program.execute(addresses(), results, status_) || !place(results)) return release_results();
    output->result.on_device_shape = copy_for_device(executable_.result);
    output->result.device_ordinal = ordinal_;
    output->result.bases = new SE_DeviceMemoryBase[memories_.size()];
    output->result.count = memories_.size();
    std::copy(memories_.begin(), memories_.end(), output->result.bases);
    std::vector<SE_MaybeOwningDeviceMemory> released = donated();
    output->to_be_released = new SE_MaybeOwningDeviceMemory[released.size()];
    output->to_be_released_size = static_cast<int>(released.size());
    std::copy(released.begin(), released.end(), output->to_be_released);
  }

 private:
  // Every parameter is one array.
  std::vector<const void*> addresses() const {
    std::vector<const void*> found;
    for (const SE_ExecutionInput* argument : arguments_) found.push_back(argument->shape_tree.buffers[0].memory.opaque);
    return found;
  }

  // Returns the memory of donated arguments, which a successful execution releases or turns into a result.
  std::vector<SE_MaybeOwningDeviceMemory> donated() const {
    std::vector<SE_MaybeOwningDeviceMemory> memories;
    for (const SE_ExecutionInput* argument : arguments_) {
      const SE_MaybeOwningDeviceMemory& buffer = argument->shape_tree.buffers[0];
      if (buffer.owned) memories.push_back(buffer);
    }
    return memories;
  }

  // Allocates device memory for the results; for a tuple, first its table of addresses. Returns false if an allocation
  // failed.
  bool place(const std::vector<std::string>& results) {
    const XLA_Shape& shape = executable_.result;
    if (!is_tuple(shape)) return results.size() == 1 && place(shape, results[0].data(), results[0].size());
    if (results.size() != static_cast<size_t>(shape.ntuple_shapes) || !allocate(byte_size(shape))) return false;
    for (int i = 0; i < shape.ntuple_shapes; ++i) {
      const std::string& bytes = results[static_cast<size_t>(i)];
      if (!place(shape.tuple_shapes[i], bytes.data(), bytes.size())) return false;
      static_cast<void**>(memories_[0].opaque)[i] = memories_.back().opaque;
    }
    return true;
  }

  bool place(const XLA_Shape& shape, const char* bytes, size_t size) {
    if (static_cast<int64_t>(size) != byte_size(shape)) {
      fail(status_, TpuStatusCode_internal, "The size of a result does not match its shape.");
      return false;
    }
    if (!allocate(byte_size(shape))) return false;
    if (size > 0) std::memcpy(memories_.back().opaque, bytes, size);
    return true;
  }

  bool allocate(int64_t size) {
    SE_DeviceMemoryAllocator& allocator = options_.allocator;
    SE_ScopedDeviceMemory memory{};
    allocator.allocate(allocator.ctx, ordinal_, static_cast<uint64_t>(size), true, 0, &memory, status_);
    if (status_->code != TpuStatusCode_ok) return false;
    memories_.push_back(memory.wrapped);
    return true;
  }

  // jaxlib takes no results from a failed execution. Donated memory still belongs to the caller if it is listed as
  // unowned (ExecutionInput, xla/service/executable.h).
  void release_results() {
    if (status_->code == TpuStatusCode_ok) {
      fail(status_, TpuStatusCode_internal, "The program has another number of results than its shape.");
    }
    TF_Status ignored;
    auto release = [&](SE_DeviceMemoryBase memory) {
      options_.allocator.deallocate(options_.allocator.ctx, &memory, ordinal_, &ignored);
    };
    for (const SE_DeviceMemoryBase& memory : memories_) release(memory);
    for (const SE_ExecutionInput* argument : arguments_) {
      const SE_MaybeOwningDeviceMemory& buffer = argument->shape_tree.buffers[0];
      if (buffer.owned && argument->unowned_indices_size == 0) release(buffer.memory);
    }
  }

  const SE_Executable& executable_;
  SE_ExecutableRunOptions& options_;
  std::vector<const SE_ExecutionInput*> arguments_;
  int ordinal_;
  TF_Status* status_;
  std::vector<SE_DeviceMemoryBase> memories_;
};

void execute(SE_Executable* executable, SE_ExecutableRunOptions* options, SE_ExecutionInput** arguments, int count,
             SE_HloExecutionProfile*, SE_ExecutionOutput* output, TF_Status* status) {
  Execution(*executable, *options, arguments, count, status).run(output);
}

void get_fingerprint(SE_Executable* executable, const char** fingerprint, size_t* size) {
  *fingerprint = executable->fingerprint.c_str();
  *size = executable->fingerprint.size();
}

}  // namespace

SE_Executable* new_executable(Program program, const XLA_Shape& result, std::string_view module) {
  std::string fingerprint = std::to_string(std::hash<std::string_view>{}(module));
  return new SE_Executable{std::move(program), copy_for_device(result), std::move(fingerprint)};
}

void add_executable_functions(TpuApi& api) {
  api.TpuExecutable_ExecuteAsyncOnStream = execute;
  api.TpuExecutable_FreeXlaShapeIndexArray = [](XLA_ShapeIndex* array) { delete[] array; };
  api.TpuExecutable_FreeMaybeOwningDeviceMemoryArray = [](SE_MaybeOwningDeviceMemory* array) { delete[] array; };
  api.TpuExecutable_Fingerprint = get_fingerprint;
  api.TpuExecutable_Free = [](SE_Executable* executable) {
    destroy(executable->result);
    delete executable;
  };
}

}  // namespace framedex::tpu_legacy
