// Topologies as text: libtpu's names and options, and a serialized form.
#pragma once

#include <cstdint>
#include <string>

#include "pjrt/mock/machine/topology.h"
#include "pjrt_c_api.h"

namespace framedex::mock {

// Parses a topology name such as `v5e:2x4`, with libtpu's options: chips_per_host_bounds (three integers), num_slices,
// wrap (three 0 or 1) and chip_config_name. An empty name means v5e:1x1. Throws InvalidSetting.
Topology parse_topology(const std::string& name, const PJRT_NamedValue* options, size_t count);

// Serializes to XLA's PjRtTopologyDescriptionProto, whose platform-specific part is our own format. Parsing throws
// InvalidSetting for another library's bytes or damaged ones.
std::string serialize(const Topology& topology);
Topology deserialize(const std::string& bytes);

// Returns a hash that is the same for equal topologies in every process and version.
uint64_t fingerprint(const Topology& topology);

}  // namespace framedex::mock
