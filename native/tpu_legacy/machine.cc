#include "tpu_legacy/machine.h"

#include <cstdio>
#include <new>

#include "recorder/base/export.h"

namespace framedex::tpu_legacy {
namespace {

// The variables of `framedex run` that only the PJRT mock supports.
constexpr const char* kUnsupportedVariables[] = {"FRAMEDEX_DRY_RUN", "FRAMEDEX_FAIL", "FRAMEDEX_HOSTS",
                                                 "FRAMEDEX_HOST_ID", "FRAMEDEX_SLICES"};

std::string text_of(const mock::Environment& environment, const char* name) {
  const char* text = environment(name);
  return text == nullptr ? "" : text;
}

// Parses a variable's whole number, from 1 to `most`.
int64_t number(const std::string& name, const std::string& text, int64_t most, const std::string& meaning) {
  long long value = 0;
  int length = 0;
  bool is_number =
      std::sscanf(text.c_str(), "%lld%n", &value, &length) == 1 && text[static_cast<size_t>(length)] == '\0';
  if (is_number && value >= 1 && value <= most) return value;
  throw mock::InvalidSetting(name + "=" + text + " is not " + meaning);
}

struct Opened {
  std::unique_ptr<Machine> machine;
  std::string problem;
};

Opened open_machine() {
  try {
    return {std::make_unique<Machine>(read_settings(mock::process_environment)), ""};
  } catch (const mock::InvalidSetting& invalid) {
    return {nullptr, invalid.what()};
  } catch (const std::bad_alloc&) {
    return {nullptr, "this host lacks the address space for the memory of the devices; set FRAMEDEX_HBM"};
  }
}

}  // namespace

MachineSettings read_settings(const mock::Environment& environment) {
  for (const char* name : kUnsupportedVariables) {
    if (!text_of(environment, name).empty()) {
      throw mock::InvalidSetting(std::string(name) + " is set, but the mock does not support it for jaxlib 0.4.13");
    }
  }
  std::string kind = text_of(environment, "FRAMEDEX_DEVICE");
  if (kind.empty()) kind = "v3";
  if (kind != "v2" && kind != "v3") {
    throw mock::InvalidSetting("FRAMEDEX_DEVICE=" + kind + " is not v2 or v3, the kinds that jaxlib 0.4.13 supports");
  }
  const mock::TpuKind& found = mock::find_kind(kind);
  std::string cores = text_of(environment, "FRAMEDEX_DEVICES");
  std::string memory = text_of(environment, "FRAMEDEX_HBM");
  MachineSettings settings{&found, kind == "v2" ? kTpuV2 : kTpuV3, kMaximumCores,
                           found.configurations[found.client].memory};
  if (!cores.empty()) {
    settings.cores = static_cast<int>(
        number("FRAMEDEX_DEVICES", cores, kMaximumCores,
               "a number of cores from 1 to " + std::to_string(kMaximumCores) + ", as jaxlib 0.4.13 supports"));
  }
  if (!memory.empty()) {
    settings.memory =
        number("FRAMEDEX_HBM", memory, int64_t{1} << 44, "a number of bytes of device memory from 1 to 2^44");
  }
  return settings;
}

Machine::Machine(const MachineSettings& settings) : settings_(settings) {
  for (int id = 0; id < settings.cores; ++id) {
    cores_.push_back({id, id / kCoresPerChip, id % kCoresPerChip});
    executors_.push_back(std::make_unique<SE_StreamExecutor>(id, settings.memory));
  }
}

Machine* Machine::open(std::string& problem) {
  // Never destroyed: jaxlib's own objects outlive the process's static ones.
  static const auto* const opened = new Opened(open_machine());
  problem = opened->problem;
  return opened->machine.get();
}

Machine& Machine::get() {
  std::string problem;
  return *open(problem);
}

SE_TpuTopology_Core* Machine::core(int id) {
  return id >= 0 && id < core_count() ? &cores_[static_cast<size_t>(id)] : nullptr;
}

SE_StreamExecutor* Machine::executor(int ordinal) {
  return ordinal >= 0 && ordinal < core_count() ? executors_[static_cast<size_t>(ordinal)].get() : nullptr;
}

std::array<int, 3> coordinates(int chip) { return {chip % kChipBounds[0], chip / kChipBounds[0], 0}; }

}  // namespace framedex::tpu_legacy

// Like framedex_check_mock (pjrt/mock/check.cc), for a program whose jaxlib uses the legacy API.
extern "C" FRAMEDEX_EXPORT const char* framedex_check_legacy_mock(const char* const* variables) {
  using namespace framedex;
  static thread_local std::string problem;
  try {
    tpu_legacy::read_settings(mock::parse_environment(variables));
  } catch (const mock::InvalidSetting& invalid) {
    problem = invalid.what();
    return problem.c_str();
  }
  return nullptr;
}
