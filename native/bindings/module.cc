// framedex_native._native: the recorder and the capture decoder, for Python.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstring>

#include "call_stream/call_stream.h"
#include "capture_reader/capture_reader.h"
#include "recorder/process/modules.h"
#include "recorder/recorder.h"
#include "sqlite_image/sqlite_image.h"

namespace py = pybind11;
namespace call_stream = framedex::call_stream;
namespace capture = framedex::capture;
namespace recorder = framedex::recorder;
namespace sqlite_image = framedex::sqlite_image;

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

py::array_t<int64_t> rows(const std::vector<int64_t>& values, py::ssize_t width) {
  return column(values).reshape({static_cast<py::ssize_t>(values.size()) / width, width});
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

py::list kinds_to_python(const std::vector<call_stream::CallKind>& kinds) {
  py::list list;
  for (const auto& kind : kinds) list.append(py::make_tuple(kind.function, kind.thread, kind.stack, kind.error));
  return list;
}

py::dict to_python(const call_stream::KindTotals& totals) {
  py::dict columns;
  columns["kind"] = column(totals.kind);
  columns["calls"] = column(totals.calls);
  columns["duration"] = column(totals.duration);
  columns["own_duration"] = column(totals.own_duration);
  columns["longest"] = column(totals.longest);
  columns["longest_call"] = column(totals.longest_call);
  columns["first_call"] = column(totals.first_call);
  columns["latest_call"] = column(totals.latest_call);
  return columns;
}

py::dict next_calls(call_stream::CallStream& stream, uint64_t most, int64_t until) {
  call_stream::Batch batch;
  {
    py::gil_scoped_release release;
    batch = stream.next(most, until);
  }
  py::dict result;
  result["first"] = batch.first;
  result["kinds"] = kinds_to_python(batch.kinds);
  result["arguments"] = texts(batch.arguments);
  result["kind"] = column(batch.kind);
  result["inside"] = column(batch.inside);
  result["start"] = column(batch.start);
  result["duration"] = column(batch.duration);
  result["argument"] = column(batch.argument);
  result["totals"] = to_python(batch.totals);
  result["samples"] = rows(batch.samples, 2);
  result["spans"] = rows(batch.spans, 3);
  result["durations"] = rows(batch.durations, 4);
  result["changed"] = rows(batch.changed, 4);
  return result;
}

py::bytes table_image(const std::vector<py::array_t<int64_t, py::array::c_style | py::array::forcecast>>& columns) {
  if (columns.empty() || columns.size() > 64) throw py::value_error("A table has 1 to 64 columns.");
  auto size = static_cast<size_t>(columns.front().size());
  std::vector<sqlite_image::Column> values;
  for (const auto& column : columns) {
    if (static_cast<size_t>(column.size()) != size) throw py::value_error("The columns are of different lengths.");
    values.push_back({column.data()});
  }
  std::string image;
  {
    py::gil_scoped_release release;
    image = sqlite_image::image_of(values, size);
  }
  return py::bytes(image);
}

std::unique_ptr<call_stream::CallStream> open_stream(const std::string& folder, int64_t began, uint64_t first_id,
                                                     bool is_followed) {
  py::gil_scoped_release release;
  return std::make_unique<call_stream::CallStream>(folder, began, first_id, is_followed);
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
  py::class_<call_stream::CallStream>(module, "CallStream")
      .def(py::init(&open_stream), py::arg("folder"), py::arg("began"), py::arg("first_id"),
           py::arg("is_followed") = false)
      .def("definitions",
           [](const call_stream::CallStream& stream) { return to_python(stream.definitions().capture()); })
      .def("next", &next_calls, py::arg("most"), py::arg("until") = call_stream::kAlways)
      .def("extend", &call_stream::CallStream::extend, py::call_guard<py::gil_scoped_release>())
      .def_property_readonly("calls",
                             [](const call_stream::CallStream& stream) { return stream.definitions().calls(); })
      .def_property_readonly("damaged", &call_stream::CallStream::damaged);
  module.def(
      "read_modules",
      [](const std::string& folder) { return modules_to_python(capture::Definitions::modules(folder)); },
      py::arg("folder"));
  module.attr("NULL") = sqlite_image::kNull;
  module.def("table_image", &table_image, py::arg("columns"));
  module.def("count_records", &count_records, py::arg("folder"));
  module.def("fingerprint", &recorder::fingerprint, py::arg("path"));
}
