#include "ffi/run_functions.h"

#include <cstring>
#include <map>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "recorder/recorder.h"

namespace framedex::ffi {
namespace {

// Leaked on purpose, with all names: handlers run after static destructors.
struct State {
  std::mutex mutex;
  std::map<std::pair<std::string, const void*>, uint32_t> registered;

  static State& instance() {
    static auto* state = new State;
    return *state;
  }
};

}  // namespace

std::optional<uint32_t> run_function(const std::string& name, const void* handler) {
  State& state = State::instance();
  std::lock_guard lock(state.mutex);
  auto key = std::make_pair(name, handler);
  if (auto known = state.registered.find(key); known != state.registered.end()) return known->second;
  try {
    recorder::Function function{"ffi", strdup(name.c_str()), kRunValues.data(), kRunValues.size(), handler};
    return state.registered[std::move(key)] = recorder::register_functions(&function, 1);
  } catch (const std::length_error&) {
    return std::nullopt;
  }
}

}  // namespace framedex::ffi
