// framedex_native._extractor: Python bindings of the extraction of definitions and calls from source files.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "extractor/extraction_run.h"
#include "extractor/preprocessing/scrub.h"
#include "extractor/statements.h"

namespace py = pybind11;
namespace extractor = framedex::extractor;

namespace {

// Replaces bytes of names that are not UTF-8; the file's problems report them.
py::str text(const std::string& bytes) {
  PyObject* decoded = PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "replace");
  if (decoded == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::str>(decoded);
}

py::object text_or_none(const std::string& bytes, bool is_there) {
  return is_there ? text(bytes) : py::object(py::none());
}

const TSLanguage* language_in(const py::capsule& capsule) {
  if (std::string(capsule.name() ? capsule.name() : "") != "tree_sitter.Language") {
    throw py::type_error("a tree-sitter language is expected");
  }
  return capsule.get_pointer<const TSLanguage>();
}

py::tuple to_python(const extractor::FinishedFile& finished) {
  const extractor::ExtractedFile& file = finished.file;
  py::list definitions(file.definitions.size());
  for (size_t i = 0; i < file.definitions.size(); ++i) {
    const extractor::Definition& found = file.definitions[i];
    definitions[i] =
        py::make_tuple(text(found.name), text(found.lookup), found.kind,
                       text_or_none(found.parameters, found.has_parameters), found.line, found.end_line, found.is_const,
                       found.is_broken, text_or_none(finished.sites[i], !finished.sites[i].empty()));
  }
  py::list problems;
  for (const std::string& problem : file.problems) problems.append(text(problem));
  return py::make_tuple(finished.index, file.modified, file.size, static_cast<int64_t>(file.content), file.errors,
                        definitions, problems);
}

class Run {
 public:
  Run(std::shared_ptr<const extractor::Languages> languages, std::shared_ptr<const extractor::MacroTable> macros,
      std::vector<extractor::Request> requests, unsigned threads)
      : run_(std::make_unique<extractor::ExtractionRun>(std::move(languages), std::move(macros), std::move(requests),
                                                        threads)) {}
  // NOLINTNEXTLINE(bugprone-exception-escape): pybind11's functions are not marked noexcept, but do not throw here.
  ~Run() {
    py::gil_scoped_release release;
    run_.reset();
  }

  py::tuple next() {
    std::optional<extractor::FinishedFile> file;
    while (!file) {
      if (run_->is_done()) throw py::stop_iteration();
      {
        py::gil_scoped_release release;
        file = run_->next(std::chrono::milliseconds(100));
      }
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    }
    return to_python(*file);
  }

 private:
  std::unique_ptr<extractor::ExtractionRun> run_;
};

class Extractor {
 public:
  Extractor(const py::capsule& cpp, const py::capsule& python)
      : languages_(std::make_shared<extractor::Languages>(language_in(cpp), language_in(python))) {}

  std::unique_ptr<Run> run(const std::vector<std::pair<std::string, int>>& files, const std::string& macros,
                           unsigned threads) const {
    std::vector<extractor::Request> requests;
    for (const auto& [path, language] : files) requests.push_back({path, static_cast<extractor::Language>(language)});
    auto table = std::make_shared<extractor::MacroTable>(extractor::MacroTable::parse(macros));
    return std::make_unique<Run>(languages_, std::move(table), std::move(requests), threads);
  }

  std::vector<extractor::StatementLines> statements(const std::string& source, int language,
                                                    const std::string& macros) const {
    const py::gil_scoped_release release;
    return extractor::long_statements(*languages_, source, static_cast<extractor::Language>(language),
                                      extractor::MacroTable::parse(macros));
  }

 private:
  std::shared_ptr<const extractor::Languages> languages_;
};

}  // namespace

PYBIND11_MODULE(_extractor, module) {
  module.doc() = "Definitions and calls of source files. Use it through framedex.sources.";
  module.attr("CPP") = static_cast<int>(extractor::Language::kCpp);
  module.attr("PYTHON") = static_cast<int>(extractor::Language::kPython);
  module.attr("PROTO") = static_cast<int>(extractor::Language::kProto);
  module.attr("TABLEGEN") = static_cast<int>(extractor::Language::kTableGen);
  py::class_<Run>(module, "Run").def("__iter__", [](py::object self) { return self; }).def("__next__", &Run::next);
  py::class_<Extractor>(module, "Extractor")
      .def(py::init<const py::capsule&, const py::capsule&>(), py::arg("cpp"), py::arg("python"))
      .def("run", &Extractor::run, py::arg("files"), py::arg("macros"), py::arg("threads"))
      .def("statements", &Extractor::statements, py::arg("source"), py::arg("language"), py::arg("macros"));
  module.def(
      "scrub",
      [](const std::string& source, const std::string& macros) {
        return py::bytes(extractor::scrub(source, extractor::MacroTable::parse(macros)).text);
      },
      py::arg("source"), py::arg("macros") = "");
  module.def(
      "learn_macros",
      [](const std::vector<std::string>& paths, unsigned threads) {
        std::string learnt;
        {
          py::gil_scoped_release release;
          learnt = extractor::learn_macros(paths, threads).serialize();
        }
        return text(learnt);
      },
      py::arg("paths"), py::arg("threads"));
}
