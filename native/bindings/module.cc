// framedex_native._native: Python bindings of the recorder, and of a capture's tables without calls.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "bindings/capture_tables.h"
#include "capture_reader/definitions.h"
#include "capture_reader/open_calls.h"
#include "recorder/format/content_name.h"
#include "recorder/process/modules.h"
#include "recorder/recorder.h"

namespace py = pybind11;
namespace capture = framedex::capture;
namespace recorder = framedex::recorder;

namespace {

using framedex::bindings::text;
using framedex::bindings::to_python;

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

// As in framedex.captures.open_calls.OpenFrame.
py::tuple to_python(const capture::Frame& frame, const capture::Capture& found) {
  bool is_python = frame.language == capture::FrameLanguage::kPython;
  if (is_python) {
    const capture::Code& code = found.codes[static_cast<size_t>(frame.owner)];
    return py::make_tuple("python", text(code.qualname), text(code.filename), frame.line, "", 0);
  }
  std::string module = frame.owner < 0 ? "" : found.modules[static_cast<size_t>(frame.owner)].path;
  return py::make_tuple("native", "", "", 0, text(module), frame.offset);
}

py::tuple to_python(const std::vector<capture::OpenCallRow>& rows, const capture::Capture& found) {
  py::list calls;
  for (const capture::OpenCallRow& call : rows) {
    const capture::Stack& stack = found.stacks[call.stack];
    py::list frames;
    for (uint32_t frame : stack.python.empty() ? stack.frames : stack.python) {
      frames.append(to_python(found.frames[frame], found));
    }
    calls.append(py::make_tuple(text(found.functions[call.function].second), call.sequence, call.since,
                                py::tuple(frames), call.object));
  }
  return calls;
}

py::list read_open_calls(const std::string& folder) {
  capture::CaptureOpenCalls found = capture::read_open_calls(folder);
  py::list threads;
  for (const capture::ThreadOpenCalls& thread : found.threads) {
    threads.append(py::make_tuple(thread.thread.id, text(thread.thread.name), thread.calls, thread.last_record,
                                  to_python(thread.open, found.capture), to_python(thread.pending, found.capture),
                                  thread.signal));
  }
  return threads;
}

py::list read_invocations(const std::string& folder) {
  py::list list;
  for (const capture::Invocation& each : capture::read_invocations(folder)) {
    list.append(py::make_tuple(each.thread, each.time, each.registered_thread, each.registered_sequence, each.error));
  }
  return list;
}

}  // namespace

PYBIND11_MODULE(_native, module) {
  module.doc() = "The recorder and the capture decoder. Use them through framedex_native and framedex.captures.";
  framedex::bindings::translate_unreadable();
  module.attr("METADATA_FILE") = capture::kMetadataFile;
  module.attr("PROGRAMS") = capture::kPrograms;
  module.attr("SOURCES") = capture::kSources;
  module.attr("BUFFERS") = capture::kBuffers;
  module.attr("FORMAT") = capture::kFormat;
  module.attr("FORMAT_VERSIONS") = py::make_tuple(capture::version_1::kVersion, capture::version_2::kVersion,
                                                  capture::version_3::kVersion, capture::kVersion);
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
  module.def(
      "read_modules", [](const std::string& folder) { return to_python(capture::Definitions::read_modules(folder)); },
      py::arg("folder"));
  module.def("was_stopped", &capture::was_stopped, py::arg("folder"));
  module.def("count_records", &count_records, py::arg("folder"));
  module.def("read_open_calls", &read_open_calls, py::arg("folder"));
  module.def("read_invocations", &read_invocations, py::arg("folder"));
  module.def(
      "content_name", [](const py::bytes& content) { return capture::content_name(std::string_view(content)); },
      py::arg("content"));
  module.def("fingerprint", &recorder::fingerprint, py::arg("path"));
}
