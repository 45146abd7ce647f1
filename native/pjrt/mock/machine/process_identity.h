// Which of several processes of one JAX program this one is.
#pragma once

#include <optional>

#include "pjrt_c_api.h"

namespace framedex::mock {

struct ProcessIdentity {
  int index;
  int count;
};

// Which process this is by the options node_id and num_nodes, with which JAX opens a PJRT plug-in; without them by what
// jax.distributed.initialize() was told, since JAX passes nothing of it to a TPU. Nothing where the program is one
// process. Asking jax.distributed takes the GIL.
std::optional<ProcessIdentity> process_identity(const PJRT_NamedValue* options, size_t count);

}  // namespace framedex::mock
