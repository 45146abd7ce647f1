// A PJRT plug-in that forwards everything to the mock TPU. At a real call from JAX, it measures the cost of recording
// the current stack. `python -m benchmarks stack-walk` drives it.
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "pjrt_c_api.h"
#include "recorder/recorder.h"
#include "recorder/session.h"
#include "recorder/stacks/stack_walker.h"

namespace {

using namespace framedex::recorder;

constexpr int kRounds = 41;
constexpr int kRepeats = 200;
constexpr int kFurtherIn = 3;
constexpr int kCallsBefore = 50;  // so that the program has settled

const PJRT_Api* plugin = nullptr;
PJRT_Api table;

// Nanoseconds per run of `action`, over one batch.
template <typename Action>
double batch(Action action) {
  uint64_t begin = monotonic_nanoseconds();
  for (int i = 0; i < kRepeats; ++i) action();
  return static_cast<double>(monotonic_nanoseconds() - begin) / kRepeats;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

struct Measurement {
  const char* name;
  std::vector<double> nanoseconds;
};

void report(const std::vector<Measurement>& measurements, size_t native_frames, size_t merged_frames) {
  FILE* file = std::fopen(std::getenv("FRAMEDEX_BENCHMARK_RESULT"), "w");
  std::fprintf(file, "{\"native_frames\": %zu, \"merged_frames\": %zu", native_frames, merged_frames);
  for (const Measurement& measurement : measurements) {
    std::fprintf(file, ", \"%s\": %.2f", measurement.name, median(measurement.nanoseconds));
  }
  std::fprintf(file, "}\n");
  std::fclose(file);
}

// Runs `action` with the registers of a frame some calls further in.
template <typename Action>
__attribute__((noinline)) void further_in(int calls, Action action) {
  if (calls > 0) {
    further_in(calls - 1, action);
  } else {
    action(registers_of_caller());
  }
  asm volatile("");  // the call above is no jump
}

// Interleaved: every round runs each variant once, so that a slow moment of the machine hits them alike.
__attribute__((noinline)) void measure() {
  static PythonRuntime runtime = PythonRuntime::find();
  static Unwinder unwinder(runtime.evaluator());
  static StackWalker walker(runtime, unwinder);
  static NativeStack native(StackWalker::kMaximumFrames);
  static NativeStack none(0);
  StartRegisters start = registers_of_caller();
  uintptr_t end = find_stack_end();

  auto walk_native = [&] { unwinder.walk(start, end, none, &native); };
  static NativeStack known(StackWalker::kMaximumFrames);
  unwinder.walk(start, end, none, &known);
  walk_native();
  size_t native_frames = native.count();
  size_t merged_frames = walker.walk(start).stack.frame_count;
  uint32_t function = register_functions(new Function{"benchmark", "call", nullptr, 0}, 1);
  std::vector<Measurement> results = {{"libgcc", {}},         {"native_walk", {}},   {"merged_interned", {}},
                                      {"replay", {}},         {"recorded_call", {}}, {"idle_call", {}},
                                      {"merged_in_turn", {}}, {"native_known", {}}};
  start_from_environment();
  for (int round = 0; round < kRounds; ++round) {
    results[0].nanoseconds.push_back(batch([&] { unwinder.walk_with_libgcc(start.sp, &native); }));
    results[1].nanoseconds.push_back(batch(walk_native));
    results[7].nanoseconds.push_back(batch([&] { unwinder.walk(start, end, known, &native); }));
    results[2].nanoseconds.push_back(batch([&] { walker.walk(start); }));
    results[3].nanoseconds.push_back(batch([&] { walker.find(start); }));
    results[4].nanoseconds.push_back(batch([&] {
      Call call(function);
      call.enter();
      call.leave(0, {});
    }));
  }
  further_in(kFurtherIn, [&](const StartRegisters& inner) {
    for (int round = 0; round < kRounds; ++round) {
      results[6].nanoseconds.push_back(batch([&] {
                                         walker.walk(inner);
                                         walker.walk(start);
                                       }) /
                                       2);
    }
  });
  stop();
  for (int round = 0; round < kRounds; ++round) {
    results[5].nanoseconds.push_back(batch([&] { Call call(function); }));
  }
  report(results, native_frames, merged_frames);
}

PJRT_Error* buffer_from_host_buffer(PJRT_Client_BufferFromHostBuffer_Args* args) {
  static int calls = 0;
  if (++calls == kCallsBefore) measure();
  return plugin->PJRT_Client_BufferFromHostBuffer(args);
}

}  // namespace

extern "C" FRAMEDEX_EXPORT const PJRT_Api* GetPjrtApi() {
  void* library = dlopen(std::getenv("FRAMEDEX_BENCHMARK_PLUGIN"), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::exit(1);
  }
  plugin = reinterpret_cast<const PJRT_Api* (*)()>(dlsym(library, "GetPjrtApi"))();
  table = *plugin;
  table.PJRT_Client_BufferFromHostBuffer = buffer_from_host_buffer;
  return &table;
}
