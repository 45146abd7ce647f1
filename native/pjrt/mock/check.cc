// Checks, for `framedex run`, that the mock TPU can be opened before a program is started.
#include <string>

#include "pjrt/mock/machine/fault_rules.h"
#include "pjrt/mock/machine/settings.h"
#include "recorder/base/export.h"

// Returns the problem with the mock's variables in `variables`, a list like environ (NAME=VALUE, ended by nullptr);
// nullptr if there is none. The text is valid until the thread's next call.
extern "C" FRAMEDEX_EXPORT const char* framedex_check_mock(const char* const* variables) {
  using namespace framedex::mock;
  static thread_local std::string problem;
  Environment environment = listed_environment(variables);
  try {
    check_faults(environment, read_machine(environment, std::nullopt).topology);
  } catch (const InvalidSetting& invalid) {
    problem = invalid.what();
    return problem.c_str();
  }
  return nullptr;
}
