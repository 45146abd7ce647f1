#include "pjrt/mock/machine/topology.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <tuple>
#include <vector>

namespace framedex::mock {
namespace {

std::vector<int64_t> divisors(int64_t number) {
  std::vector<int64_t> found;
  for (int64_t i = 1; i <= number; ++i) {
    if (number % i == 0) found.push_back(i);
  }
  return found;
}

// Returns the most compact `allowed` block of this many chips: the smallest surface, then the longest x, then the
// longest y.
std::optional<Bounds> most_compact(int64_t chips, const std::function<bool(const Bounds&)>& allowed) {
  std::optional<Bounds> best;
  auto rank = [](const Bounds& block) {
    return std::make_tuple(block[0] * block[1] + block[1] * block[2] + block[0] * block[2], -block[0], -block[1]);
  };
  for (int64_t x : divisors(chips)) {
    for (int64_t y : divisors(chips / x)) {
      Bounds block{x, y, chips / x / y};
      if (allowed(block) && (!best || rank(block) < rank(*best))) best = block;
    }
  }
  return best;
}

template <typename Range>
std::string names(const Range& range) {
  std::string text;
  for (const auto& entry : range) text += (text.empty() ? "" : ", ") + entry.name;
  return text;
}

}  // namespace

int64_t volume(const Bounds& bounds) { return bounds[0] * bounds[1] * bounds[2]; }

std::string to_string(const Bounds& bounds, const char* separator) {
  return std::to_string(bounds[0]) + separator + std::to_string(bounds[1]) + separator + std::to_string(bounds[2]);
}

int64_t Topology::hosts_per_slice() const { return volume(chips) / volume(chips_per_host); }

int64_t Topology::devices_per_slice() const { return volume(chips) * chip->devices_per_chip; }

int Topology::first_device(int64_t slice) const { return slices == 1 ? 0 : 100000 * static_cast<int>(slice + 1); }

bool Topology::has_device(int id) const {
  for (int64_t slice = 0; slice < slices; ++slice) {
    if (id >= first_device(slice) && id - first_device(slice) < devices_per_slice()) return true;
  }
  return false;
}

std::string Topology::name() const {
  bool is_flat = kind->dimensions == 2 && chips[2] == 1;
  std::string shape = is_flat ? std::to_string(chips[0]) + "x" + std::to_string(chips[1]) : to_string(chips, "x");
  return kind->name + ":" + shape;
}

const TpuKind& find_kind(const std::string& name) {
  for (const TpuKind& kind : kTpuKinds) {
    if (name == kind.name || name == kind.device_kind || "TPU " + name == kind.device_kind) return kind;
  }
  throw InvalidSetting("there is no TPU kind '" + name + "'; the kinds are " + names(kTpuKinds));
}

const ChipConfiguration& find_configuration(const TpuKind& kind, const std::string& name) {
  for (const ChipConfiguration& configuration : kind.configurations) {
    if (name == configuration.name) return configuration;
  }
  throw InvalidSetting("a " + kind.name + " chip has no configuration '" + name + "'; it has " +
                       names(kind.configurations));
}

std::optional<Bounds> parse_bounds(const std::string& text) {
  Bounds bounds{1, 1, 1};
  const char* at = text.c_str();
  for (size_t dimension = 0; dimension < bounds.size(); ++dimension) {
    if (*at < '1' || *at > '9') return std::nullopt;
    char* end = nullptr;
    bounds[dimension] = std::strtoll(at, &end, 10);
    if (bounds[dimension] > kMaximumDevices) return std::nullopt;
    if (*end == '\0' && dimension > 0) return bounds;
    if (*end != 'x') return std::nullopt;
    at = end + 1;
  }
  return std::nullopt;
}

Bounds arrange_chips(const TpuKind& kind, int64_t chips) {
  if (chips == volume(kind.chips_per_host)) return kind.chips_per_host;
  std::optional<Bounds> block = most_compact(chips, [&](const Bounds& block) {
    bool is_flat = kind.dimensions == 2 || chips < volume(kind.chips_per_host);
    return is_flat ? block[2] == 1 && block[0] <= block[1] : block[0] <= block[1] && block[1] <= block[2];
  });
  return *block;  // a row of chips is always allowed
}

Bounds divide_among_hosts(const Bounds& chips, int64_t hosts) {
  std::optional<Bounds> block;
  if (hosts > 0 && volume(chips) % hosts == 0) {
    block = most_compact(volume(chips) / hosts, [&](const Bounds& block) {
      return chips[0] % block[0] == 0 && chips[1] % block[1] == 0 && chips[2] % block[2] == 0;
    });
  }
  if (block) return *block;
  std::string possible;
  for (int64_t count : divisors(volume(chips))) possible += (possible.empty() ? "" : ", ") + std::to_string(count);
  throw InvalidSetting(std::to_string(hosts) + " hosts cannot share " + to_string(chips, "x") +
                       " chips evenly; as many as these can: " + possible);
}

void check(const Topology& topology) {
  const auto& [x, y, z] = topology.chips;
  const auto& [host_x, host_y, host_z] = topology.chips_per_host;
  if (std::min({x, y, z, host_x, host_y, host_z}) < 1 || x % host_x != 0 || y % host_y != 0 || z % host_z != 0) {
    throw InvalidSetting(topology.name() + " cannot be divided among hosts of " +
                         to_string(topology.chips_per_host, "x") + " chips each");
  }
  if (topology.slices_per_host < 1 || topology.slices < 1 || topology.slices % topology.slices_per_host != 0) {
    throw InvalidSetting(std::to_string(topology.slices) + " slices cannot be divided among hosts of " +
                         std::to_string(topology.slices_per_host));
  }
  if (std::max({x, y, z, topology.slices}) > kMaximumDevices || volume(topology.chips) > kMaximumDevices ||
      topology.devices() > kMaximumDevices) {
    throw InvalidSetting(std::to_string(topology.slices) + " x " + topology.name() + " is more than the " +
                         std::to_string(kMaximumDevices) + " devices that can be simulated");
  }
}

}  // namespace framedex::mock
