// Rules of the C API that are checked during each call, and their reports on stderr: `framedex run --validate`.
//
// framedex.plugins.validation checks all rules after the run. The rules here need only the call itself and earlier
// calls about its objects.
#pragma once

#include <cstdint>
#include <string>

namespace framedex::pjrt {

// Whether FRAMEDEX_VALIDATE requests reports while the program runs: `report`, or `abort` to end the program at the
// first report.
extern const bool is_validating;

enum class LiveRule : uint8_t {
  kUseAfterDestroy,
  kDoubleDestroy,
  kUseAfterDelete,
  kNullHandle,
  kStructTooSmall,
  kOkWithoutResult,
  kException,
};

// Reports that a call of `function` breaks a rule: once for each rule and stack (recorder::Call::stack), 1000 times
// at most. `detail` describes the violation. Aborts the program if FRAMEDEX_VALIDATE requests it, so the call must be
// recorded first.
void report(LiveRule rule, const char* function, uint64_t stack, const std::string& detail);

}  // namespace framedex::pjrt
