// framedex_native._scanner: the lines of a log that something may be found on, for Python.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <string>
#include <string_view>

#include "line_scanner/line_scanner.h"

namespace py = pybind11;
namespace line_scanner = framedex::line_scanner;

namespace {

py::tuple words_of(std::string_view text, const line_scanner::Line& line) {
  py::tuple words(line.words.size());
  for (size_t i = 0; i < line.words.size(); ++i) {
    words[i] = py::bytes(text.data() + line.words[i].begin, line.words[i].end - line.words[i].begin);
  }
  return words;
}

// Gives each line as (begin, stop, end, words, answer). `stop` is before its line break. `words` is None where they do
// not decide, and so is `answer`, which is what `answers` holds for the words. Lines whose answer is empty are left
// out.
py::list scan(const line_scanner::LineScanner& scanner, const py::bytes& content, const py::dict& answers) {
  const std::string_view text = content;
  py::list found;
  for (const line_scanner::Line& line : scanner.scan(text)) {
    py::object words = py::none();
    PyObject* answer = Py_None;
    if (line.decided_by_words) {
      words = words_of(text, line);
      PyObject* known = PyDict_GetItemWithError(answers.ptr(), words.ptr());
      if (known == nullptr && PyErr_Occurred() != nullptr) throw py::error_already_set();
      if (known != nullptr && PyObject_Length(known) == 0) continue;
      if (known != nullptr) answer = known;
    }
    found.append(py::make_tuple(line.range.begin, line.stop, line.range.end, words, py::handle(answer)));
  }
  return found;
}

}  // namespace

PYBIND11_MODULE(_scanner, module) {
  module.doc() = "The lines of a log that something may be found on.";
  py::class_<line_scanner::LineScanner>(module, "LineScanner")
      .def(py::init<const std::vector<std::string>&, const std::vector<std::string>&>(), py::arg("needles"),
           py::arg("word_needles"))
      .def("scan", &scan, py::arg("text"), py::arg("answers"));
}
