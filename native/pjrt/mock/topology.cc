#include "pjrt/mock/topology.h"

#include <ctime>

#include "pjrt/mock/error.h"

namespace {

constexpr char kDeviceKind[] = "TPU v5 lite";

PJRT_NamedValue named(const char* name, PJRT_NamedValue_Type type, size_t size) {
  PJRT_NamedValue value{};
  value.struct_size = PJRT_NamedValue_STRUCT_SIZE;
  value.name = name;
  value.name_size = std::char_traits<char>::length(name);
  value.type = type;
  value.value_size = size;
  return value;
}

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

}  // namespace

PJRT_DeviceDescription::PJRT_DeviceDescription(int device_id, int columns)
    : id(device_id), coordinates{device_id % columns, device_id / columns, 0}, kind(kDeviceKind) {
  std::string place = std::to_string(coordinates[0]) + "," + std::to_string(coordinates[1]) + ",0";
  debug_text = "TPU_" + std::to_string(id) + "(process=0,(" + place + ",0))";
  text = "TpuDevice(id=" + std::to_string(id) + ", process_index=0, coords=(" + place + "), core_on_chip=0)";
  attributes = {named_integers("coords", coordinates.data(), coordinates.size()), named_integer("core_on_chip", 0),
                named_integer("num_cores", 1), named_integer("slice_index", 0)};
}

PJRT_TopologyDescription::PJRT_TopologyDescription(int device_count) {
  // The chips of a v5e host stand two in a row.
  int columns = device_count > 1 ? 2 : 1;
  for (int id = 0; id < device_count; ++id) {
    devices.push_back(std::make_unique<PJRT_DeviceDescription>(id, columns));
    handles.push_back(devices.back().get());
  }
}

namespace framedex::mock {

const std::string& platform_version() {
  static const std::string version = [] {
    time_t now = time(nullptr);
    tm utc;
    gmtime_r(&now, &utc);
    std::array<char, 64> date;
    strftime(date.data(), date.size(), "%b %d %Y %H:%M:%S", &utc);
    return std::string("framedex mock TPU\nBuilt on ") + date.data() + " (" + std::to_string(now) + ") cl/0";
  }();
  return version;
}

void add_topology_functions(PJRT_Api& api) {
  api.PJRT_DeviceDescription_Id = [](PJRT_DeviceDescription_Id_Args* args) -> PJRT_Error* {
    args->id = args->device_description->id;
    return nullptr;
  };
  api.PJRT_DeviceDescription_ProcessIndex = [](PJRT_DeviceDescription_ProcessIndex_Args* args) -> PJRT_Error* {
    args->process_index = 0;
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
  api.PJRT_TopologyDescription_Attributes = [](PJRT_TopologyDescription_Attributes_Args* args) -> PJRT_Error* {
    args->attributes = nullptr;
    args->num_attributes = 0;
    return nullptr;
  };
  api.PJRT_TopologyDescription_Fingerprint = [](PJRT_TopologyDescription_Fingerprint_Args* args) -> PJRT_Error* {
    args->fingerprint = args->topology->handles.size();
    return nullptr;
  };
}

}  // namespace framedex::mock
