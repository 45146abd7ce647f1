// The program runs on each device, recorded while a watch exists: JAX's profiler requests them from the plug-in.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "pjrt/mock/base/event.h"
#include "pjrt/mock/delegate/program.h"

namespace framedex::mock {

// Times are in nanoseconds since the epoch, as in a profile.
struct DeviceActivity {
  std::shared_ptr<const Program> program;
  int64_t start;
  int64_t end;
};

// Collects activities of programs from its construction until stop().
class ActivityWatch {
 public:
  ActivityWatch();
  ~ActivityWatch() { stop(); }
  ActivityWatch(const ActivityWatch&) = delete;
  ActivityWatch& operator=(const ActivityWatch&) = delete;

  void stop();
  // Returns the activities that have ended so far.
  std::vector<DeviceActivity> activities() const;

  static bool is_any() { return count_.load(std::memory_order_relaxed) > 0; }
  static void add(const DeviceActivity& activity);

 private:
  static std::atomic<int> count_;
  std::vector<DeviceActivity> activities_;
};

int64_t nanoseconds_since_epoch();

// Records an execution that starts now and ends when `done` is ready.
void watch_execution(EventState& done, const std::shared_ptr<const Program>& program);

// Serialises a tensorflow.profiler.XSpace (tsl/profiler/protobuf/xplane.proto): one plane per device, with a line of
// its program runs.
std::string to_xspace(const std::vector<DeviceActivity>& activities);

}  // namespace framedex::mock
