// Compiled programs: their properties, serialisation, and execution.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "pjrt/mock/delegate/delegate.h"
#include "pjrt/mock/delegate/host_transfers.h"
#include "pjrt/mock/delegate/program.h"
#include "pjrt/mock/devices/client.h"
#include "pjrt_c_api.h"

namespace framedex::mock {

// The lists that PJRT returns pointers into.
struct ExecutableTables {
  explicit ExecutableTables(const Program& program);

  std::vector<PJRT_Buffer_Type> result_types;
  std::vector<int64_t> result_dims;  // concatenated
  std::vector<size_t> result_ranks;
  std::vector<const char*> result_memory_kinds;
  std::vector<size_t> result_memory_kind_sizes;
  std::vector<const char*> parameter_memory_kinds;
  std::vector<size_t> parameter_memory_kind_sizes;
  std::vector<PJRT_NamedValue> costs;
  // For the Layouts extension.
  std::vector<PJRT_Layouts_MemoryLayout*> parameter_layouts;
  std::vector<PJRT_Layouts_MemoryLayout*> result_layouts;

 private:
  void add_layouts(const std::vector<ProgramValue>& values, std::vector<PJRT_Layouts_MemoryLayout*>& layouts);

  std::deque<PJRT_Layouts_MemoryLayout> layouts_;
};

void add_executable_functions(PJRT_Api& api);
void add_compile_functions(PJRT_Api& api);
void add_execute_functions(PJRT_Api& api);

}  // namespace framedex::mock

struct PJRT_Executable {
  explicit PJRT_Executable(std::shared_ptr<const framedex::mock::Program> compiled)
      : program(std::move(compiled)), tables(std::make_shared<framedex::mock::ExecutableTables>(*program)) {}

  const std::shared_ptr<const framedex::mock::Program> program;
  const std::shared_ptr<const framedex::mock::ExecutableTables> tables;
};

struct PJRT_LoadedExecutable {
  PJRT_LoadedExecutable(PJRT_Client* owner, framedex::mock::Delegate* runner,
                        std::shared_ptr<const framedex::mock::Program> compiled);

  PJRT_Client* const client;
  framedex::mock::Delegate* const delegate;
  const PJRT_Executable executable;
  std::vector<PJRT_Device*> devices;  // of this process, in argument order
  std::vector<int> cpu_ordinals;      // the CPU devices that stand in for them
  std::vector<PJRT_LogicalDeviceIds> logical_ids;
  std::vector<framedex::mock::Memory*> result_memories;            // device by device
  const std::shared_ptr<framedex::mock::HostTransfers> transfers;  // nullptr if the program has none
  std::atomic<bool> is_deleted{false};
};
