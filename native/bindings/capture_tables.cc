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

std::vector<py::int_> numbers_below(size_t count) {
  std::vector<py::int_> numbers;
  numbers.reserve(count);
  for (size_t number = 0; number < count; ++number) numbers.emplace_back(number);
  return numbers;
}

// All tuples share these int objects: a separate int for each frame of each stack would take four times the memory.
py::tuple chain(const std::vector<uint32_t>& frames, const std::vector<py::int_>& numbers) {
  py::tuple result(frames.size());
  for (size_t i = 0; i < frames.size(); ++i) result[i] = numbers[frames[i]];
  return result;
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
  const std::vector<py::int_> numbers = numbers_below(capture.frames.size());
  for (const capture::Stack& stack : capture.stacks) {
    stacks.append(py::make_tuple(chain(stack.frames, numbers), chain(stack.python, numbers), text(stack.outcome),
                                 stack.is_truncated));
  }
  for (const auto& [boundary, name] : capture.functions) functions.append(py::make_tuple(text(boundary), text(name)));
  for (const capture::Thread& thread : capture.threads) threads.append(py::make_tuple(thread.id, text(thread.name)));
  py::dict result;
  result["modules"] = to_python(capture.modules);
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

}  // namespace framedex::bindings
