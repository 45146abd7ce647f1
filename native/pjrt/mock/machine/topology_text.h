// Topologies as text: the names and options that libtpu takes, and a serialized form.
#pragma once

#include <cstdint>
#include <string>

#include "pjrt/mock/machine/topology.h"
#include "pjrt_c_api.h"

namespace framedex::mock {

// The topology that `v5e:2x4` names, with the options that libtpu takes: chips_per_host_bounds (three integers),
// num_slices, wrap (three 0 or 1) and chip_config_name. An empty name is v5e:1x1. Throws InvalidSetting.
Topology parse_topology(const std::string& name, const PJRT_NamedValue* options, size_t count);

// Writes XLA's PjRtTopologyDescriptionProto, whose platform-specific part is a description of our own. Reading another
// library's bytes, or damaged ones, throws InvalidSetting.
std::string serialize(const Topology& topology);
Topology deserialize(const std::string& bytes);

// A hash, which is the same for equal topologies in every process and version.
uint64_t fingerprint(const Topology& topology);

}  // namespace framedex::mock
