// A library that steps through the trampoline of the boundary `standin_mix`, instruction by instruction.
#include <signal.h>
#include <unwind.h>

#include <cstdint>

extern "C" double standin_mix(int a, long b, const char* text, double c, void* d, unsigned e, long f, long g, float h,
                              long i);

namespace {

constexpr uint64_t kTrapFlag = 1 << 8;
// The table of trampolines, and the code that all of them share.
constexpr uintptr_t kTrampolinesSize = 257 * 16 + 256;

uintptr_t trampolines;
uintptr_t caller_begin, caller_end;
int steps, wrong;

// Where a walk is: 0 in the handler, 1 past the trampoline's frame.
struct Walk {
  uintptr_t at;
  uintptr_t caller;
  bool is_past;
};

_Unwind_Reason_Code on_frame(_Unwind_Context* context, void* data) {
  Walk& walk = *static_cast<Walk*>(data);
  uintptr_t here = _Unwind_GetIP(context);
  if (walk.is_past) {
    walk.caller = here;
    return _URC_END_OF_STACK;
  }
  walk.is_past = here == walk.at;
  return _URC_NO_REASON;
}

void on_step(int, siginfo_t*, void* data) {
  auto* context = static_cast<ucontext_t*>(data);
  auto at = static_cast<uintptr_t>(context->uc_mcontext.gregs[REG_RIP]);
  if (at - trampolines >= kTrampolinesSize) return;
  Walk walk{at, 0, false};
  _Unwind_Backtrace(on_frame, &walk);
  ++steps;
  wrong += walk.caller < caller_begin || walk.caller > caller_end;
}

}  // namespace

extern "C" {

__attribute__((noinline)) double stepped_mix() {
  asm volatile("pushfq\n orq %0, (%%rsp)\n popfq" ::"i"(kTrapFlag) : "cc", "memory");
  double result = standin_mix(-1, 2, "slot", 0.5, nullptr, 5, 6, 7, 1.5f, 1L << 40);
  asm volatile("pushfq\n andq %0, (%%rsp)\n popfq" ::"i"(~kTrapFlag) : "cc", "memory");
  return result;
}

// Returns the number of instructions executed in the trampoline, or minus those from which the stack led elsewhere.
int step_through() {
  trampolines = reinterpret_cast<uintptr_t>(&standin_mix);
  caller_begin = reinterpret_cast<uintptr_t>(&stepped_mix);
  caller_end = caller_begin + 256;
  struct sigaction action{};
  action.sa_sigaction = on_step;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGTRAP, &action, nullptr);
  stepped_mix();
  return wrong == 0 ? steps : -wrong;
}
}
