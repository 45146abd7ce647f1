#include "ffi/crash_report.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <string_view>

#include "recorder/base/errno_scope.h"
#include "recorder/process/signals.h"
#include "recorder/recorder.h"

namespace framedex::ffi {
namespace {

// Read by a signal handler, so its first access must not allocate.
thread_local __attribute__((tls_model("initial-exec"))) const RunningHandlerScope* running = nullptr;

struct FatalSignal {
  int number;
  const char* name;
  struct sigaction before;
};
std::array<FatalSignal, 5> fatal_signals = {{{SIGSEGV, "SIGSEGV", {}},
                                             {SIGBUS, "SIGBUS", {}},
                                             {SIGFPE, "SIGFPE", {}},
                                             {SIGILL, "SIGILL", {}},
                                             {SIGABRT, "SIGABRT", {}}}};

// A stack for signal handlers, so that they can run after the thread's own stack has overflowed. Keeps the alternate
// stack that the program has set up, if there is one.
class AlternateStack {
 public:
  AlternateStack() {
    stack_t before{};
    if (sigaltstack(nullptr, &before) != 0 || (before.ss_flags & SS_DISABLE) == 0) return;
    void* memory = mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED) return;
    stack_t stack{};
    stack.ss_sp = memory;
    stack.ss_size = kSize;
    if (sigaltstack(&stack, nullptr) == 0) {
      memory_ = memory;
    } else {
      munmap(memory, kSize);
    }
  }
  ~AlternateStack() {
    stack_t now{};
    if (memory_ == nullptr || sigaltstack(nullptr, &now) != 0 || now.ss_sp != memory_) return;
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    if (sigaltstack(&none, nullptr) == 0) munmap(memory_, kSize);
  }
  AlternateStack(const AlternateStack&) = delete;
  AlternateStack& operator=(const AlternateStack&) = delete;

 private:
  // The previous handlers run on it too, such as Python's faulthandler. Only pages in use take memory.
  static constexpr size_t kSize = size_t{256} * 1024;

  void* memory_ = nullptr;
};

FatalSignal* find(int number) {
  for (FatalSignal& fatal : fatal_signals) {
    if (fatal.number == number) return &fatal;
  }
  return nullptr;
}

// A line of text without heap memory: the heap may be corrupt.
class Line {
 public:
  Line& operator<<(std::string_view text) {
    for (char c : text) {
      if (size_ < text_.size() - 1) text_[size_++] = c == '\n' ? ' ' : c;
    }
    return *this;
  }
  void write_to_stderr() {
    text_[size_++] = '\n';
    [[maybe_unused]] ssize_t written = write(STDERR_FILENO, text_.data(), size_);
  }

 private:
  std::array<char, 2048> text_;
  size_t size_ = 0;
};

const char* stage_name(XLA_FFI_ExecutionStage stage) {
  switch (stage) {
    case XLA_FFI_ExecutionStage_INSTANTIATE:
      return "instantiate";
    case XLA_FFI_ExecutionStage_PREPARE:
      return "prepare";
    case XLA_FFI_ExecutionStage_INITIALIZE:
      return "initialize";
    case XLA_FFI_ExecutionStage_EXECUTE:
      return "execute";
  }
  return "unknown";
}

void on_fatal_signal(int number, siginfo_t* info, void* context) {
  recorder::ErrnoScope errno_scope;
  recorder::record_fatal_signal(number, *info, context);
  report_crash(number);
  recorder::forward_fatal_signal(find(number)->before, number, info, context);
}

}  // namespace

RunningHandlerScope::RunningHandlerScope(const Registration& registration, XLA_FFI_ExecutionStage stage,
                                         const Instance* instance)
    : registration_(registration), stage_(stage), instance_(instance), outer_(running) {
  thread_local AlternateStack alternate_stack;  // as long as the thread
  running = this;
}

RunningHandlerScope::~RunningHandlerScope() { running = outer_; }

void report_crash(int number) {
  const RunningHandlerScope* run = running;
  if (run == nullptr) return;
  const char* line = run->instance_ != nullptr ? run->instance_->line.load(std::memory_order_acquire) : nullptr;
  const char* lines = run->registration_.sites->text.load(std::memory_order_acquire);
  Line report;
  report << "framedex: " << find(number)->name << " in the FFI handler of '" << run->registration_.target << "' ("
         << stage_name(run->stage_) << " stage)";
  if (line != nullptr) {
    report << ", called at " << line;
  } else if (lines != nullptr) {
    report << ", called at one of: " << lines;
  }
  report.write_to_stderr();
}

void install_crash_report() {
  thread_local AlternateStack
      alternate_stack;  // of the thread that starts the program; handlers' threads have one each
  for (FatalSignal& fatal : fatal_signals) {
    struct sigaction action{};
    action.sa_sigaction = on_fatal_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    sigaction(fatal.number, nullptr, &fatal.before);
    if (!recorder::is_ignored(fatal.before)) sigaction(fatal.number, &action, nullptr);
  }
}

}  // namespace framedex::ffi
