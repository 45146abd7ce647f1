#include "recorder/crash_file.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

#include "architecture/architecture.h"
#include "recorder/format/capture_format.h"

namespace framedex::recorder {
namespace {

constexpr size_t kMostNativeFrames = 256;
constexpr size_t kMostPythonFrames = 256;
constexpr size_t kMostText = 4096;
constexpr size_t kMostPath = 4096;

// Static, because the alternate stack has little room. Only the first crash of the process uses them.
std::atomic<bool> is_written{false};
char path[kMostPath];
char text[kMostText];  // of one name, or of the memory map
std::array<char, 1024> buffer;
std::array<PythonFrame, kMostPythonFrames> python_frames;
ReadLog read_log;
sigjmp_buf after_walk;
thread_local __attribute__((tls_model("initial-exec"))) bool is_walking = false;

// A text file written through the buffer.
class TextFile {
 public:
  explicit TextFile(int descriptor) : descriptor_(descriptor) {}
  ~TextFile() {
    flush();
    close(descriptor_);
  }
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;

  TextFile& operator<<(std::string_view text) {
    for (char c : text) {
      if (size_ == buffer.size()) flush();
      buffer[size_++] = c;
    }
    return *this;
  }
  TextFile& number(uint64_t value, unsigned base) {
    char digits[24];
    char* first = digits + sizeof(digits);
    do {
      *--first = "0123456789abcdef"[value % base];
      value /= base;
    } while (value != 0);
    return *this << std::string_view(first, static_cast<size_t>(digits + sizeof(digits) - first));
  }
  TextFile& address(uintptr_t value) { return (*this << "0x").number(value, 16); }
  // Writes the buffer, so that a fault in the next walk loses no text.
  void flush() {
    [[maybe_unused]] ssize_t written = write(descriptor_, buffer.data(), size_);
    size_ = 0;
  }

 private:
  int descriptor_;
  size_t size_ = 0;
};

std::string_view name_of(int signal) {
  switch (signal) {
    case SIGSEGV:
      return "SIGSEGV";
    case SIGBUS:
      return "SIGBUS";
    case SIGFPE:
      return "SIGFPE";
    case SIGILL:
      return "SIGILL";
    case SIGABRT:
      return "SIGABRT";
    default:
      return "signal";
  }
}

struct NativeWalk {
  TextFile* file;
  size_t count;
  bool is_behind_handler;
};

_Unwind_Reason_Code write_native_frame(_Unwind_Context* context, void* argument) {
  auto& walk = *static_cast<NativeWalk*>(argument);
  int is_fault = 0;
  uintptr_t pc = _Unwind_GetIPInfo(context, &is_fault);
  if (is_fault != 0) {  // the interrupted frame; those before it are the signal handler's
    walk.is_behind_handler = true;
    return _URC_NO_REASON;
  }
  if (!walk.is_behind_handler) return _URC_NO_REASON;
  if (pc == 0 || walk.count++ == kMostNativeFrames) return _URC_END_OF_STACK;
  *walk.file << "    @     ";
  walk.file->address(pc) << "  (unknown)\n";
  return _URC_NO_REASON;
}

// Returns the line of an instruction, from a location table (CPython's Objects/locations.md); 0 if it has none.
int line_at(const PythonRuntime::CodeParts& code, uint32_t instruction) {
  int line = code.first_line;
  uint32_t end = 0;
  for (size_t at = 0; at < code.line_table_size;) {
    uint8_t head = code.line_table[at];
    int kind = head >> 3 & 15;
    end += ((head & 7U) + 1) * 2;
    if (kind == 13 || kind == 14) {
      uint32_t value = 0;
      for (size_t i = at + 1, shift = 0; i < code.line_table_size && shift < 30; ++i, shift += 6) {
        value |= (code.line_table[i] & 63U) << shift;
        if ((code.line_table[i] & 64) == 0) break;
      }
      line += (value & 1) != 0 ? -static_cast<int>(value >> 1) : static_cast<int>(value >> 1);
    } else if (kind >= 10 && kind <= 12) {
      line += kind - 10;
    }
    if (instruction < end) return kind == 15 ? 0 : line;
    ++at;
    while (at < code.line_table_size && code.line_table[at] < 0x80) ++at;
  }
  return 0;
}

// As Python's faulthandler writes them.
void write_python_frames(const PythonRuntime& python, TextFile& file) {
  uintptr_t state = python.current_thread_state();
  if (state == 0) return;
  size_t count = python.walk(state, python_frames.data(), python_frames.size(), &read_log);
  file << "\nCurrent thread 0x";
  file.number(static_cast<uint64_t>(pthread_self()), 16) << " (most recent call first):\n";
  for (size_t i = 0; i < count; ++i) {
    if (python_frames[i].is_shim) continue;
    PythonRuntime::CodeParts code = python.find_code(python_frames[i].code);
    if (code.filename == 0) continue;
    file << "  File \"" << std::string_view(text, python.copy_text(code.filename, text, sizeof(text))) << "\", line ";
    int line = line_at(code, python_frames[i].instruction);
    file.number(static_cast<uint64_t>(std::max(line, 0)), 10) << " in ";
    file << std::string_view(text, python.copy_text(code.qualname, text, sizeof(text))) << "\n";
  }
}

void write_memory_map(TextFile& file) {
  int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (maps < 0) return;
  file << "\n";
  for (ssize_t size; (size = read(maps, text, sizeof(text))) > 0;) {
    file << std::string_view(text, static_cast<size_t>(size));
  }
  close(maps);
}

// Runs a walk that may read damaged memory. A fault ends it.
template <typename Walk>
void run_guarded(Walk walk) {
  if (sigsetjmp(after_walk, 1) == 0) {
    is_walking = true;
    walk();
  }
  is_walking = false;
}

}  // namespace

void write_crash_file(const std::string& folder, const PythonRuntime& python, int signal, const siginfo_t& info,
                      const void* context) {
  std::string_view name = capture::kCrashFile;
  if (folder.size() + name.size() + 2 > sizeof(path) || is_written.exchange(true)) return;
  char* end = std::copy(folder.begin(), folder.end(), path);
  *end++ = '/';
  *std::copy(name.begin(), name.end(), end) = '\0';
  int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (descriptor < 0) return;
  sigset_t faults;
  sigset_t before;
  sigemptyset(&faults);
  for (int fault : {SIGSEGV, SIGBUS}) sigaddset(&faults, fault);
  pthread_sigmask(SIG_UNBLOCK, &faults, &before);
  {
    TextFile file(descriptor);
    const auto& registers = static_cast<const ucontext_t*>(context)->uc_mcontext;
    file << "*** " << name_of(signal) << " (@";
    file.address(reinterpret_cast<uintptr_t>(info.si_addr)) << ") received by PID ";
    file.number(static_cast<uint64_t>(getpid()), 10) << " (TID ";
    file.number(static_cast<uint64_t>(syscall(SYS_gettid)), 10) << ") from PID 0; stack trace: ***\n";
    file << "PC: @     ";
    file.address(architecture::instruction_pointer(registers)) << "  (unknown)\n";
    file.flush();
    NativeWalk walk{&file, 0, false};
    run_guarded([&] { _Unwind_Backtrace(write_native_frame, &walk); });
    file.flush();
    run_guarded([&] { write_python_frames(python, file); });
    write_memory_map(file);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void leave_faulty_walk() {
  if (is_walking) siglongjmp(after_walk, 1);
}

}  // namespace framedex::recorder
