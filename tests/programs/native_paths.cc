// Calls of a PJRT function from places that Python programs cannot call from: a signal handler, stack unwinding, a
// thread unknown to Python, generated code, and a library that is unloaded and loaded again.
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>

#include <cstring>
#include <stdexcept>
#include <thread>

namespace {

using Entry = void* (*)(void*);

struct Call {
  Entry entry;
  void* arguments;
  void operator()() const { entry(arguments); }
};

Call in_handler;
volatile sig_atomic_t handled = 0;

void handler(int) {
  in_handler();
  handled = handled + 1;
}

__attribute__((noinline)) int descend(Call call, int levels) {
  if (levels == 0) {
    call();
    return 0;
  }
  return descend(call, levels - 1) + 1;  // not a tail call, so that every level stays on the stack
}

struct CallsWhenDestroyed {
  Call call;
  ~CallsWhenDestroyed() { call(); }
};

__attribute__((noinline)) void throw_past(Call call) {
  CallsWhenDestroyed guard{call};
  throw std::runtime_error("on its way");
}

}  // namespace

extern "C" {

// Sends a signal every `microseconds` of processor time from now on. Its handler makes the call.
void arm(Entry entry, void* arguments, long microseconds) {
  in_handler = {entry, arguments};
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigaction(SIGPROF, &action, nullptr);
  itimerval every{{0, microseconds}, {0, microseconds}};
  setitimer(ITIMER_PROF, &every, nullptr);
}

int disarm() {
  itimerval never{};
  setitimer(ITIMER_PROF, &never, nullptr);
  return handled;
}

int while_an_exception_passes(Entry entry, void* arguments) {
  try {
    throw_past({entry, arguments});
  } catch (const std::runtime_error&) {
    return 1;
  }
  return 0;
}

void from_a_thread_without_python(Entry entry, void* arguments) {
  std::thread([=] { entry(arguments); }).join();
}

int from_deep_within_a_thread_without_python(Entry entry, void* arguments, int levels) {
  int depth = 0;
  std::thread([&] { depth = descend({entry, arguments}, levels); }).join();
  return depth;
}

// Calls its first parameter with its second, without any unwind information.
void through_code_made_at_run_time(Entry entry, void* arguments) {
#ifdef __x86_64__
  // push rbp; mov rbp, rsp; mov rax, rdi; mov rdi, rsi; call rax; pop rbp; ret
  const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0x89, 0xf8, 0x48, 0x89, 0xf7, 0xff, 0xd0, 0x5d, 0xc3};
#else
  // stp x29, x30, [sp, #-16]!; mov x29, sp; mov x2, x0; mov x0, x1; blr x2; ldp x29, x30, [sp], #16; ret
  const unsigned code[] = {0xa9bf7bfd, 0x910003fd, 0xaa0003e2, 0xaa0103e0, 0xd63f0040, 0xa8c17bfd, 0xd65f03c0};
#endif
  void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  std::memcpy(page, code, sizeof(code));
  __builtin___clear_cache(static_cast<char*>(page), static_cast<char*>(page) + sizeof(code));
  reinterpret_cast<void* (*)(Entry, void*)>(page)(entry, arguments);
  munmap(page, 4096);
}

void straight(Entry entry, void* arguments) { entry(arguments); }
}
