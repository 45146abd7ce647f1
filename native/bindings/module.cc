// framedex_native._native: Python bindings of the recorder, and of a capture's tables without calls.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "bindings/capture_tables.h"
#include "capture_reader/definitions.h"
#include "capture_reader/kept_files.h"
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

}  // namespace

PYBIND11_MODULE(_native, module) {
  module.doc() = "The recorder and the capture decoder. Use them through framedex_native and framedex.captures.";
  framedex::bindings::translate_unreadable();
  module.attr("METADATA_FILE") = capture::kMetadataFile;
  module.attr("PROGRAMS") = capture::kPrograms;
  module.attr("SOURCES") = capture::kSources;
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
  module.def(
      "read_modules", [](const std::string& folder) { return to_python(capture::Definitions::modules(folder)); },
      py::arg("folder"));
  module.def("was_stopped", &capture::was_stopped, py::arg("folder"));
  module.def("count_records", &count_records, py::arg("folder"));
  module.def(
      "is_kept_content",
      [](const std::string& name, const py::bytes& content) {
        return capture::is_kept_content(name, std::string_view(content));
      },
      py::arg("name"), py::arg("content"));
  module.def("fingerprint", &recorder::fingerprint, py::arg("path"));
}
