// Which program ran when on which device, kept while somebody watches: JAX's profiler asks the plug-in for it.
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

// Collects what programs do from its construction until stop().
class ActivityWatch {
 public:
  ActivityWatch();
  ~ActivityWatch() { stop(); }
  ActivityWatch(const ActivityWatch&) = delete;
  ActivityWatch& operator=(const ActivityWatch&) = delete;

  void stop();
  // The activities that have ended so far.
  std::vector<DeviceActivity> activities() const;

  static bool is_any() { return count_.load(std::memory_order_relaxed) > 0; }
  static void add(const DeviceActivity& activity);

 private:
  static std::atomic<int> count_;
  std::vector<DeviceActivity> activities_;
};

int64_t nanoseconds_since_epoch();

// The program starts now, and ends when `done` is ready.
void watch_execution(EventState& done, const std::shared_ptr<const Program>& program);

// A serialised tensorflow.profiler.XSpace (tsl/profiler/protobuf/xplane.proto): a plane for each device, with a line of
// the programs that ran there.
std::string to_xspace(const std::vector<DeviceActivity>& activities);

}  // namespace framedex::mock
