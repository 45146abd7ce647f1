#include "bindings/call_stream.h"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bindings/capture_tables.h"
#include "call_stream/call_stream.h"
#include "sqlite_image/sqlite_image.h"

namespace framedex::bindings {
namespace {

// Returns an array that owns the column.
py::array column(std::vector<int64_t>&& values) {
  auto kept = std::make_unique<std::vector<int64_t>>(std::move(values));
  const int64_t* data = kept->data();
  auto size = static_cast<py::ssize_t>(kept->size());
  py::capsule owner(kept.release(), [](void* owned) { delete static_cast<std::vector<int64_t>*>(owned); });
  return py::array_t<int64_t>(size, data, owner);
}

py::array rows(std::vector<int64_t>&& values, py::ssize_t width) {
  auto count = static_cast<py::ssize_t>(values.size()) / width;
  return column(std::move(values)).reshape({count, width});
}

py::list kinds_to_python(const std::vector<call_stream::CallKind>& kinds) {
  py::list list;
  for (const auto& kind : kinds) list.append(py::make_tuple(kind.function, kind.thread, kind.stack, kind.error));
  return list;
}

py::dict to_python(call_stream::KindTotals&& totals) {
  py::dict columns;
  columns["kind"] = column(std::move(totals.kind));
  columns["calls"] = column(std::move(totals.calls));
  columns["duration"] = column(std::move(totals.duration));
  columns["own_duration"] = column(std::move(totals.own_duration));
  columns["longest"] = column(std::move(totals.longest));
  columns["longest_call"] = column(std::move(totals.longest_call));
  columns["first_call"] = column(std::move(totals.first_call));
  columns["latest_call"] = column(std::move(totals.latest_call));
  return columns;
}

template <typename Number>
py::array widen(const std::vector<Number>& values) {
  return column(std::vector<int64_t>(values.begin(), values.end()));
}

// As in framedex.model.ObjectColumns.
py::dict to_python(const call_stream::ObjectRows& rows, uint64_t known) {
  std::vector<int64_t> created_kind;
  for (size_t i = 0; i < rows.object.size(); ++i) {
    bool is_new = rows.object[i] >= known && rows.created_call[i] != call_stream::kNone;
    created_kind.push_back(is_new ? rows.created_kind[i] : call_stream::kNone);
  }
  py::dict columns;
  columns["place"] = widen(rows.object);
  columns["type"] = widen(rows.type);
  columns["number"] = widen(rows.number);
  columns["address"] = widen(rows.address);
  columns["born"] = widen(rows.born);
  columns["created_call"] = widen(rows.created_call);
  columns["first_call"] = widen(rows.first_call);
  columns["last_call"] = widen(rows.last_call);
  columns["deleted_call"] = widen(rows.deleted_call);
  columns["destroyed_call"] = widen(rows.destroyed_call);
  columns["uses"] = widen(rows.uses);
  columns["client"] = widen(rows.owner);
  columns["size"] = widen(rows.size);
  columns["created_kind"] = column(std::move(created_kind));
  return columns;
}

py::array to_python(const call_stream::ViolationRows& found) {
  std::vector<int64_t> values;
  for (size_t i = 0; i < found.kind.size(); ++i) {
    values.insert(values.end(), {static_cast<int64_t>(found.kind[i]), static_cast<int64_t>(found.object[i]),
                                 static_cast<int64_t>(found.call[i]), found.earlier_call[i]});
  }
  return rows(std::move(values), 4);
}

py::array to_python(const call_stream::NumberRows& found) {
  std::vector<int64_t> values;
  for (size_t i = 0; i < found.object.size(); ++i) {
    values.insert(values.end(), {static_cast<int64_t>(found.object[i]), found.number[i]});
  }
  return rows(std::move(values), 2);
}

py::array to_python(const call_stream::LinkRows& found) {
  std::vector<int64_t> values;
  for (size_t i = 0; i < found.call.size(); ++i) {
    values.insert(values.end(), {static_cast<int64_t>(found.call[i]), found.thread[i], found.chain[i],
                                 static_cast<int64_t>(found.how[i])});
  }
  return rows(std::move(values), 4);
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
  result["kind"] = column(std::move(batch.kind));
  result["inside"] = column(std::move(batch.inside));
  result["start"] = column(std::move(batch.start));
  result["duration"] = column(std::move(batch.duration));
  result["argument"] = column(std::move(batch.argument));
  result["totals"] = to_python(std::move(batch.totals));
  result["samples"] = rows(std::move(batch.samples), 2);
  result["spans"] = rows(std::move(batch.spans), 3);
  result["durations"] = rows(std::move(batch.durations), 4);
  result["changed"] = rows(std::move(batch.changed), 4);
  result["objects"] = to_python(batch.objects, batch.known_objects);
  result["violations"] = to_python(batch.violations);
  result["numbers"] = to_python(batch.numbers);
  result["chains"] = py::cast(batch.chains);
  result["links"] = to_python(batch.links);
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

std::unique_ptr<call_stream::CallStream> open_stream(const std::string& folder, int64_t began,
                                                     const call_stream::ObjectTable& table, bool lacks_calls,
                                                     bool is_followed) {
  py::gil_scoped_release release;
  return std::make_unique<call_stream::CallStream>(folder, began, table, lacks_calls, is_followed);
}

}  // namespace

void define_call_stream(py::module_& module) {
  translate_unreadable();
  py::class_<call_stream::CallStream>(module, "CallStream")
      .def(py::init(&open_stream), py::arg("folder"), py::arg("began"), py::arg("table"), py::arg("lacks_calls"),
           py::arg("is_followed") = false)
      .def("definitions",
           [](const call_stream::CallStream& stream) { return to_python(stream.definitions().capture()); })
      .def_property_readonly(
          "stops",
          [](const call_stream::CallStream& stream) { return to_python(stream.definitions().capture().stops); })
      .def_property_readonly(
          "problems",
          [](const call_stream::CallStream& stream) { return texts(stream.definitions().capture().problems); })
      .def_property_readonly("size_of_definitions",
                             [](const call_stream::CallStream& stream) {
                               const framedex::capture::Capture& found = stream.definitions().capture();
                               return found.frames.size() + found.stacks.size() + found.functions.size() +
                                      found.threads.size() + found.descriptions.size() + found.modules.size();
                             })
      .def("callbacks", [](const call_stream::CallStream& stream) { return rows(stream.callbacks(), 2); })
      .def("next", &next_calls, py::arg("most"), py::arg("until") = call_stream::kForever)
      .def("extend", &call_stream::CallStream::extend, py::call_guard<py::gil_scoped_release>())
      .def_property_readonly("calls",
                             [](const call_stream::CallStream& stream) { return stream.definitions().calls(); })
      .def_property_readonly("object_types", &call_stream::CallStream::object_types)
      .def_property_readonly("damaged", &call_stream::CallStream::damaged);
  module.attr("NULL") = sqlite_image::kNull;
  module.def("table_image", &table_image, py::arg("columns"));
}

}  // namespace framedex::bindings
