#include "recorder/walks/python_runtime.h"

#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <iterator>

#include "recorder/base/python_version.h"

namespace framedex::recorder {
namespace {

template <typename Pointer>
Pointer find_symbol(const char* name) {
  return reinterpret_cast<Pointer>(dlsym(RTLD_DEFAULT, name));
}

template <typename Value>
Value read(uintptr_t base, int offset) {
  Value value;
  std::memcpy(&value, reinterpret_cast<const void*>(base + static_cast<uintptr_t>(offset)), sizeof(value));
  return value;
}

using Words = Reads<uintptr_t>::Writer;
using Bytes = Reads<uint8_t>::Writer;

// Reads a word or a byte and logs the read.
uintptr_t read_logged(uintptr_t base, int offset, Words& log) {
  auto value = read<uintptr_t>(base, offset);
  log.note(base + static_cast<uintptr_t>(offset), value);
  return value;
}
uint8_t read_byte_logged(uintptr_t base, int offset, Bytes& log) {
  auto value = read<uint8_t>(base, offset);
  log.note(base + static_cast<uintptr_t>(offset), value);
  return value;
}

// Characters in memory of fixed size. Those that do not fit are left out.
class FixedText {
 public:
  FixedText(char* target, size_t capacity) : target_(target), capacity_(capacity) {}
  size_t size() const { return size_; }
  FixedText& operator+=(char c) {
    if (size_ < capacity_) target_[size_++] = c;
    return *this;
  }

