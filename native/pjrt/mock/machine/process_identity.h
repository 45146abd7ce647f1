// The index of this process among the processes of a JAX program.
#pragma once

#include <optional>

#include "pjrt_c_api.h"

namespace framedex::mock {

struct ProcessIdentity {
  int index;
  int count;
};

// Returns the identity from the options node_id and num_nodes, which JAX passes to a PJRT plug-in. For a TPU JAX passes
// none, so it falls back to the values given to jax.distributed.initialize(), which takes the GIL. Returns nothing for
// a program with one process.
std::optional<ProcessIdentity> process_identity(const PJRT_NamedValue* options, size_t count);

}  // namespace framedex::mock
