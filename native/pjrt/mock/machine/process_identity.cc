#include "pjrt/mock/machine/process_identity.h"

#include <string_view>

#include "pjrt/mock/base/python.h"

namespace framedex::mock {
namespace {

// Returns an attribute that is a number, -1 if there is none.
int number_of(python::Object* object, const char* name) {
  python::Reference value = python::attribute(object, name);
  std::optional<int64_t> number = value ? python::to_integer(value.get()) : std::nullopt;
  if (!number) python::take_error();
  return static_cast<int>(number.value_or(-1));
}

// Reads jax.distributed's state. It exists once the module is imported; its numbers are set once it is initialised.
std::optional<ProcessIdentity> from_distributed_state() {
  if (!python::is_usable()) return std::nullopt;
  python::Gil gil;
  python::Reference module = python::loaded_module("jax._src.distributed");
  python::Reference state = module ? python::attribute(module.get(), "global_state") : python::Reference();
  if (!state) return std::nullopt;
  ProcessIdentity identity{number_of(state.get(), "process_id"), number_of(state.get(), "num_processes")};
  if (identity.index < 0 || identity.count <= 1) return std::nullopt;
  return identity;
}

std::optional<ProcessIdentity> from_options(const PJRT_NamedValue* options, size_t count) {
  ProcessIdentity identity{-1, 0};
  for (size_t i = 0; options != nullptr && i < count; ++i) {
    std::string_view name(options[i].name, options[i].name_size);
    if (options[i].type != PJRT_NamedValue_kInt64) continue;
    if (name == "node_id") identity.index = static_cast<int>(options[i].int64_value);
    if (name == "num_nodes") identity.count = static_cast<int>(options[i].int64_value);
  }
  if (identity.index < 0 || identity.count <= 1) return std::nullopt;
  return identity;
}

}  // namespace

std::optional<ProcessIdentity> process_identity(const PJRT_NamedValue* options, size_t count) {
  if (std::optional<ProcessIdentity> identity = from_options(options, count)) return identity;
  return from_distributed_state();
}

}  // namespace framedex::mock
