// Python bindings of the stream of a capture's calls.
#pragma once

#include <pybind11/pybind11.h>

namespace framedex::bindings {

void define_call_stream(pybind11::module_& module);

}  // namespace framedex::bindings
