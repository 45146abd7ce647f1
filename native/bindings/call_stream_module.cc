// framedex_native._call_stream: Python bindings of the analyses over a capture's stream of calls.
//
// Indexers use the stream (call_stream.cc). Tests and benchmarks use its parts, with calls that they supply.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "bindings/call_stream.h"
#include "call_stream/call_columns.h"
#include "call_stream/causal_links.h"
#include "call_stream/lifetimes.h"

namespace py = pybind11;
namespace call_stream = framedex::call_stream;
namespace capture = framedex::capture;

namespace {

using call_stream::CallColumns;
using call_stream::CausalLinks;
using call_stream::Lifetimes;
using call_stream::LinkEvidence;
using call_stream::ObjectTable;
using call_stream::RecordedCall;
using call_stream::Role;
using call_stream::ViolationKind;

// A name in framedex.programs.objects, with its C++ counterpart.
template <typename Known>
using Word = std::pair<const char*, Known>;

constexpr Word<Role> kRoles[] = {{"creates", Role::kCreates},
                                 {"names", Role::kNames},
                                 {"uses", Role::kUses},
                                 {"deletes", Role::kDeletes},
                                 {"destroys", Role::kDestroys}};
constexpr Word<ViolationKind> kViolations[] = {
    {"use-after-destroy", ViolationKind::kUseAfterDestroy}, {"double-destroy", ViolationKind::kDoubleDestroy},
    {"unknown-destroy", ViolationKind::kUnknownDestroy},    {"foreign-destroy", ViolationKind::kForeignDestroy},
    {"use-after-delete", ViolationKind::kUseAfterDelete},   {"destroyed-in-use", ViolationKind::kDestroyedInUse},
    {"use-after-client", ViolationKind::kUseAfterClient}};
constexpr Word<LinkEvidence> kHow[] = {{"handed-over", LinkEvidence::kHandedOver},
                                       {"between", LinkEvidence::kBetween},
                                       {"candidates", LinkEvidence::kCandidates}};

Role role_named(const std::string& name) {
  for (const auto& [word, role] : kRoles) {
    if (word == name) return role;
  }
  throw py::value_error("Unknown role of an object: \"" + name + "\".");
}

// An object field: name, type, role, whether it is a list.
using Field = std::tuple<std::string, std::string, std::string, bool>;

std::vector<call_stream::ObjectField> to_fields(const std::vector<Field>& fields, ObjectTable* table) {
  std::vector<call_stream::ObjectField> found;
  for (const auto& [name, type, role, is_list] : fields) {
    found.push_back({name, table->type(type), role_named(role), is_list});
  }
  return found;
}

void add_function(ObjectTable& table, const std::string& name, const std::vector<Field>& inputs,
                  const std::vector<Field>& results, bool reads, const std::vector<std::string>& sized,
                  bool takes_callback, const std::string& identifies, const std::string& tells_deleted) {
  call_stream::BoundaryFunction function;
  function.inputs = to_fields(inputs, &table);
  function.results = to_fields(results, &table);
  function.reads = reads;
  for (const std::string& type : sized) function.sized.push_back(table.type(type));
  function.takes_callback = takes_callback;
  function.identifies = identifies;
  function.tells_deleted = tells_deleted;
  table.add(name, std::move(function));
}

// Returns an array that owns the column.
template <typename Number>
py::array column(std::vector<Number>&& values) {
  auto kept = std::make_unique<std::vector<Number>>(std::move(values));
  const Number* data = kept->data();
  auto size = static_cast<py::ssize_t>(kept->size());
  py::capsule owner(kept.release(), [](void* owned) { delete static_cast<std::vector<Number>*>(owned); });
  return py::array_t<Number>(size, data, owner);
}

template <typename Known, size_t kCount>
py::list words(const std::vector<Known>& values, const Word<Known> (&known)[kCount]) {
  py::list found;
  for (Known value : values) {
    for (const auto& [word, meaning] : known) {
      if (meaning == value) found.append(word);
    }
  }
  return found;
}

py::dict take_objects(Lifetimes& lifetimes) {
  call_stream::ObjectRows rows = lifetimes.take_objects();
  py::dict columns;
  columns["object"] = column(std::move(rows.object));
  columns["type"] = column(std::move(rows.type));
  columns["number"] = column(std::move(rows.number));
  columns["address"] = column(std::move(rows.address));
  columns["born"] = column(std::move(rows.born));
  columns["created_call"] = column(std::move(rows.created_call));
  columns["first_call"] = column(std::move(rows.first_call));
  columns["last_call"] = column(std::move(rows.last_call));
  columns["uses"] = column(std::move(rows.uses));
  columns["destroyed_call"] = column(std::move(rows.destroyed_call));
  columns["deleted_call"] = column(std::move(rows.deleted_call));
  columns["owner"] = column(std::move(rows.owner));
  columns["size"] = column(std::move(rows.size));
  columns["is_foreign"] = column(std::move(rows.is_foreign));
  return columns;
}

py::dict take_violations(Lifetimes& lifetimes) {
  call_stream::ViolationRows rows = lifetimes.take_violations();
  py::dict columns;
  columns["kind"] = words(rows.kind, kViolations);
  columns["object"] = column(std::move(rows.object));
  columns["call"] = column(std::move(rows.call));
  columns["earlier_call"] = column(std::move(rows.earlier_call));
  return columns;
}

py::dict take_numbers(Lifetimes& lifetimes) {
  call_stream::NumberRows rows = lifetimes.take_numbers();
  py::dict columns;
  columns["object"] = column(std::move(rows.object));
  columns["number"] = column(std::move(rows.number));
  return columns;
}

py::dict take_links(CausalLinks& links) {
  call_stream::LinkRows rows = links.take_links();
  py::dict columns;
  columns["call"] = column(std::move(rows.call));
  columns["thread"] = column(std::move(rows.thread));
  columns["chain"] = column(std::move(rows.chain));
  columns["how"] = words(rows.how, kHow);
  return columns;
}

// The frames and stacks of a capture, reduced to the data that links need.
struct StackTables {
  std::vector<capture::Stack> stacks;
  std::vector<capture::Frame> frames;

