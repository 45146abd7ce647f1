#include "pjrt/live_rules/findings.h"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <utility>

#include "pjrt/live_rules/fork_safe.h"

namespace framedex::pjrt {
namespace {

constexpr char kAbort[] = "abort";
// The maximum number of reports. Stacks are numbered per thread, so a program that keeps starting threads would report
// without end.
constexpr size_t kMaximumReports = 1000;

const char* setting() noexcept {
  const char* value = std::getenv("FRAMEDEX_VALIDATE");
  return value == nullptr ? "" : value;
}

struct Description {
  const char* name;
  const char* breaker;
};

Description describe(LiveRule rule) {
  switch (rule) {
    case LiveRule::kUseAfterDestroy:
      return {"use-after-destroy", "client"};
    case LiveRule::kDoubleDestroy:
      return {"double-destroy", "client"};
    case LiveRule::kUseAfterDelete:
      return {"use-after-delete", "client"};
    case LiveRule::kNullHandle:
      return {"null-handle", "client"};
    case LiveRule::kStructTooSmall:
      return {"struct-too-small", "client"};
    case LiveRule::kOkWithoutResult:
      return {"ok-without-result", "plug-in"};
    case LiveRule::kException:
      return {"exception", "plug-in"};
  }
  return {"", ""};
}

// Returns whether the rule has not been reported with this stack yet.
bool is_new(LiveRule rule, uint64_t stack) {
  static ForkSafe<std::set<std::pair<LiveRule, uint64_t>>> reported;
  return reported.use([&](auto& all) { return all.size() < kMaximumReports && all.emplace(rule, stack).second; });
}

}  // namespace

const bool is_validating = *setting() != '\0';

void report(LiveRule rule, const char* function, uint64_t stack, const std::string& detail) {
  if (!is_new(rule, stack)) return;
  Description description = describe(rule);
  std::string line = std::string("framedex: ") + description.name + ", broken by the " + description.breaker + ": " +
                     function + ", " + detail + "\n";
  bool aborts = std::strcmp(setting(), kAbort) == 0;
  if (aborts) line += "framedex: aborting the program, because FRAMEDEX_VALIDATE=abort.\n";
  [[maybe_unused]] ssize_t written = write(STDERR_FILENO, line.data(), line.size());
  if (aborts) std::abort();
}

}  // namespace framedex::pjrt
