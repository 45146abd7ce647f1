// Rules of the C API that are judged at the call, and their reports on stderr: `framedex run --validate`.
//
// framedex.plugins.validation has all rules, and judges them after the run. Here are those that a call shows by itself
// or together with earlier calls about its objects.
#pragma once

#include <cstdint>
#include <string>

namespace framedex::pjrt {

// Whether FRAMEDEX_VALIDATE asks for reports while the program runs: `report`, or `abort` at the first one.
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
// at most. `detail` says with what. Aborts the program if FRAMEDEX_VALIDATE asks for it, so what the finding needs must
// be recorded before.
void report(LiveRule rule, const char* function, uint64_t stack, const std::string& detail);

}  // namespace framedex::pjrt
