// Fuzzes topology names, options and serialized bytes: they give a topology that round-trips, or are rejected.
#include "fuzz/input.h"
#include "pjrt/mock/machine/topology_text.h"

namespace {

namespace mock = framedex::mock;
using framedex::fuzz::Input;
using framedex::fuzz::require;

// libtpu's options, with numbers from the input.
mock::Topology named(Input& input) {
  static const std::string names[] = {"chips_per_host_bounds", "wrap", "num_slices", "chip_config_name", "other"};
  std::vector<PJRT_NamedValue> options(input.number<uint8_t>() % 5);
  std::vector<int64_t> numbers(4 * options.size());
  for (int64_t& number : numbers)
    number = input.number<int8_t>() == 0 ? input.number<int64_t>() : input.number<int8_t>();
  std::string text = input.text();
  for (size_t i = 0; i < options.size(); ++i) {
    const std::string& name = names[input.number<uint8_t>() % 5];
    PJRT_NamedValue& option = options[i];
    option.name = name.data();
    option.name_size = name.size();
    option.type = static_cast<PJRT_NamedValue_Type>(input.number<uint8_t>() % 5);
    option.value_size = 1;
    if (option.type == PJRT_NamedValue_kString) {
      option.string_value = text.data();
      option.value_size = text.size();
    } else if (option.type == PJRT_NamedValue_kInt64List) {
      option.int64_array_value = &numbers[4 * i];
      option.value_size = input.number<uint8_t>() % 5;
    } else {
      option.int64_value = numbers[4 * i];
    }
  }
  return mock::parse_topology(std::string(input.rest()), options.data(), options.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input(data, size);
  try {
    bool is_named = input.number<uint8_t>() % 2 == 0;
    mock::Topology topology = is_named ? named(input) : mock::deserialize(std::string(input.rest()));
    require(topology.devices() >= 1 && topology.devices() <= mock::kMaximumDevices);
    std::string bytes = mock::serialize(topology);
    require(mock::serialize(mock::deserialize(bytes)) == bytes);
    require(mock::fingerprint(mock::deserialize(bytes)) == mock::fingerprint(topology));
  } catch (const mock::InvalidSetting&) {
    // rejected
  }
  return 0;
}
