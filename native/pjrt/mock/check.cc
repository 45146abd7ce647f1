// Says before a program is started whether its mock TPU can be opened: for `framedex run`.
#include <string>

#include "pjrt/mock/machine/fault_rules.h"
#include "pjrt/mock/machine/settings.h"
#include "recorder/base/export.h"

// What is wrong with the mock's variables in `variables`, a list like environ (NAME=VALUE, ended by nullptr); nullptr
// if nothing is. The text is good until the thread's next call.
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
