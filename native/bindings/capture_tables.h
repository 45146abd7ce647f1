// What a capture holds but for its calls, for Python.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <string>
#include <vector>

#include "capture_reader/capture_reader.h"

namespace framedex::bindings {

namespace py = pybind11;

// Names and paths on Linux are bytes; what is not UTF-8 becomes surrogates, as everywhere in Python.
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

// Makes the module that is being defined raise OSError, with its errno and the path, where the system failed to read a
// file of a capture.
void translate_unreadable();

py::dict to_python(const capture::Stops& stops);
py::list to_python(const std::vector<capture::Module>& modules);
py::dict to_python(const capture::Capture& capture);

}  // namespace framedex::bindings
