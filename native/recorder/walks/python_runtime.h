// The CPython in this process, if any. It is found at run time, so one build supports every version.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "python_layout.h"
#include "recorder/walks/read_log.h"

namespace framedex::recorder {

// A frame of the interpreter's own chain. `code` stays alive while the frame is on the stack.
struct PythonFrame {
  uintptr_t code;
  uint32_t instruction;  // byte offset in the code's instructions
  uint32_t identity;     // distinguishes two code objects at the same address
  uintptr_t marker;      // on a run's last frame: an address inside the native frame that evaluates the run; else 0
  bool is_shim;          // a marker of 3.12 and later that ends a run; not a frame of the program
  bool is_returning;     // already unlinked, while its locals are being destroyed
};

// The data copied from a code object when it is first seen.
struct CodeText {
  std::string filename;
  std::string qualname;
  std::string line_table;
  int first_line = 0;
};

class PythonRuntime {
 public:
  // Finds the interpreter among the loaded libraries. Without a supported one, walks return no frames.
  static PythonRuntime find();

  // Why Python frames are not recorded: no interpreter, or a version without a known layout. Empty if they are
  // recorded.
  const std::string& problem() const { return problem_; }
  const std::string& version() const { return version_; }
  // Returns the start of _PyEval_EvalFrameDefault, 0 if its symbol is not exported.
  uintptr_t evaluator() const { return evaluator_; }

  // Returns the calling thread's state. Returns 0 if it has none, or if the interpreter cannot be inspected now.
  uintptr_t current_thread_state() const;
  // Walks the Python frames of the calling thread, innermost first, and logs every read in `log`. Needs no GIL: only
  // this thread changes its own chain.
  size_t walk(uintptr_t thread_state, PythonFrame* frames, size_t capacity, ReadLog* log) const;
  CodeText read_code(uintptr_t code) const;

  // Parts of a code object in place, for signal handlers: Python texts by address (0: not a code object), and its
  // location table.
  struct CodeParts {
    uintptr_t filename;
    uintptr_t qualname;
    int first_line;
    const uint8_t* line_table;
    size_t line_table_size;
  };
  CodeParts find_code(uintptr_t code) const;
  // Copies a Python text as UTF-8, cut to `capacity` bytes, without the heap. Returns its size.
  size_t copy_text(uintptr_t text, char* target, size_t capacity) const;

 private:
  using ThreadState = void* (*)();
  using Predicate = int (*)();

  // Writes the frame that the thread is returning from, if any. Returns the number of frames written.
  size_t walk_returning_frame(uintptr_t thread_state, uintptr_t frame, PythonFrame* frames, ReadLog* log) const;
  // Walks with kPythonLayouts[index]. Compiled once per layout, so field offsets are constants in the instructions.
  template <size_t index>
  size_t walk_frames(uintptr_t thread_state, PythonFrame* frames, size_t capacity, ReadLog* log) const;
  // Appends a Python text as UTF-8 to a string or to another target of characters.
  template <typename Text>
  void append_text(uintptr_t text, Text& target) const;

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
