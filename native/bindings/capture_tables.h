// Python bindings of a capture's tables, without its calls.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <string>
#include <vector>

#include "capture_reader/capture_reader.h"

namespace framedex::bindings {

namespace py = pybind11;

// Decodes names and paths, which are bytes on Linux, with surrogateescape, as Python does.
inline py::str text(const std::string& bytes) {
  PyObject* decoded = PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "surrogateescape");
  if (decoded == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::str>(decoded);
}

inline py::list texts(const std::vector<std::string>& values) {
  py::list list;
  for (const std::string& value : values) list.append(text(value));
  return list;
}

// Makes the current module raise OSError, with errno and path, if the system fails to read a capture file.
void translate_unreadable();

py::dict to_python(const capture::Stops& stops);
py::list to_python(const std::vector<capture::Module>& modules);
// The tables without the stacks.
py::dict to_python(const capture::Capture& capture);

}  // namespace framedex::bindings
