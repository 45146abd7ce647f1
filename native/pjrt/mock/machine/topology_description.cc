#include "pjrt/mock/machine/topology_description.h"

#include <dlfcn.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <functional>

#include "pjrt/mock/base/error.h"
#include "pjrt/mock/machine/topology_text.h"

namespace framedex::mock {
namespace {

PJRT_Error* create_topology(PJRT_TopologyDescription_Create_Args* args) {
  try {
    std::string name(args->topology_name, args->topology_name_size);
    args->topology = new PJRT_TopologyDescription(parse_topology(name, args->create_options, args->num_options));
  } catch (const InvalidSetting& problem) {
    return make_error(PJRT_Error_Code_INVALID_ARGUMENT, problem.what());
  }
  return nullptr;
}

PJRT_Error* deserialize_topology(PJRT_TopologyDescription_Deserialize_Args* args) {
  try {
    std::string bytes(args->serialized_topology, args->serialized_topology_size);
    args->topology = new PJRT_TopologyDescription(deserialize(bytes));
  } catch (const InvalidSetting& problem) {
    return make_error(PJRT_Error_Code_INVALID_ARGUMENT, problem.what());
  }
  return nullptr;
}

PJRT_Error* serialize_topology(PJRT_TopologyDescription_Serialize_Args* args) {
  auto* bytes = new std::string(serialize(args->topology->topology));
  args->serialized_bytes = bytes->data();
  args->serialized_bytes_size = bytes->size();
  args->serialized_topology = reinterpret_cast<PJRT_SerializedTopology*>(bytes);
  args->serialized_topology_deleter = [](PJRT_SerializedTopology* serialized) {
    delete reinterpret_cast<std::string*>(serialized);
  };
  return nullptr;
}

PJRT_Error* memory_space_kinds(PJRT_TopologyDescription_GetMemorySpaceKindIds_Args* args) {
  static const std::vector<int> ids = [] {
    std::vector<int> all;
    for (const MemorySpaceKind& kind : kMemorySpaceKinds) all.push_back(kind.kind_id);
    return all;
  }();
  args->memory_space_kind_ids = ids.data();
  args->num_memory_space_kind_ids = ids.size();
  return nullptr;
}

// Returns the build time of this library. The version must not differ between processes that share JAX's compilation
// cache.
time_t library_time() {
  Dl_info library{};
  struct stat file{};
  bool is_found =
      dladdr(reinterpret_cast<const void*>(&library_time), &library) != 0 && stat(library.dli_fname, &file) == 0;
  return is_found ? file.st_mtime : 0;
}

}  // namespace

const std::string& platform_version() {
  static const std::string version = [] {
    time_t built = library_time();
    tm utc;
    gmtime_r(&built, &utc);
    std::array<char, 64> date;
    strftime(date.data(), date.size(), "%b %d %Y %H:%M:%S", &utc);
    return std::string("framedex mock TPU\nBuilt on ") + date.data() + " (" + std::to_string(built) + ") cl/0";
  }();
  return version;
}

void add_topology_functions(PJRT_Api& api) {
  add_device_description_functions(api);
  api.PJRT_TopologyDescription_Create = create_topology;
  api.PJRT_TopologyDescription_Destroy = [](PJRT_TopologyDescription_Destroy_Args* args) -> PJRT_Error* {
    if (args->topology->is_of_client) {
      return make_error(PJRT_Error_Code_INVALID_ARGUMENT,
                        "PJRT_TopologyDescription_Destroy of a client's topology, which the client owns.");
    }
    delete args->topology;
    return nullptr;
  };
  api.PJRT_TopologyDescription_PlatformName = [](PJRT_TopologyDescription_PlatformName_Args* args) -> PJRT_Error* {
    args->platform_name = kPlatformName;
    args->platform_name_size = sizeof(kPlatformName) - 1;
    return nullptr;
  };
  api.PJRT_TopologyDescription_PlatformVersion =
      [](PJRT_TopologyDescription_PlatformVersion_Args* args) -> PJRT_Error* {
    args->platform_version = platform_version().data();
    args->platform_version_size = platform_version().size();
    return nullptr;
  };
  api.PJRT_TopologyDescription_GetDeviceDescriptions =
      [](PJRT_TopologyDescription_GetDeviceDescriptions_Args* args) -> PJRT_Error* {
    args->descriptions = args->topology->handles.data();
    args->num_descriptions = args->topology->handles.size();
    return nullptr;
  };
  api.PJRT_TopologyDescription_Serialize = serialize_topology;
  api.PJRT_TopologyDescription_Deserialize = deserialize_topology;
  api.PJRT_TopologyDescription_Attributes = [](PJRT_TopologyDescription_Attributes_Args* args) -> PJRT_Error* {
    args->attributes = args->topology->attributes.data();
    args->num_attributes = args->topology->attributes.size();
    return nullptr;
  };
  api.PJRT_TopologyDescription_Fingerprint = [](PJRT_TopologyDescription_Fingerprint_Args* args) -> PJRT_Error* {
    args->fingerprint = fingerprint(args->topology->topology);
    return nullptr;
  };
  api.PJRT_TopologyDescription_GetMemorySpaceKindIds = memory_space_kinds;
}

}  // namespace framedex::mock

PJRT_TopologyDescription::PJRT_TopologyDescription(const framedex::mock::Topology& described)
    : topology(described),
      attributes{framedex::mock::named_integer("device_memory_bytes_limit", topology.memory()),
                 framedex::mock::named_integer("twist", 0),
                 framedex::mock::named_integers("wrap", topology.wrap.data(), topology.wrap.size())} {
  const auto& [x_bound, y_bound, z_bound] = topology.chips;
  for (int64_t slice = 0; slice < topology.slices; ++slice) {
    for (int64_t z = 0; z < z_bound; ++z) {
      for (int64_t y = 0; y < y_bound; ++y) {
        for (int64_t x = 0; x < x_bound; ++x) {
          for (int core = 0; core < topology.chip->devices_per_chip; ++core) {
            framedex::mock::DeviceLocation place{slice, {x, y, z}, core};
            devices.push_back(std::make_unique<PJRT_DeviceDescription>(topology, place));
          }
        }
      }
    }
  }
  std::stable_sort(devices.begin(), devices.end(),
                   [](const auto& left, const auto& right) { return left->process_index < right->process_index; });
  for (const auto& device : devices) handles.push_back(device.get());
}
