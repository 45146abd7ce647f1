#include "pjrt/mock/machine/settings.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace framedex::mock {
namespace {

constexpr int64_t kMaximumMemory = int64_t{1} << 44;

std::string text_of(const Environment& environment, const char* name) {
  const char* text = environment(name);
  return text == nullptr ? "" : text;
}

// Parses a whole number from `minimum` to `maximum`; nothing if the variable is not set.
std::optional<int64_t> number(const Environment& environment, const char* name, int64_t minimum, int64_t maximum,
                              const std::string& meaning) {
  std::string text = text_of(environment, name);
  if (text.empty()) return std::nullopt;
  char* end = nullptr;
  errno = 0;
  int64_t value = std::strtoll(text.c_str(), &end, 10);
  if (errno != 0 || *end != '\0' || value < minimum || value > maximum) {
    throw InvalidSetting(std::string(name) + "=" + text + " is not " + meaning);
  }
  return value;
}

std::optional<int64_t> count(const Environment& environment, const char* name, const std::string& what) {
  return number(environment, name, 1, kMaximumDevices,
                "a number of " + what + " from 1 to " + std::to_string(kMaximumDevices));
}

struct RequestedMachine {
  std::string device;
  std::optional<int64_t> devices;
  int64_t slices;
  int64_t hosts_per_slice;
  int64_t slices_per_host;
};

int64_t equal_parts(int64_t whole, int64_t parts, const char* what, const char* holders) {
  if (whole % parts != 0) {
    throw InvalidSetting(std::to_string(whole) + " " + what + " cannot be shared evenly by " + std::to_string(parts) +
                         " " + holders);
  }
  return whole / parts;
}

Bounds shape_of(const RequestedMachine& wanted, const TpuKind& kind, const ChipConfiguration& chip) {
  size_t colon = wanted.device.find(':');
  if (colon != std::string::npos) {
    std::optional<Bounds> shape = parse_bounds(wanted.device.substr(colon + 1));
    if (shape) return *shape;
    throw InvalidSetting("FRAMEDEX_DEVICE=" + wanted.device + " has no chip shape after the colon, such as " +
                         kind.name + (kind.dimensions == 2 ? ":2x4" : ":2x2x4"));
  }
  if (!wanted.devices) return arrange_chips(kind, volume(kind.smallest_slice) * wanted.hosts_per_slice);
  int64_t devices = equal_parts(*wanted.devices, wanted.slices, "devices", "slices");
  if (devices % chip.devices_per_chip != 0) {
    throw InvalidSetting("FRAMEDEX_DEVICES=" + std::to_string(*wanted.devices) + ": a " + kind.name + " chip has " +
                         std::to_string(chip.devices_per_chip) + " devices");
  }
  return arrange_chips(kind, devices / chip.devices_per_chip);
}

Topology topology_of(const RequestedMachine& wanted) {
  const TpuKind& kind = find_kind(wanted.device.substr(0, wanted.device.find(':')));
  const ChipConfiguration& chip = kind.configurations[kind.client];
  Bounds chips = shape_of(wanted, kind, chip);
  Topology topology{&kind, &chip, chips, chips, wanted.slices, wanted.slices_per_host};
  check(topology);
  topology.chips_per_host = divide_among_hosts(chips, wanted.hosts_per_slice);
  if (wanted.devices && *wanted.devices != topology.devices()) {
    throw InvalidSetting("FRAMEDEX_DEVICE=" + wanted.device + " has " + std::to_string(topology.devices()) +
                         " devices, which contradicts FRAMEDEX_DEVICES=" + std::to_string(*wanted.devices) +
                         "; set only one of these variables");
  }
  return topology;
}

int64_t host_count(const Environment& environment, const std::optional<ProcessIdentity>& identity) {
  std::optional<int64_t> hosts = count(environment, "FRAMEDEX_HOSTS", "hosts");
  if (!identity) return hosts.value_or(1);
  if (hosts && *hosts != identity->count) {
    throw InvalidSetting("FRAMEDEX_HOSTS=" + std::to_string(*hosts) + ", but the program has " +
                         std::to_string(identity->count) + " processes (jax.distributed.initialize)");
  }
  return identity->count;
}

int64_t host_index(const Environment& environment, const std::optional<ProcessIdentity>& identity, int64_t hosts) {
  if (identity) return identity->index;
  return number(environment, "FRAMEDEX_HOST_ID", 0, hosts - 1,
                "the number of a host, from 0 to " + std::to_string(hosts - 1))
      .value_or(0);
}

}  // namespace

Machine read_machine(const Environment& environment, std::optional<ProcessIdentity> identity) {
  std::string device = text_of(environment, "FRAMEDEX_DEVICE");
  RequestedMachine wanted{device.empty() ? "v5e" : device, count(environment, "FRAMEDEX_DEVICES", "devices"),
                          count(environment, "FRAMEDEX_SLICES", "slices").value_or(1), 1, 1};
  std::optional<int64_t> memory =
      number(environment, "FRAMEDEX_HBM", 1, kMaximumMemory, "a number of bytes of device memory from 1 to 2^44");
  int64_t hosts = host_count(environment, identity);
  if (hosts < wanted.slices) {
    wanted.slices_per_host = equal_parts(wanted.slices, hosts, "slices", "hosts");
  } else {
    wanted.hosts_per_slice = equal_parts(hosts, wanted.slices, "hosts", "slices");
  }
  Topology topology = topology_of(wanted);
  topology.memory_limit = memory.value_or(0);
  bool is_dry_run = number(environment, "FRAMEDEX_DRY_RUN", 0, 1, "0 or 1").value_or(0) == 1;
  return {topology, host_index(environment, identity, hosts), is_dry_run};
}

const char* process_environment(const char* name) { return std::getenv(name); }

Environment parse_environment(const char* const* variables) {
  return [variables](const char* name) -> const char* {
    size_t length = std::strlen(name);
    for (const char* const* variable = variables; *variable != nullptr; ++variable) {
      if (std::strncmp(*variable, name, length) == 0 && (*variable)[length] == '=') return *variable + length + 1;
    }
    return nullptr;
  };
}

}  // namespace framedex::mock
