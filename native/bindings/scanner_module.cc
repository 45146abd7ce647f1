// framedex_native._scanner: Python bindings of the log scanner and the line memory.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "line_scanner/line_form.h"
#include "line_scanner/line_memory.h"
#include "line_scanner/line_scanner.h"

namespace py = pybind11;
namespace line_scanner = framedex::line_scanner;

namespace {

using Columns = std::vector<std::pair<size_t, size_t>>;

py::tuple words_of(std::string_view text, const std::vector<line_scanner::Range>& ranges) {
  py::tuple words(ranges.size());
  for (size_t i = 0; i < ranges.size(); ++i) {
    words[i] = py::bytes(text.data() + ranges[i].begin, ranges[i].end - ranges[i].begin);
  }
  return words;
}

// Returns each line as (begin, stop, end, words). `stop` is before its line break; `words` is None if words do not
// decide the line.
py::list scan(const line_scanner::LineScanner& scanner, const py::bytes& content) {
  const std::string_view text = content;
  py::list found;
  for (const line_scanner::Line& line : scanner.scan(text)) {
    py::object words = line.decided_by_words ? py::object(words_of(text, line.words)) : py::none();
    found.append(py::make_tuple(line.range.begin, line.stop, line.range.end, words));
  }
  return found;
}

bool holds(const line_scanner::LineScanner& scanner, const py::bytes& line) {
  return scanner.next(std::string_view(line), 0).has_value();
}

// Returns the annotated text and the unknown line as (begin, stop, end, words, has_outcome, is_worth_keeping), or None
// at the end of the text.
py::tuple follow(line_scanner::LineMemory& memory, const py::bytes& content, size_t position, size_t shown,
                 const py::dict& answers) {
  const std::string_view text = content;
  const auto note_of_words = [&](const line_scanner::Line& line) -> std::optional<std::string_view> {
    const py::tuple words = words_of(text, line.words);
    PyObject* known = PyDict_GetItemWithError(answers.ptr(), words.ptr());
    if (known == nullptr && PyErr_Occurred() != nullptr) throw py::error_already_set();
    if (known == nullptr) return std::nullopt;
    return std::string_view(py::reinterpret_borrow<py::bytes>(known));
  };
  std::string noted;
  noted.reserve(text.size() - shown + text.size() / 8);  // most of the text, and some notes
  const std::optional<line_scanner::UnknownLine> unknown = memory.follow(text, position, shown, note_of_words, noted);
  if (!unknown) return py::make_tuple(py::bytes(noted), py::none());
  py::object words = unknown->decided_by_words ? py::object(words_of(text, unknown->words)) : py::none();
  return py::make_tuple(py::bytes(noted), py::make_tuple(unknown->range.begin, unknown->stop, unknown->range.end, words,
                                                         unknown->has_outcome, unknown->is_worth_keeping));
}

std::vector<line_scanner::Range> ranges(const Columns& columns) {
  std::vector<line_scanner::Range> found;
  found.reserve(columns.size());
  for (const auto& [begin, end] : columns) found.push_back({begin, end});
  return found;
}

void keep(line_scanner::LineMemory& memory, line_scanner::Situation before, const py::bytes& line, bool by_form,
          line_scanner::Situation next, bool has_frame, const Columns& counted, const Columns& names,
          const Columns& paths, bool depends_on_frame) {
  memory.keep(before, std::string_view(line), by_form,
              {next, has_frame, ranges(counted), ranges(names), ranges(paths), depends_on_frame});
}

py::object followed_frame(const line_scanner::LineMemory& memory) {
  const std::optional<line_scanner::FollowedFrame>& frame = memory.followed_frame();
  if (!frame) return py::none();
  return py::make_tuple(frame->before, frame->number, py::bytes(frame->line));
}

}  // namespace

PYBIND11_MODULE(_scanner, module) {
  module.doc() = "Finds the log lines that may belong to a stack, and caches their parsed outcomes.";
  py::class_<line_scanner::LineScanner>(module, "LineScanner")
      .def(py::init<const std::vector<std::string>&, const std::vector<std::string>&>(), py::arg("needles"),
           py::arg("word_needles"))
      .def("scan", &scan, py::arg("text"))
      .def("holds", &holds, py::arg("line"));
  py::class_<line_scanner::LineMemory>(module, "LineMemory")
      .def(py::init<const line_scanner::LineScanner&>(), py::arg("scanner"), py::keep_alive<1, 2>())
      .def("add_situation", &line_scanner::LineMemory::add_situation, py::arg("is_open"))
      .def("follow", &follow, py::arg("text"), py::arg("position"), py::arg("shown"), py::arg("answers"))
      .def_property_readonly("situation", &line_scanner::LineMemory::situation)
      .def_property_readonly("number", &line_scanner::LineMemory::number)
      .def_property_readonly("followed_frame", &followed_frame)
      .def("read", &line_scanner::LineMemory::read, py::arg("next"), py::arg("number"))
      .def("keep", &keep, py::arg("before"), py::arg("line"), py::arg("by_form"), py::arg("next"), py::arg("has_frame"),
           py::arg("counted"), py::arg("names"), py::arg("paths"), py::arg("depends_on_frame") = false)
      .def(
          "read_frame",
          [](line_scanner::LineMemory& memory, line_scanner::Situation before, const py::bytes& line) {
            memory.read_frame(before, std::string_view(line));
          },
          py::arg("before"), py::arg("line"))
      .def(
          "keep_note",
          [](line_scanner::LineMemory& memory, line_scanner::Situation before, const py::bytes& line,
             const py::bytes& note) { memory.keep_note(before, std::string_view(line), std::string(note)); },
          py::arg("before"), py::arg("line"), py::arg("note"))
      .def(
          "add_missing_path",
          [](line_scanner::LineMemory& memory, const py::bytes& path) { memory.add_missing_path(std::string(path)); },
          py::arg("path"))
      .def("set_known_names", &line_scanner::LineMemory::set_known_names, py::arg("texts"))
      .def_property_readonly("names_seen", &line_scanner::LineMemory::names_seen)
      .def("clear", &line_scanner::LineMemory::clear)
      .def_property_readonly("weight", &line_scanner::LineMemory::weight);
  module.def(
      "sibling_of", [](const py::bytes& line) { return py::bytes(line_scanner::sibling_of(std::string_view(line))); },
      py::arg("line"));
}
