#include "pjrt/mock/devices/device_activity.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <utility>

namespace framedex::mock {
namespace {

// Bounds the memory of a profiler that is never stopped.
constexpr size_t kMaximumActivities = 1000000;
constexpr int64_t kPicosecondsPerNanosecond = 1000;

struct ActivityWatches {
  std::mutex mutex;
  std::vector<ActivityWatch*> all;
};

ActivityWatches& watches() {
  static auto* const instance = new ActivityWatches;  // programs may end until the process does
  return *instance;
}

// ---- Protocol buffers: https://protobuf.dev/programming-guides/encoding

void append_varint(std::string& message, uint64_t value) {
  for (; value >= 0x80; value >>= 7) message += static_cast<char>(value | 0x80);
  message += static_cast<char>(value);
}

void append_integer(std::string& message, int field, int64_t value) {
  append_varint(message, static_cast<uint64_t>(field) << 3);
  append_varint(message, static_cast<uint64_t>(value));
}

void append_bytes(std::string& message, int field, const std::string& value) {
  append_varint(message, static_cast<uint64_t>(field) << 3 | 2);
  append_varint(message, value.size());
  message += value;
}

// ---- The messages of xplane.proto, by their field numbers.

std::string event(int64_t metadata_id, int64_t offset, int64_t duration) {
  std::string message;
  append_integer(message, 1, metadata_id);
  append_integer(message, 2, offset * kPicosecondsPerNanosecond);
  append_integer(message, 3, duration * kPicosecondsPerNanosecond);
  return message;
}

// Encodes an entry of the plane's map from ids to event descriptions.
std::string event_metadata(int64_t id, const std::string& name) {
  std::string metadata;
  append_integer(metadata, 1, id);
  append_bytes(metadata, 2, name);
  std::string entry;
  append_integer(entry, 1, id);
  append_bytes(entry, 2, metadata);
  return entry;
}

std::string plane(int device, const std::vector<const DeviceActivity*>& activities) {
  std::map<std::string, int64_t> ids;
  int64_t start = activities.front()->start;
  for (const DeviceActivity* activity : activities) {
    ids.emplace(activity->program->name, static_cast<int64_t>(ids.size()) + 1);
    start = std::min(start, activity->start);
  }
  std::string line;
  append_integer(line, 1, 1);
  append_bytes(line, 2, "XLA Modules");
  append_integer(line, 3, start);
  for (const DeviceActivity* activity : activities) {
    int64_t id = ids.at(activity->program->name);
    append_bytes(line, 4, event(id, activity->start - start, activity->end - activity->start));
  }
  std::string message;
  append_integer(message, 1, device);
  append_bytes(message, 2, "/device:TPU:" + std::to_string(device));
  append_bytes(message, 3, line);
  for (const auto& [name, id] : ids) append_bytes(message, 4, event_metadata(id, name));
  return message;
}

}  // namespace

std::atomic<int> ActivityWatch::count_{0};

ActivityWatch::ActivityWatch() {
  std::lock_guard lock(watches().mutex);
  watches().all.push_back(this);
  ++count_;
}

void ActivityWatch::stop() {
  std::lock_guard lock(watches().mutex);
  auto found = std::find(watches().all.begin(), watches().all.end(), this);
  if (found == watches().all.end()) return;
  watches().all.erase(found);
  --count_;
}

std::vector<DeviceActivity> ActivityWatch::activities() const {
  std::lock_guard lock(watches().mutex);
  return activities_;
}

void ActivityWatch::add(const DeviceActivity& activity) {
  std::lock_guard lock(watches().mutex);
  for (ActivityWatch* watch : watches().all) {
    if (watch->activities_.size() < kMaximumActivities) watch->activities_.push_back(activity);
  }
}

int64_t nanoseconds_since_epoch() {
  auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

void watch_execution(EventState& done, const std::shared_ptr<const Program>& program) {
  if (!ActivityWatch::is_any()) return;
  done.on_ready([program, start = nanoseconds_since_epoch()](const Status&) {
    ActivityWatch::add({program, start, nanoseconds_since_epoch()});
  });
}

std::string to_xspace(const std::vector<DeviceActivity>& activities) {
  std::map<int, std::vector<const DeviceActivity*>> by_device;
  for (const DeviceActivity& activity : activities) {
    for (int device : activity.program->device_ids) by_device[device].push_back(&activity);
  }
  std::string space;
  for (const auto& [device, own] : by_device) append_bytes(space, 1, plane(device, own));
  return space;
}

}  // namespace framedex::mock
