// The settings of the simulated machine, from environment variables that `framedex run` sets.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "pjrt/mock/machine/process_identity.h"
#include "pjrt/mock/machine/topology.h"

namespace framedex::mock {

// Returns the value of an environment variable, nullptr if it is not set.
using Environment = std::function<const char*(const char*)>;

// The machine as one process opens it.
struct Machine {
  Topology topology;
  int64_t process_index;  // the host whose devices belong to this process
  bool is_dry_run;        // programs are compiled and their memory is counted, but they do not run
};

// Reads the machine from FRAMEDEX_DEVICE (KIND or KIND:SHAPE), FRAMEDEX_DEVICES (total number), FRAMEDEX_SLICES,
// FRAMEDEX_HOSTS, FRAMEDEX_HOST_ID, FRAMEDEX_HBM and FRAMEDEX_DRY_RUN. Its hosts are the processes of `identity`.
// Without one, FRAMEDEX_HOSTS gives their number; the default is one host with every device. Throws InvalidSetting,
// whose text names the variable.
Machine read_machine(const Environment& environment, std::optional<ProcessIdentity> identity);

// Reads the environment of this process.
const char* process_environment(const char* name);
// Reads a list like environ: NAME=VALUE, ended by nullptr. The list must outlive the result.
Environment parse_environment(const char* const* variables);

}  // namespace framedex::mock
