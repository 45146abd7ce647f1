// Fuzzes plans of replays: a plan is parsed completely or rejected, and an execution has all of its buffers.
#include <stdexcept>

#include "fuzz/input.h"
#include "replay/plan.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  try {
    framedex::replay::Plan plan = framedex::replay::parse_plan(text);
    for (const framedex::replay::HandlerResult& each : plan.handler_results) {
      if (each.content.find('/') != std::string::npos) __builtin_trap();
    }
    for (const framedex::replay::Operation& each : plan.operations) {
      if (each.buffers.size() != each.devices * (each.arguments + each.outputs)) __builtin_trap();
      if (each.program.find('/') != std::string::npos || each.content.find('/') != std::string::npos) __builtin_trap();
    }
  } catch (const std::runtime_error&) {
  }
  return 0;
}
