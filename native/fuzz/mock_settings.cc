// Fuzzes the mock TPU's variables: they describe a machine and fault rules, or are rejected.
#include <map>

#include "fuzz/input.h"
#include "pjrt/mock/machine/fault_rules.h"
#include "pjrt/mock/machine/settings.h"

// Replaces the generated table, which would link the whole mock.
const std::vector<framedex::mock::FaultFunction> framedex::mock::kFaultFunctions = {
    {"PJRT_Client_Compile", false}, {"PJRT_Buffer_ReadyEvent", true}, {"PJRT_LoadedExecutable_Execute", true}};

namespace {

namespace mock = framedex::mock;
using framedex::fuzz::require;

// One variable per line, in this order.
constexpr const char* kVariables[] = {"FRAMEDEX_DEVICE", "FRAMEDEX_DEVICES", "FRAMEDEX_SLICES",
                                      "FRAMEDEX_HOSTS",  "FRAMEDEX_HOST_ID", "FRAMEDEX_HBM"};

std::string take_line(std::string_view& text) {
  size_t end = text.find('\n');
  std::string line(text.substr(0, end));
  text.remove_prefix(std::min(end, text.size() - 1) + (text.empty() ? 0 : 1));
  return line;
}

void read_machine(const std::map<std::string, std::string>& variables) {
  mock::Environment environment = [&](const char* name) -> const char* {
    auto variable = variables.find(name);
    return variable != variables.end() ? variable->second.c_str() : nullptr;
  };
  try {
    mock::Machine machine = mock::read_machine(environment, std::nullopt);
    require(machine.topology.devices() >= 1 && machine.topology.devices() <= mock::kMaximumDevices);
    require(machine.process_index >= 0);
  } catch (const mock::InvalidSetting&) {
    // rejected
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  if (text.empty() || text.find('\0') != std::string::npos) return -1;
  std::string_view rest = text;
  std::map<std::string, std::string> variables;
  for (const char* name : kVariables) variables[name] = rest.empty() ? "" : take_line(rest);
  read_machine(variables);
  try {
    mock::parse_fault_rules(std::string(rest));
  } catch (const mock::InvalidSetting&) {
    // rejected
  }
  return 0;
}
