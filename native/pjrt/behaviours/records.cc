#include "pjrt/behaviours/records.h"

#include <iterator>

#include "pjrt/behaviours/functions.h"
#include "recorder/recorder.h"

namespace framedex::behaviours {
namespace {

const char* const kRunValues[] = {"behaviour", "place", "function", "outcome"};
const recorder::Function kRun = {"behaviour", "Behaviour::Run", kRunValues, std::size(kRunValues)};
constexpr int kUnavailable = 14;

}  // namespace

uint32_t run_function() {
  static const uint32_t number = recorder::register_functions(&kRun, 1);
  return number;
}

void record_trouble(const std::string& name, const std::string& place, size_t function, const char* outcome,
                    const std::string& message) {
  recorder::Call call(run_function());
  if (!call.is_recording()) return;
  if (!name.empty()) call.arguments().text(kBehaviour, name);
  if (!place.empty()) call.arguments().text(kPlace, place);
  call.arguments().text(kFunction, name_of(function));
  call.enter();
  call.arguments().text(kOutcome, outcome);
  call.leave(kUnavailable, message);
}

}  // namespace framedex::behaviours
