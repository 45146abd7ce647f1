// Programs, compiled and run by the package tpu_legacy beside this library, on jaxlib's CPU client.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pjrt/mock/base/python.h"
#include "tpu_c_api.h"

namespace framedex::tpu_legacy {

class Program {
 public:
  // Compiles a serialised HloModuleProto. On failure, and without Python, returns false with the reason in `status`.
  bool compile(std::string_view module, TF_Status* status);
  // Runs the program on the arrays at these addresses, and sets `results` to the bytes of each result, row-major. On
  // failure returns false with the reason in `status`.
  bool execute(const std::vector<const void*>& arguments, std::vector<std::string>& results, TF_Status* status) const;

 private:
  mock::python::OwnedReference execute_;
};

}  // namespace framedex::tpu_legacy
