// framedex_native._native: the recorder and the capture decoder, for Python.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstring>

#include "capture_reader/capture_reader.h"
#include "recorder/process/modules.h"
#include "recorder/recorder.h"

namespace py = pybind11;
namespace capture = framedex::capture;
namespace recorder = framedex::recorder;

namespace {

// Names and paths on Linux are bytes; what is not UTF-8 becomes surrogates, as everywhere in Python.
py::str text(const std::string& bytes) {
  PyObject* decoded = PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "surrogateescape");
  if (decoded == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::str>(decoded);
}

template <typename Number>
py::array_t<Number> column(const std::vector<Number>& values) {
  return py::array_t<Number>(static_cast<py::ssize_t>(values.size()), values.data());
}

py::list texts(const std::vector<std::string>& values) {
  py::list list;
  for (const std::string& value : values) list.append(text(value));
  return list;
}

py::dict to_python(const capture::Stops& stops) {
  py::dict result;
  result["reasons"] = stops.reasons;
  result["missing_calls"] = stops.missing_calls;
  result["threads"] = stops.threads;
  return result;
}

py::dict calls_to_python(const capture::Calls& calls) {
  py::dict columns;
  columns["thread"] = column(calls.thread);
  columns["function"] = column(calls.function);
  columns["stack"] = column(calls.stack);
  columns["start"] = column(calls.start);
  columns["duration"] = column(calls.duration);
  columns["error"] = column(calls.error);
  columns["arguments"] = texts(calls.arguments);
  return columns;
}

py::list modules_to_python(const std::vector<capture::Module>& modules) {
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
  py::list codes, frames, stacks, functions, threads;
  for (const capture::Code& code : capture.codes) {
    codes.append(py::make_tuple(text(code.filename), text(code.qualname), code.first_line, py::bytes(code.line_table)));
  }
  for (const capture::Frame& frame : capture.frames) {
    frames.append(py::make_tuple(frame.language == capture::FrameLanguage::kPython, frame.owner, frame.offset,
                                 frame.line, frame.is_returning));
  }
  for (const capture::Stack& stack : capture.stacks) {
    stacks.append(py::make_tuple(py::tuple(py::cast(stack.frames)), py::tuple(py::cast(stack.python)),
                                 text(stack.outcome), stack.is_truncated));
  }
  for (const auto& [boundary, name] : capture.functions) functions.append(py::make_tuple(text(boundary), text(name)));
  for (const capture::Thread& thread : capture.threads) threads.append(py::make_tuple(thread.id, text(thread.name)));
  py::dict result;
  result["modules"] = modules_to_python(capture.modules);
  result["codes"] = codes;
  result["frames"] = frames;
  result["stacks"] = stacks;
  result["functions"] = functions;
  result["threads"] = threads;
  result["calls"] = calls_to_python(capture.calls);
  py::list descriptions;
  for (const auto& [kind, json] : capture.descriptions) descriptions.append(py::make_tuple(text(kind), text(json)));
  result["descriptions"] = descriptions;
  result["stops"] = to_python(capture.stops);
  result["problems"] = texts(capture.problems);
  return result;
}

py::dict count_records(const std::string& folder) {
  capture::RecordCounts counts = capture::count_records(folder);
  py::dict result;
  result["threads"] = counts.threads;
  result["calls"] = counts.calls;
  result["stacks"] = counts.stacks;
  result["verified"] = counts.verified;
  result["different"] = counts.different;
  result["stopped"] = (counts.stops.reasons & static_cast<uint32_t>(capture::StopReason::kStopped)) != 0;
  result["stops"] = to_python(counts.stops);
  return result;
}

py::dict read_capture(const std::string& folder) {
  capture::Capture decoded;
  {
    py::gil_scoped_release release;
    decoded = capture::read_capture(folder);
  }
  return to_python(decoded);
}

}  // namespace

PYBIND11_MODULE(_native, module) {
  module.doc() = "The recorder and the capture decoder. Use them through framedex_native and framedex.captures.";
  module.attr("METADATA_FILE") = capture::kMetadataFile;
  module.attr("FORMAT") = capture::kFormat;
  module.attr("FORMAT_VERSIONS") =
      py::make_tuple(capture::version_1::kVersion, capture::version_2::kVersion, capture::kVersion);
  module.attr("PROCESS_STREAM") = capture::kProcessStream;
  module.attr("STREAM_SUFFIX") = capture::kStreamSuffix;
  module.attr("RING_SUFFIX") = capture::kRingSuffix;
  module.attr("STREAM_HEADER_SIZE") = sizeof(capture::StreamHeader);
  module.attr("SEGMENT_SIZE") = capture::kSegmentSize;
  module.attr("MAGIC") = py::bytes(capture::kMagic, sizeof(capture::kMagic));
  py::dict reasons;
  reasons["disk_full"] = static_cast<uint32_t>(capture::StopReason::kDiskFull);
  reasons["limit"] = static_cast<uint32_t>(capture::StopReason::kLimit);
  reasons["no_file"] = static_cast<uint32_t>(capture::StopReason::kNoFile);
  reasons["thread_missing"] = static_cast<uint32_t>(capture::StopReason::kThreadMissing);
  module.attr("STOP_REASONS") = reasons;
  module.def("start", [](const std::string& captures) { return text(recorder::start(captures)); }, py::arg("captures"));
  module.def("stop", [] { return text(recorder::stop()); });
  module.def("current_capture", [] { return text(recorder::current_capture()); });
  module.def("read_capture", &read_capture, py::arg("folder"));
  module.def(
      "read_modules", [](const std::string& folder) { return modules_to_python(capture::read_modules(folder)); },
      py::arg("folder"));
  module.def("count_records", &count_records, py::arg("folder"));
  module.def("fingerprint", &recorder::fingerprint, py::arg("path"));
}
