#include "pjrt/mock/machine/topology_text.h"

#include <algorithm>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

namespace framedex::mock {
namespace {

constexpr char kTypeUrl[] = "type.googleapis.com/framedex.Topology";

// Fields of PjRtTopologyDescriptionProto and google.protobuf.Any, as libtpu 0.0.51 writes them.
enum ProtoField { kPlatformName = 2, kPlatformSpecific = 9, kAnyType = 1, kAnyValue = 2 };

void append_varint(std::string& bytes, uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  bytes += static_cast<char>(value);
}

void append_field(std::string& bytes, ProtoField field, std::string_view value) {
  append_varint(bytes, static_cast<uint64_t>(field) << 3 | 2);  // wire type 2: length-delimited
  append_varint(bytes, value.size());
  bytes += value;
}

std::optional<uint64_t> take_varint(std::string_view& bytes) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

// Returns the first length-delimited field of this number; skips others.
std::optional<std::string_view> find_field(std::string_view bytes, ProtoField wanted) {
  while (!bytes.empty()) {
    std::optional<uint64_t> tag = take_varint(bytes);
    std::optional<uint64_t> value = tag ? take_varint(bytes) : std::nullopt;
    if (!value) return std::nullopt;
    if ((*tag & 7) == 0) continue;
    if ((*tag & 7) != 2 || *value > bytes.size()) return std::nullopt;
    if (*tag >> 3 == static_cast<uint64_t>(wanted)) return bytes.substr(0, *value);
    bytes.remove_prefix(*value);
  }
  return std::nullopt;
}

std::string describe(const Topology& topology) {
  std::ostringstream text;
  text << topology.kind->name;
  for (const Bounds& bounds : {topology.chips, topology.chips_per_host, topology.wrap}) {
    for (int64_t bound : bounds) text << ' ' << bound;
  }
  text << ' ' << topology.slices << ' ' << topology.slices_per_host << ' ' << topology.memory_limit << ' '
       << topology.chip->name;
  return text.str();
}

Topology read_description(const std::string& description) {
  std::istringstream text(description);
  std::string kind;
  std::string configuration;
  Topology topology{};
  text >> kind;
  for (Bounds* bounds : {&topology.chips, &topology.chips_per_host, &topology.wrap}) {
    for (int64_t& bound : *bounds) text >> bound;
  }
  text >> topology.slices >> topology.slices_per_host >> topology.memory_limit >> configuration;
  topology.kind = &find_kind(kind);
  topology.chip = &find_configuration(*topology.kind, configuration);
  check(topology);
  return topology;
}

std::vector<int64_t> integers(const PJRT_NamedValue& option, const std::string& name, size_t count) {
  if (option.type == PJRT_NamedValue_kInt64 && count == 1) return {option.int64_value};
  if (option.type == PJRT_NamedValue_kInt64List && option.value_size == count) {
    return {option.int64_array_value, option.int64_array_value + count};
  }
  throw InvalidSetting(name + " must be " + (count == 1 ? "an integer" : std::to_string(count) + " integers"));
}

Bounds bounds_of(const PJRT_NamedValue& option, const std::string& name) {
  std::vector<int64_t> values = integers(option, name, 3);
  return {values[0], values[1], values[2]};
}

// A host has no more chips in a dimension than the slice.
Bounds natural_host(const Topology& topology) {
  Bounds host = topology.kind->chips_per_host;
  for (size_t i = 0; i < host.size(); ++i) host[i] = std::min(host[i], topology.chips[i]);
  return host;
}

void apply(Topology& topology, const PJRT_NamedValue& option) {
  std::string name(option.name, option.name_size);
  if (name == "chips_per_host_bounds") {
    topology.chips_per_host = bounds_of(option, name);
  } else if (name == "wrap") {
    topology.wrap = bounds_of(option, name);
  } else if (name == "num_slices") {
    topology.slices = std::max<int64_t>(integers(option, name, 1).front(), 1);
  } else if (name == "chip_config_name" && option.type == PJRT_NamedValue_kString) {
    topology.chip = &find_configuration(*topology.kind, std::string(option.string_value, option.value_size));
  } else {
    throw InvalidSetting("unexpected option " + name +
                         "; the options are chips_per_host_bounds, num_slices, wrap and chip_config_name");
  }
}

}  // namespace

Topology parse_topology(const std::string& name, const PJRT_NamedValue* options, size_t count) {
  if (name.empty()) return parse_topology("v5e:1x1", options, count);
  size_t separator = name.find_first_of(":=");
  std::optional<Bounds> chips;
  if (separator != std::string::npos) chips = parse_bounds(name.substr(separator + 1));
  if (!chips) throw InvalidSetting("the topology name '" + name + "' is not KIND:SHAPE, such as v5e:2x4 or v4:2x2x2");
  const TpuKind& kind = find_kind(name.substr(0, separator));
  Topology topology{&kind, &kind.configurations[kind.topology], *chips, *chips};
  topology.chips_per_host = natural_host(topology);
  for (size_t i = 0; i < count; ++i) apply(topology, options[i]);
  check(topology);
  return topology;
}

std::string serialize(const Topology& topology) {
  std::string specific;
  append_field(specific, kAnyType, kTypeUrl);
  append_field(specific, kAnyValue, describe(topology));
  std::string bytes;
  append_field(bytes, kPlatformName, "tpu");
  append_field(bytes, kPlatformSpecific, specific);
  return bytes;
}

Topology deserialize(const std::string& bytes) {
  std::optional<std::string_view> specific = find_field(bytes, kPlatformSpecific);
  if (!specific || find_field(*specific, kAnyType) != kTypeUrl) {
    throw InvalidSetting("these " + std::to_string(bytes.size()) + " bytes are no topology of framedex's mock TPU");
  }
  return read_description(std::string(find_field(*specific, kAnyValue).value_or("")));
}

uint64_t fingerprint(const Topology& topology) {
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (char character : describe(topology)) {
    hash = (hash ^ static_cast<unsigned char>(character)) * 0x100000001b3;
  }
  return hash;
}

}  // namespace framedex::mock
