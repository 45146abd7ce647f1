#include "bindings/capture_tables.h"

#include <cerrno>
#include <exception>

#include "capture_reader/stored_file.h"

namespace framedex::bindings {

void translate_unreadable() {
  // pybind11 passes it by value.
  // NOLINTNEXTLINE(performance-unnecessary-value-param)
  py::register_local_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const capture::UnreadableError& error) {
      errno = error.code().value();
      PyErr_SetFromErrnoWithFilenameObject(PyExc_OSError, text(error.path()).ptr());
    }
  });
}

py::dict to_python(const capture::Stops& stops) {
  py::dict result;
  result["reasons"] = stops.reasons;
  result["missing_calls"] = stops.missing_calls;
  result["queries"] = stops.queries;
  result["threads"] = stops.threads;
  return result;
}

py::list to_python(const std::vector<capture::Module>& modules) {
  py::list list;
  for (const capture::Module& module : modules) {
    const capture::FileState& file = module.file;
    list.append(py::make_tuple(text(module.path), module.base, module.size, py::bytes(module.build_id),
                               text(module.fingerprint),
                               py::make_tuple(file.size, file.inode, file.modified_ns, file.changed_ns)));
  }
  return list;
}

py::dict to_python(const capture::Capture& capture) {
  py::list codes, frames, functions, threads;
  for (const capture::Code& code : capture.codes) {
    codes.append(py::make_tuple(text(code.filename), text(code.qualname), code.first_line, py::bytes(code.line_table)));
  }
  for (const capture::Frame& frame : capture.frames) {
    frames.append(py::make_tuple(frame.language == capture::FrameLanguage::kPython, frame.owner, frame.offset,
                                 frame.line, frame.is_returning));
  }
  for (const auto& [boundary, name] : capture.functions) functions.append(py::make_tuple(text(boundary), text(name)));
  for (const capture::Thread& thread : capture.threads) threads.append(py::make_tuple(thread.id, text(thread.name)));
  py::dict result;
  result["modules"] = to_python(capture.modules);
  result["codes"] = codes;
  result["frames"] = frames;
  result["functions"] = functions;
  result["threads"] = threads;
  py::list descriptions;
  for (const auto& [kind, json] : capture.descriptions) descriptions.append(py::make_tuple(text(kind), text(json)));
  result["descriptions"] = descriptions;
  result["stops"] = to_python(capture.stops);
  result["problems"] = texts(capture.problems);
  return result;
}

}  // namespace framedex::bindings
