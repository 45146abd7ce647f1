#include "pjrt/mock/machine/fault_rules.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "pjrt_enumerators.h"

namespace framedex::mock {
namespace {

constexpr char kVariable[] = "FRAMEDEX_FAIL";
constexpr int kLastErrorCode = PJRT_Error_Code_UNAUTHENTICATED;

[[noreturn]] void refuse(const std::string& rule, const std::string& reason) {
  throw InvalidSetting("the failure '" + rule + "' " + reason);
}

// Cuts `text` at the first separator. Returns the part before it and leaves the rest in `text`.
std::string take_until(std::string& text, char separator) {
  size_t end = text.find(separator);
  std::string head = text.substr(0, end);
  text = end == std::string::npos ? "" : text.substr(end + 1);
  return head;
}

bool take_prefix(std::string& text, const std::string& prefix) {
  if (text.compare(0, prefix.size(), prefix) != 0) return false;
  text.erase(0, prefix.size());
  return true;
}

bool take_suffix(std::string& text, const std::string& suffix) {
  if (text.size() < suffix.size() || text.compare(text.size() - suffix.size(), suffix.size(), suffix) != 0)
    return false;
  text.resize(text.size() - suffix.size());
  return true;
}

std::optional<uint64_t> whole_number(const std::string& text) {
  bool is_number =
      !text.empty() && text.size() < 10 &&
      std::all_of(text.begin(), text.end(), [](char character) { return character >= '0' && character <= '9'; });
  if (!is_number) return std::nullopt;
  return std::strtoull(text.c_str(), nullptr, 10);
}

PJRT_Error_Code error_code(const std::string& rule, const std::string& name) {
  std::string possible;
  for (int code = PJRT_Error_Code_CANCELLED; code <= kLastErrorCode; ++code) {
    const char* known = pjrt::enumerator(static_cast<PJRT_Error_Code>(code));
    if (name == known) return static_cast<PJRT_Error_Code>(code);
    possible += (possible.empty() ? "" : ", ") + std::string(known);
  }
  refuse(rule, "has no error code after '='; the codes are " + possible);
}

// Parses `CODE` or `CODE:MESSAGE`.
Failure failure_of(const std::string& rule, std::string text) {
  PJRT_Error_Code code = error_code(rule, take_until(text, ':'));
  return {code, text.empty() ? "Injected failure (framedex run --fail '" + rule + "')." : text};
}

size_t function_index(const std::string& rule, const std::string& name, bool is_event) {
  for (size_t i = 0; i < kFaultFunctions.size(); ++i) {
    if (kFaultFunctions[i].name == name && (kFaultFunctions[i].has_events || !is_event)) return i;
  }
  if (!is_event) {
    refuse(rule,
           "does not name a PJRT function that can fail; `framedex calls` lists the functions that a program calls");
  }
  std::string possible;
  for (const FaultFunction& function : kFaultFunctions) {
    if (function.has_events) possible += (possible.empty() ? "" : ", ") + std::string(function.name);
  }
  refuse(rule, "does not name a function that returns events; these functions do: " + possible);
}

CallRule call_rule(const std::string& rule, std::string text) {
  bool is_event = take_prefix(text, "event:");
  std::string target = take_until(text, '=');
  std::string name = take_until(target, ':');
  CallRule parsed{function_index(rule, name, is_event), is_event, 1, target.empty(), failure_of(rule, text)};
  if (parsed.onwards) return parsed;
  parsed.onwards = take_suffix(target, "+");
  parsed.first = whole_number(target).value_or(0);
  if (parsed.first == 0) refuse(rule, "has no call number after the function, such as :3 or :3+");
  return parsed;
}

DeviceRule device_rule(const std::string& rule, std::string text) {
  std::string target = take_until(text, '=');
  std::optional<uint64_t> device = whole_number(take_until(target, '@'));
  if (!device) refuse(rule, "has no device id after 'device:'");
  DeviceRule parsed{static_cast<int>(*device), std::chrono::milliseconds(0), 0,
                    failure_of(rule, text.empty() ? "UNAVAILABLE" : text)};
  if (target.empty()) return parsed;
  if (take_suffix(target, "ms") && whole_number(target)) {
    parsed.after = std::chrono::milliseconds(*whole_number(target));
  } else if (take_suffix(target, "executes") && whole_number(target)) {
    parsed.executes = *whole_number(target);
  } else {
    refuse(rule, "has no time or count after '@', such as 100ms or 5executes");
  }
  return parsed;
}

}  // namespace

FaultRules parse_fault_rules(const std::string& text) {
  FaultRules rules;
  for (std::string rest = text; !rest.empty();) {
    std::string rule = take_until(rest, ';');
    std::string body = rule;
    if (rule.empty()) continue;
    if (take_prefix(body, "device:")) {
      rules.devices.push_back(device_rule(rule, body));
    } else {
      rules.calls.push_back(call_rule(rule, body));
    }
  }
  return rules;
}

FaultRules fault_rules(const Environment& environment) {
  const char* text = environment(kVariable);
  return parse_fault_rules(text == nullptr ? "" : text);
}

void check_faults(const Environment& environment, const Topology& machine) {
  for (const DeviceRule& rule : fault_rules(environment).devices) {
    if (machine.has_device(rule.device)) continue;
    throw InvalidSetting("there is no device " + std::to_string(rule.device) + " to fail: " + machine.name() + " has " +
                         std::to_string(machine.devices()) + ", from " + std::to_string(machine.first_device(0)) +
                         " on");
  }
}

}  // namespace framedex::mock