  void add_frame(bool is_python) {
    auto language = is_python ? capture::FrameLanguage::kPython : capture::FrameLanguage::kNative;
    frames.push_back({language, 0, 0, 0, false});
  }
  void add_stack(std::vector<uint32_t> chain, std::vector<uint32_t> python, const std::string& outcome, bool is_cut) {
    auto is_missing = [this](uint32_t frame) { return frame >= frames.size(); };
    for (const auto* part : {&chain, &python}) {
      if (std::any_of(part->begin(), part->end(), is_missing)) throw py::index_error("A stack has unknown frames.");
    }
    stacks.push_back({outcome, is_cut, std::move(chain), std::move(python)});
  }
};

// Processes the calls from row `begin` up to row `end`.
template <typename Follower>
void add_calls(Follower& follower, const CallColumns& calls, size_t begin, size_t end) {
  py::gil_scoped_release release;
  for (size_t row = begin; row < std::min(end, calls.size()); ++row) follower.add(calls.at(row));
}

template <typename Follower>
void returned(Follower& follower, const CallColumns& calls, size_t row) {
  follower.returned(calls.at(row));
}

void add_call(CallColumns& calls, uint32_t thread, uint32_t function, uint32_t stack, int64_t start, int64_t duration,
              int32_t error, std::string_view values, std::string_view results) {
  calls.add({0, thread, function, stack, start, duration, error, 0, false, 0}, values, results);
}

}  // namespace

PYBIND11_MODULE(_call_stream, module) {
  module.doc() = "Analyses of a capture's calls, computed while the calls stream by.";
  module.attr("NONE") = call_stream::kNone;
  py::class_<ObjectTable>(module, "ObjectTable")
      .def(py::init<>())
      .def("add_function", &add_function, py::arg("name"), py::arg("inputs"), py::arg("results"), py::arg("reads"),
           py::arg("sized"), py::arg("takes_callback"), py::arg("identifies"), py::arg("tells_deleted"))
      .def_property_readonly("types", &ObjectTable::types);
  framedex::bindings::define_call_stream(module);
  py::class_<CallColumns>(module, "CallColumns")
      .def(py::init<>())
      .def("__len__", &CallColumns::size)
      .def("add", &add_call, py::arg("thread"), py::arg("function"), py::arg("stack"), py::arg("start"),
           py::arg("duration"), py::arg("error"), py::arg("values"), py::arg("results"))
      .def("finish", &CallColumns::finish);
  py::class_<Lifetimes>(module, "Lifetimes")
      .def(py::init<const ObjectTable&>(), py::arg("table"))
      .def("add_function", &Lifetimes::add_function, py::arg("name"), py::arg("value_names"))
      .def("add", &add_calls<Lifetimes>, py::arg("calls"), py::arg("begin"), py::arg("end"))
      .def("returned", &returned<Lifetimes>, py::arg("calls"), py::arg("row"))
      .def("finish", &Lifetimes::finish)
      .def("take_objects", &take_objects)
      .def("take_violations", &take_violations)
      .def("take_numbers", &take_numbers);
  py::class_<StackTables>(module, "StackTables")
      .def(py::init<>())
      .def("add_frame", &StackTables::add_frame, py::arg("is_python"))
      .def("add_stack", &StackTables::add_stack, py::arg("frames"), py::arg("python"), py::arg("outcome"),
           py::arg("is_truncated"));
  py::class_<CausalLinks>(module, "CausalLinks")
      .def(py::init([](const ObjectTable& table, const StackTables& tables, bool lacks_calls) {
             return std::make_unique<CausalLinks>(table, tables.stacks, tables.frames, lacks_calls);
           }),
           py::arg("table"), py::arg("stacks"), py::arg("lacks_calls"), py::keep_alive<1, 3>())
      .def("add_function", &CausalLinks::add_function, py::arg("name"), py::arg("value_names"))
      .def("add_python_thread", &CausalLinks::add_python_thread, py::arg("thread"))
      .def("add", &add_calls<CausalLinks>, py::arg("calls"), py::arg("begin"), py::arg("end"))
      .def("returned", &returned<CausalLinks>, py::arg("calls"), py::arg("row"))
      .def("finish", &CausalLinks::finish)
      .def("take_links", &take_links)
      .def_property_readonly("chains", &CausalLinks::chains);
}