 private:
  char* target_;
  size_t capacity_;
  size_t size_ = 0;
};

template <typename Text>
void append_utf8(Text& text, uint32_t c) {
  if (c < 0x80) {
    text += static_cast<char>(c);
  } else if (c < 0x800) {
    text += static_cast<char>(0xC0 | c >> 6);
    text += static_cast<char>(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    text += static_cast<char>(0xE0 | c >> 12);
    text += static_cast<char>(0x80 | (c >> 6 & 0x3F));
    text += static_cast<char>(0x80 | (c & 0x3F));
  } else {
    text += static_cast<char>(0xF0 | c >> 18);
    text += static_cast<char>(0x80 | (c >> 12 & 0x3F));
    text += static_cast<char>(0x80 | (c >> 6 & 0x3F));
    text += static_cast<char>(0x80 | (c & 0x3F));
  }
}

template <typename Unit, typename Text>
void encode(uintptr_t data, size_t length, Text& text) {
  for (size_t i = 0; i < length; ++i) append_utf8(text, reinterpret_cast<const Unit*>(data)[i]);
}

// CPython 3.11 code objects have no version: a later one at the same address may even have its name and tables at the
// same addresses. So deallocations of code objects are counted by address. If two addresses share a counter, the only
// effect is that the recorder writes a known code object again.
std::array<std::atomic<uint64_t>, 1024> code_deallocations{};
using Deallocate = void (*)(void*);
Deallocate deallocate_code = nullptr;

std::atomic<uint64_t>& deallocation_count(uintptr_t code) {
  return code_deallocations[code / 16 % code_deallocations.size()];
}

void count_and_deallocate(void* code) {
  deallocation_count(reinterpret_cast<uintptr_t>(code)).fetch_add(1, std::memory_order_relaxed);
  deallocate_code(code);
}

void count_code_deallocations(uintptr_t code_type, int deallocate) {
  if (code_type == 0 || deallocate_code != nullptr) return;
  auto* slot = reinterpret_cast<Deallocate*>(code_type + static_cast<uintptr_t>(deallocate));
  deallocate_code = *slot;
  *slot = count_and_deallocate;
}

// Returns a frame's code object. From 3.14 on, the reference has a tag in its low bits.
constexpr uintptr_t code_of(const PythonLayout& layout, uintptr_t reference) {
  return layout.frame_code_tag < 0 ? reference : reference & ~static_cast<uintptr_t>(layout.frame_code_tag);
}

// Inlined and written field by field: copying a frame built elsewhere would wait for its stores.
[[gnu::always_inline]] inline void read_frame(const PythonLayout& layout, uintptr_t address, Words& log,
                                              PythonFrame* frame) {
  auto code = code_of(layout, read_logged(address, layout.frame_code, log));
  auto instruction = read_logged(address, layout.frame_instruction, log);
  // Another code object may later be at this address. From 3.12 on, each has its own 4-byte version. The other half of
  // that word does not change while the code object lives.
  bool has_version = layout.code_version >= 0;
  auto identity = has_version ? read_logged(code, layout.code_version, log)
                              : read_logged(reinterpret_cast<uintptr_t>(&deallocation_count(code)), 0, log);
  frame->code = code;
  frame->instruction = static_cast<uint32_t>(instruction - (code + static_cast<uintptr_t>(layout.code_instructions)));
  frame->identity = static_cast<uint32_t>(identity);
  frame->marker = 0;
  frame->is_shim = false;
  frame->is_returning = false;
}

// Returns whether tracebacks omit this frame because it is before its code's first traceable instruction. From 3.13 on,
// the interpreter puts such a frame below a specialised constructor call.
bool is_incomplete(const PythonLayout& layout, const PythonFrame& frame) {
  constexpr uint32_t kInstructionSize = 2;
  if (layout.code_first_traceable < 0) return false;
  return frame.instruction < read<uint32_t>(frame.code, layout.code_first_traceable) * kInstructionSize;
}

std::string list_supported_versions() {
  return "3." + std::to_string(std::begin(kPythonLayouts)->minor) + " to 3." +
         std::to_string(std::prev(std::end(kPythonLayouts))->minor);
}

bool is_main_thread() { return syscall(SYS_gettid) == getpid(); }

}  // namespace

PythonRuntime PythonRuntime::find() {
  PythonRuntime runtime;
  runtime.version_ = python_version();
  runtime.thread_state_ = find_symbol<ThreadState>("PyGILState_GetThisThreadState");
  runtime.is_initialized_ = find_symbol<Predicate>("Py_IsInitialized");
  if (runtime.version_.empty() || runtime.thread_state_ == nullptr || runtime.is_initialized_ == nullptr) {
    runtime.problem_ = "no Python interpreter in this process";
    return runtime;
  }
  if (is_free_threaded(runtime.version_)) {
    runtime.problem_ = "free-threaded Python is not recorded: this is " + runtime.version_;
    return runtime;
  }
  int major = 0;
  int minor = 0;
  std::sscanf(runtime.version_.c_str(), "%d.%d", &major, &minor);
  for (const PythonLayout& layout : kPythonLayouts) {
    if (major == 3 && layout.minor == minor) runtime.layout_ = &layout;
  }
  if (runtime.layout_ == nullptr) {
    runtime.problem_ = "Python " + runtime.version_ + " is not supported (" + list_supported_versions() + " are)";
    return runtime;
  }
  runtime.is_finalizing_ = find_symbol<Predicate>("Py_IsFinalizing");
  if (runtime.is_finalizing_ == nullptr) runtime.is_finalizing_ = find_symbol<Predicate>("_Py_IsFinalizing");
  runtime.code_type_ = reinterpret_cast<uintptr_t>(dlsym(RTLD_DEFAULT, "PyCode_Type"));
  // In 3.15, compilers split the evaluator into parts with an unwind entry each, and only one begins at the symbol.
  // Then only the address identifies the native frame of a run.
  bool is_split = runtime.layout_->thread_base_frame >= 0;
  if (!is_split) runtime.evaluator_ = reinterpret_cast<uintptr_t>(dlsym(RTLD_DEFAULT, "_PyEval_EvalFrameDefault"));
  if (runtime.layout_->code_version < 0) count_code_deallocations(runtime.code_type_, runtime.layout_->type_deallocate);
  return runtime;
}

size_t PythonRuntime::walk(uintptr_t thread_state, PythonFrame* frames, size_t capacity, ReadLog* log) const {
  static_assert(std::size(kPythonLayouts) == 5);
  if (thread_state == 0) return 0;
  switch (layout_ - kPythonLayouts) {
    case 0:
      return walk_frames<0>(thread_state, frames, capacity, log);
    case 1:
      return walk_frames<1>(thread_state, frames, capacity, log);
    case 2:
      return walk_frames<2>(thread_state, frames, capacity, log);
    case 3:
      return walk_frames<3>(thread_state, frames, capacity, log);
    default:
      return walk_frames<4>(thread_state, frames, capacity, log);
  }
}

uintptr_t PythonRuntime::current_thread_state() const {
  if (layout_ == nullptr || is_initialized_() == 0) return 0;
  // During finalization the states of other threads are freed while these threads run.
  if (is_finalizing_ != nullptr && is_finalizing_() != 0 && !is_main_thread()) return 0;
  return reinterpret_cast<uintptr_t>(thread_state_());
}

// A frame is unlinked before its locals are destroyed (3.11: only a run's entry frame), and a destroyed jax.Array calls
// the runtime. The frame is still where the interpreter pushed it. It follows the innermost linked frame, below the top
// of the thread's frame stack.
size_t PythonRuntime::walk_returning_frame(uintptr_t thread_state, uintptr_t frame, PythonFrame* frames,
                                           ReadLog* log) const {
  Words words(&log->words);
  Bytes bytes(&log->bytes);
  auto is_on_frame_stack = [&](uintptr_t of) {
    return read_byte_logged(of, layout_->frame_owner, bytes) == layout_->frame_owned_by_thread;
  };
  while (frame != 0 && !is_on_frame_stack(frame)) frame = read_logged(frame, layout_->frame_previous, words);
  if (frame == 0) return 0;
  uintptr_t code = code_of(*layout_, read_logged(frame, layout_->frame_code, words));
  auto size =
      read<int>(code, layout_->code_local_count) + read<int>(code, layout_->code_stack_size) + layout_->frame_specials;
  uintptr_t behind = frame + static_cast<uintptr_t>(size) * sizeof(uintptr_t);
  uintptr_t chunk = read_logged(thread_state, layout_->thread_datastack_chunk, words);
  uintptr_t top = read_logged(thread_state, layout_->thread_datastack_top, words);
  bool is_in_chunk = behind >= chunk && top <= read<uintptr_t>(thread_state, layout_->thread_datastack_limit);
  if (!is_in_chunk || behind >= top || !is_on_frame_stack(behind)) return 0;
  uintptr_t code_behind = code_of(*layout_, read_logged(behind, layout_->frame_code, words));
  if (code_behind == 0 || read<uintptr_t>(code_behind, layout_->object_type) != code_type_) return 0;
  read_frame(*layout_, behind, words, &frames[0]);
  frames[0].is_returning = true;
  return 1;
}

// CPython 3.11: a run ends at an entry frame, entered through a _PyCFrame that is a local of the run's evaluator. From
// 3.12 on, a run ends at a shim frame, which is itself a local of the evaluator.
template <size_t index>
size_t PythonRuntime::walk_frames(uintptr_t thread_state, PythonFrame* frames, size_t capacity, ReadLog* log) const {
  constexpr const PythonLayout& layout = kPythonLayouts[index];
  constexpr bool has_cframe = layout.thread_cframe >= 0;
  constexpr bool has_entry_flags = layout.frame_is_entry >= 0;
  uintptr_t cframe = 0;
  uintptr_t frame;
  {
    Words words(&log->words);
    if constexpr (has_cframe) {
      cframe = read_logged(thread_state, layout.thread_cframe, words);
      frame = read_logged(cframe, layout.cframe_current_frame, words);
    } else {
      frame = read_logged(thread_state, layout.thread_current_frame, words);
    }
  }
  // From 3.15 on, a frame without code, inside the thread state, ends the list. It never changes.
  uintptr_t end = 0;
  if constexpr (layout.thread_base_frame >= 0) end = read<uintptr_t>(thread_state, layout.thread_base_frame);
  size_t count = walk_returning_frame(thread_state, frame, frames, log);
  Words words(&log->words);
  Bytes bytes(&log->bytes);
  for (; frame != end && frame != 0 && count < capacity; frame = read_logged(frame, layout.frame_previous, words)) {
    PythonFrame& entry = frames[count++];
    if constexpr (has_entry_flags) {
      read_frame(layout, frame, words, &entry);
      if (read_byte_logged(frame, layout.frame_is_entry, bytes) != 0) {
        entry.marker = cframe;
        cframe = read_logged(cframe, layout.cframe_previous, words);
      }
    } else {
      auto owner = read<char>(frame, layout.frame_owner);
      if (owner == layout.frame_owned_by_evaluator) {
        entry = {0, 0, 0, frame, true, false};
        continue;
      }
      read_frame(layout, frame, words, &entry);
      if (owner == layout.frame_owned_by_thread && is_incomplete(layout, entry)) --count;
    }
  }
  return count;
}

CodeText PythonRuntime::read_code(uintptr_t code) const {
  CodeText text;
  CodeParts parts = find_code(code);
  if (parts.line_table == nullptr) return text;
  append_text(parts.filename, text.filename);
  append_text(parts.qualname, text.qualname);
  text.first_line = parts.first_line;
  text.line_table.assign(reinterpret_cast<const char*>(parts.line_table), parts.line_table_size);
  return text;
}

PythonRuntime::CodeParts PythonRuntime::find_code(uintptr_t code) const {
  if (code_type_ != 0 && read<uintptr_t>(code, layout_->object_type) != code_type_) return {};
  auto table = read<uintptr_t>(code, layout_->code_line_table);
  return {read<uintptr_t>(code, layout_->code_filename), read<uintptr_t>(code, layout_->code_qualname),
          read<int>(code, layout_->code_first_line),
          reinterpret_cast<const uint8_t*>(table + static_cast<uintptr_t>(layout_->bytes_data)),
          read<size_t>(table, layout_->bytes_size)};
}

size_t PythonRuntime::copy_text(uintptr_t text, char* target, size_t capacity) const {
  FixedText fixed(target, capacity);
  append_text(text, fixed);
  return fixed.size();
}

template <typename Text>
void PythonRuntime::append_text(uintptr_t text, Text& target) const {
  if (text == 0) return;
  auto state = read<uint32_t>(text, layout_->text_state);
  auto length = read<size_t>(text, layout_->text_length);
  if ((state & static_cast<uint32_t>(layout_->text_compact_mask)) == 0) {
    target += '?';
    return;
  }
  if ((state & static_cast<uint32_t>(layout_->text_ascii_mask)) != 0) {
    encode<uint8_t>(text + static_cast<uintptr_t>(layout_->text_ascii_data), length, target);
    return;
  }
  uintptr_t data = text + static_cast<uintptr_t>(layout_->text_compact_data);
  auto mask = static_cast<uint32_t>(layout_->text_kind_mask);
  switch ((state & mask) / (mask & -mask)) {
    case 1:
      encode<uint8_t>(data, length, target);
      break;
    case 2:
      encode<uint16_t>(data, length, target);
      break;
    default:
      encode<uint32_t>(data, length, target);
  }
}

}  // namespace framedex::recorder
