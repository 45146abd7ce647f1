#include "pjrt/mock/machine/device_description.h"

namespace framedex::mock {
namespace {

PJRT_NamedValue named(const char* name, PJRT_NamedValue_Type type, size_t size) {
  PJRT_NamedValue value{};
  value.struct_size = PJRT_NamedValue_STRUCT_SIZE;
  value.name = name;
  value.name_size = std::char_traits<char>::length(name);
  value.type = type;
  value.value_size = size;
  return value;
}

// Returns the position in row-major order; x changes fastest.
int64_t position(const Bounds& coordinates, const Bounds& bounds) {
  return coordinates[0] + bounds[0] * (coordinates[1] + bounds[1] * coordinates[2]);
}

int id_in_slice(const Topology& topology, const DeviceLocation& place) {
  int64_t chip = position(place.coordinates, topology.chips);
  return static_cast<int>(chip * topology.chip->devices_per_chip + place.core_on_chip);
}

int machine_id(const Topology& topology, const DeviceLocation& place) {
  return topology.first_device(place.slice) + id_in_slice(topology, place);
}

int host_in_slice(const Topology& topology, const DeviceLocation& place) {
  Bounds host;
  Bounds hosts;
  for (size_t i = 0; i < host.size(); ++i) {
    host[i] = place.coordinates[i] / topology.chips_per_host[i];
    hosts[i] = topology.chips[i] / topology.chips_per_host[i];
  }
  return static_cast<int>(position(host, hosts));
}

int process_of(const Topology& topology, const DeviceLocation& place) {
  int64_t first = place.slice / topology.slices_per_host * topology.hosts_per_slice();
  return static_cast<int>(first) + host_in_slice(topology, place);
}

}  // namespace

PJRT_NamedValue named_integer(const char* name, int64_t integer) {
  PJRT_NamedValue value = named(name, PJRT_NamedValue_kInt64, 1);
  value.int64_value = integer;
  return value;
}

PJRT_NamedValue named_integers(const char* name, const int64_t* integers, size_t count) {
  PJRT_NamedValue value = named(name, PJRT_NamedValue_kInt64List, count);
  value.int64_array_value = integers;
  return value;
}

void add_device_description_functions(PJRT_Api& api) {
  api.PJRT_DeviceDescription_Id = [](PJRT_DeviceDescription_Id_Args* args) -> PJRT_Error* {
    args->id = args->device_description->id;
    return nullptr;
  };
  api.PJRT_DeviceDescription_ProcessIndex = [](PJRT_DeviceDescription_ProcessIndex_Args* args) -> PJRT_Error* {
    args->process_index = args->device_description->process_index;
    return nullptr;
  };
  api.PJRT_DeviceDescription_Attributes = [](PJRT_DeviceDescription_Attributes_Args* args) -> PJRT_Error* {
    args->attributes = args->device_description->attributes.data();
    args->num_attributes = args->device_description->attributes.size();
    return nullptr;
  };
  api.PJRT_DeviceDescription_Kind = [](PJRT_DeviceDescription_Kind_Args* args) -> PJRT_Error* {
    args->device_kind = args->device_description->kind.data();
    args->device_kind_size = args->device_description->kind.size();
    return nullptr;
  };
  api.PJRT_DeviceDescription_DebugString = [](PJRT_DeviceDescription_DebugString_Args* args) -> PJRT_Error* {
    args->debug_string = args->device_description->debug_text.data();
    args->debug_string_size = args->device_description->debug_text.size();
    return nullptr;
  };
  api.PJRT_DeviceDescription_ToString = [](PJRT_DeviceDescription_ToString_Args* args) -> PJRT_Error* {
    args->to_string = args->device_description->text.data();
    args->to_string_size = args->device_description->text.size();
    return nullptr;
  };
}

}  // namespace framedex::mock

using namespace framedex::mock;

PJRT_DeviceDescription::PJRT_DeviceDescription(const Topology& topology, const DeviceLocation& device_location)
    : place(device_location),
      id(machine_id(topology, place)),
      process_index(process_of(topology, place)),
      kind(topology.kind->device_kind) {
  std::string slice = std::to_string(place.slice);
  std::string own_id = std::to_string(id_in_slice(topology, place));
  std::string host = std::to_string(topology.slices == 1 ? process_index : host_in_slice(topology, place));
  std::string chip = to_string(place.coordinates, ",");
  std::string core = std::to_string(place.core_on_chip);
  debug_text = "TPU_" + own_id + "(process=" + host + ",(" + chip + "," + core + "))";
  text = "TpuDevice(id=" + own_id + ", process_index=" + host + ", coords=(" + chip + "), core_on_chip=" + core + ")";
  if (topology.slices > 1) {
    debug_text = "MegaScalePjRtDevice(wrapped=" + debug_text + ", slice_id=" + slice + ")";
    text = "MegaScalePjRtDevice(wrapped=" + text + ", slice_id=" + slice + ")";
  }
  attributes = {
      named_integers("coords", place.coordinates.data(), place.coordinates.size()),
      named_integer("core_on_chip", place.core_on_chip), named_integer("num_cores", topology.chip->cores_per_device),
      named_integer("device_memory_bytes_limit", topology.memory()), named_integer("slice_index", place.slice)};
}
