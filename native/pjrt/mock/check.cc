// Queries of `framedex run` and `framedex memory --plan` about the machine, before they start a program.
#include <cstdint>
#include <string>

#include "pjrt/mock/machine/fault_rules.h"
#include "pjrt/mock/machine/settings.h"
#include "recorder/base/export.h"

// Returns the problem with the mock's variables in `variables`, a list like environ (NAME=VALUE, ended by nullptr);
// nullptr if there is none. The text is valid until the thread's next call.
extern "C" FRAMEDEX_EXPORT const char* framedex_check_mock(const char* const* variables) {
  using namespace framedex::mock;
  static thread_local std::string problem;
  Environment environment = parse_environment(variables);
  try {
    check_faults(environment, read_machine(environment, std::nullopt).topology);
  } catch (const InvalidSetting& invalid) {
    problem = invalid.what();
    return problem.c_str();
  }
  return nullptr;
}

// Returns the memory of each device of the machine in bytes, and the number of its devices in `devices`. The variables
// must be ones that framedex_check_mock() accepts.
extern "C" FRAMEDEX_EXPORT int64_t framedex_mock_memory(const char* const* variables, int64_t* devices) {
  using namespace framedex::mock;
  Topology topology = read_machine(parse_environment(variables), std::nullopt).topology;
  *devices = topology.devices();
  return topology.memory();
}
