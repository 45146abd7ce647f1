// The CPython in this process, if there is one: found at run time, so that one build serves every version.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "python_layout.h"
#include "recorder/walks/read_log.h"

namespace framedex::recorder {

// A frame of the interpreter's own chain. `code` stays alive as long as the frame is on the stack.
struct PythonFrame {
  uintptr_t code;
  uint32_t instruction;  // byte offset into the code's instructions
  uint32_t identity;     // tells apart two code objects that had the same address
  uintptr_t marker;      // on a run's last frame: an address inside the native frame that runs the run; else 0
  bool is_shim;          // a marker of 3.12 and later that ends a run and is no frame of the program
  bool is_returning;     // unlinked already, but still being cleared: what it held is being destroyed
};

// What is copied of a code object when it is first seen.
struct CodeText {
  std::string filename;
  std::string qualname;
  std::string line_table;
  int first_line = 0;
};

class PythonRuntime {
 public:
  // Looks the interpreter up among the loaded libraries. Without one, or with an unsupported one, walks nothing.
  static PythonRuntime find();

  // Why Python frames are not recorded, empty if they are: no interpreter, or a version without a known layout.
  const std::string& problem() const { return problem_; }
  const std::string& version() const { return version_; }
  // The start of _PyEval_EvalFrameDefault, 0 if its symbol is not exported.
  uintptr_t evaluator() const { return evaluator_; }

  // The calling thread's state, 0 where it has none or the interpreter is not in a state to be looked at.
  uintptr_t current_thread_state() const;
  // The Python frames of the calling thread, innermost first; what was read goes into `log`. Needs no GIL: only this
  // thread changes its own chain.
  size_t walk(uintptr_t thread_state, PythonFrame* frames, size_t capacity, ReadLog* log) const;
  CodeText read_code(uintptr_t code) const;

 private:
  using ThreadState = void* (*)();
  using Predicate = int (*)();

  // Writes the frame that the thread is returning from, if there is one; returns how many it wrote.
  size_t walk_returning_frame(uintptr_t thread_state, uintptr_t frame, PythonFrame* frames, ReadLog* log) const;
  // The walk for kPythonLayouts[index]: compiled for each, so that where a field lies is part of the instruction.
  template <size_t index>
  size_t walk_frames(uintptr_t thread_state, PythonFrame* frames, size_t capacity, ReadLog* log) const;
  std::string read_text(uintptr_t text) const;

  const PythonLayout* layout_ = nullptr;
  ThreadState thread_state_ = nullptr;
  Predicate is_initialized_ = nullptr;
  Predicate is_finalizing_ = nullptr;
  uintptr_t code_type_ = 0;
  uintptr_t evaluator_ = 0;
  std::string version_;
  std::string problem_;
};

}  // namespace framedex::recorder
