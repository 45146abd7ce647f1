#include "ffi/wrapping.h"

#include <cstring>
#include <map>
#include <mutex>
#include <tuple>

#include "ffi/run_functions.h"
#include "ffi/trampolines.h"

namespace framedex::ffi {
namespace {

using Key = std::tuple<std::string, const void*, const void*, const void*, const void*>;

// Leaked on purpose, with all texts: handlers run after static destructors.
struct State {
  std::mutex mutex;
  size_t slots_used = 0;
  size_t untyped_slots_used = 0;
  std::map<Key, XLA_FFI_Handler_Bundle> wrapped;
  std::map<std::pair<std::string, const void*>, UntypedHandler*> wrapped_untyped;
  std::map<std::string, TargetSites> sites;

  static State& instance() {
    static auto* state = new State;
    return *state;
  }
};

const char* keep(const std::string& text) { return strdup(text.c_str()); }

// Returns the name of a boundary function: the target, followed by the stage unless that is `execute`.
std::string function_name(const std::string& target, const char* stage) {
  return std::strcmp(stage, "execute") == 0 ? target : target + "." + stage;
}

struct Stage {
  XLA_FFI_Handler* XLA_FFI_Handler_Bundle::* member;
  XLA_FFI_ExecutionStage stage;
  const char* name;
};
constexpr Stage kStages[] = {
    {&XLA_FFI_Handler_Bundle::instantiate, XLA_FFI_ExecutionStage_INSTANTIATE, "instantiate"},
    {&XLA_FFI_Handler_Bundle::prepare, XLA_FFI_ExecutionStage_PREPARE, "prepare"},
    {&XLA_FFI_Handler_Bundle::initialize, XLA_FFI_ExecutionStage_INITIALIZE, "initialize"},
    {&XLA_FFI_Handler_Bundle::execute, XLA_FFI_ExecutionStage_EXECUTE, "execute"},
};

Registration* new_registration(State& state, const std::string& target) {
  return new Registration{keep(target), &state.sites[target]};
}

}  // namespace

std::optional<XLA_FFI_Handler_Bundle> wrap(const std::string& target, const XLA_FFI_Handler_Bundle& handlers,
                                           bool has_instances, bool keeps_results) {
  State& state = State::instance();
  std::lock_guard lock(state.mutex);
  Key key(target, reinterpret_cast<const void*>(handlers.instantiate), reinterpret_cast<const void*>(handlers.prepare),
          reinterpret_cast<const void*>(handlers.initialize), reinterpret_cast<const void*>(handlers.execute));
  if (auto known = state.wrapped.find(key); known != state.wrapped.end()) return known->second;
  Registration* registration = new_registration(state, target);
  registration->has_instances = has_instances;
  registration->keeps_results = keeps_results;
  if (handlers.instantiate == nullptr) registration->state_type = 0;
  XLA_FFI_Handler_Bundle trampolines{};
  for (const Stage& stage : kStages) {
    XLA_FFI_Handler* handler = handlers.*stage.member;
    if (handler == nullptr) continue;
    if (state.slots_used == kSlots) return std::nullopt;
    auto function = run_function(function_name(target, stage.name), reinterpret_cast<const void*>(handler));
    if (!function) return std::nullopt;
    size_t index = state.slots_used++;
    slots[index] = {handler, registration, *function, stage.stage};
    trampolines.*stage.member = trampoline(index);
    if (stage.stage == XLA_FFI_ExecutionStage_EXECUTE && handlers.instantiate == nullptr && has_instances) {
      trampolines.instantiate = instantiate_trampoline(index);
    }
  }
  state.wrapped.emplace(std::move(key), trampolines);
  return trampolines;
}

std::optional<UntypedHandler*> wrap_untyped(const std::string& target, UntypedHandler* handler) {
  State& state = State::instance();
  std::lock_guard lock(state.mutex);
  auto key = std::make_pair(target, reinterpret_cast<const void*>(handler));
  if (auto known = state.wrapped_untyped.find(key); known != state.wrapped_untyped.end()) return known->second;
  if (state.untyped_slots_used == kUntypedSlots) return std::nullopt;
  auto function = run_function(target, reinterpret_cast<const void*>(handler));
  if (!function) return std::nullopt;
  size_t index = state.untyped_slots_used++;
  untyped_slots[index] = {handler, new_registration(state, target), *function};
  return state.wrapped_untyped[std::move(key)] = untyped_trampoline(index);
}

void add_site(const std::string& target, const std::string& line) {
  State& state = State::instance();
  std::lock_guard lock(state.mutex);
  TargetSites& sites = state.sites[target];
  const char* before = sites.text.load(std::memory_order_relaxed);
  // Never freed, because a crash report reads the text without a lock. A few lines are enough for a report.
  if (before != nullptr && (std::strlen(before) > 500 || std::strstr(before, line.c_str()) != nullptr)) return;
  sites.text.store(before == nullptr ? keep(line) : keep(std::string(before) + "; " + line), std::memory_order_release);
}

}  // namespace framedex::ffi
