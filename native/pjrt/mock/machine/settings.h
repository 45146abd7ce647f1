// What the simulated machine is to be: the environment variables that `framedex run` sets.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "pjrt/mock/machine/process_identity.h"
#include "pjrt/mock/machine/topology.h"

namespace framedex::mock {

// The value of an environment variable, nullptr if it is not set.
using Environment = std::function<const char*(const char*)>;

// The machine that one process opens.
struct Machine {
  Topology topology;
  int64_t process_index;  // the host whose devices are this process's own
};

// The machine of FRAMEDEX_DEVICE (KIND or KIND:SHAPE), FRAMEDEX_DEVICES (how many in all), FRAMEDEX_SLICES,
// FRAMEDEX_HOSTS, FRAMEDEX_HOST_ID and FRAMEDEX_HBM. Its hosts are the processes of `identity` where that is given,
// else as many as FRAMEDEX_HOSTS says, else one, which then has every device. Throws InvalidSetting, whose text names
// the variable.
Machine read_machine(const Environment& environment, std::optional<ProcessIdentity> identity);

// The environment of this process.
const char* process_environment(const char* name);
// The environment in a list like environ: NAME=VALUE, ended by nullptr. The list has to outlive the result.
Environment listed_environment(const char* const* variables);

}  // namespace framedex::mock
