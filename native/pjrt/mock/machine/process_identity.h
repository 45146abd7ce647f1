// Which of several processes of one JAX program this one is.
#pragma once

#include <optional>

#include "pjrt_c_api.h"

namespace framedex::mock {

struct ProcessIdentity {
  int index;
  int count;
};

// What the caller knows of itself: the options node_id and num_nodes, with which JAX opens a PJRT plug-in, else what
// jax.distributed.initialize() was told (JAX passes nothing of it to a TPU). Nothing where the program is one process.
// Takes the GIL for the latter.
std::optional<ProcessIdentity> process_identity(const PJRT_NamedValue* options, size_t count);

}  // namespace framedex::mock
