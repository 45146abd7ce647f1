#include "pjrt/mock/faults.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <memory>

#include "pjrt/mock/base/error.h"
#include "pjrt/mock/base/event.h"
#include "pjrt/mock/buffers/buffer.h"
#include "pjrt/mock/devices/device.h"

namespace framedex::mock {
namespace {

// The rules of this process, and the counts since the library was loaded.
struct Faults {
  FaultRules rules;
  std::deque<std::atomic<uint64_t>> calls;     // by function
  std::deque<std::atomic<uint64_t>> executes;  // by device rule
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};

// Set once, before the table is returned. Never destroyed: buffers may be used until the process ends.
Faults* faults = nullptr;

const Failure* injected_failure(size_t function, uint64_t number, bool is_event) {
  for (const CallRule& rule : faults->rules.calls) {
    bool applies = rule.onwards ? number >= rule.first : number == rule.first;
    if (rule.function == function && rule.is_event == is_event && applies) return &rule.failure;
  }
  return nullptr;
}

}  // namespace

const PJRT_Api* add_fault_layer(const PJRT_Api* api) {
  FaultRules rules;
  try {
    rules = fault_rules(process_environment);
  } catch (const InvalidSetting&) {
    return api;
  }
  if (rules.calls.empty() && rules.devices.empty()) return api;
  faults = new Faults;
  faults->calls.resize(kFaultFunctions.size());
  faults->executes.resize(rules.devices.size());
  faults->rules = std::move(rules);
  static PJRT_Api wrapped;
  wrapped = *api;
  wrap_with_faults(api, wrapped);
  return &wrapped;
}

FaultyCall::FaultyCall(size_t function) : function_(function), number_(++faults->calls[function]) {}

PJRT_Error* FaultyCall::device_failure(const std::function<bool(int device)>& works_on, bool is_execute) {
  auto elapsed = std::chrono::steady_clock::now() - faults->start;
  for (size_t i = 0; i < faults->rules.devices.size(); ++i) {
    const DeviceRule& rule = faults->rules.devices[i];
    if (!works_on(rule.device)) continue;
    uint64_t executed = is_execute ? faults->executes[i]++ : faults->executes[i].load();
    if (elapsed < rule.after || executed < rule.executes) continue;
    return make_error(rule.failure.code, "TPU_" + std::to_string(rule.device) + " has failed. " + rule.failure.message);
  }
  return nullptr;
}

PJRT_Error* FaultyCall::failure() {
  const Failure* failure = injected_failure(function_, number_, false);
  return failure == nullptr ? nullptr : make_error(failure->code, failure->message);
}

void FaultyCall::fail_event(PJRT_Event*& event) {
  const Failure* failure = event == nullptr ? nullptr : injected_failure(function_, number_, true);
  if (failure == nullptr) return;
  auto failing = std::make_shared<EventState>();
  event->state->on_ready([failing, failure](const Status&) { failing->set({failure->code, failure->message}); });
  if (event != ready_event()) delete event;
  event = new PJRT_Event{failing};
}

bool is_on(const PJRT_Api&, const PJRT_Device* place, int device) {
  return place != nullptr && place->description->id == device;
}

bool is_on(const PJRT_Api& api, const PJRT_Memory* place, int device) {
  return place != nullptr && is_on(api, static_cast<const Memory*>(place)->device, device);
}

bool is_on(const PJRT_Api& api, const PJRT_Buffer* place, int device) {
  return place != nullptr && is_on(api, place->memory, device);
}

bool is_on(const PJRT_Api& api, PJRT_LoadedExecutable* place, int device) {
  PJRT_LoadedExecutable_AddressableDevices_Args args{};
  args.struct_size = PJRT_LoadedExecutable_AddressableDevices_Args_STRUCT_SIZE;
  args.executable = place;
  if (PJRT_Error* error = api.PJRT_LoadedExecutable_AddressableDevices(&args)) {
    PJRT_Error_Destroy_Args destroy{PJRT_Error_Destroy_Args_STRUCT_SIZE, nullptr, error};
    api.PJRT_Error_Destroy(&destroy);
    return false;
  }
  for (size_t i = 0; i < args.num_addressable_devices; ++i) {
    if (is_on(api, args.addressable_devices[i], device)) return true;
  }
  return false;
}

}  // namespace framedex::mock
